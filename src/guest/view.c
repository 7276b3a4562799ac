/* view.c: filters are matched once per site. A context whose function is filtered out is charged to
 * its nearest ancestor that is not. Elements are numbered once, and projections follow the tree. */
#include "guest/view.h"

#include <string.h>

#include "guest/text.h"

/* ---- filters --------------------------------------------------------------------------------- */

static bool function_matches(const char *patterns, const site *s) {
    return !patterns || text_matches(patterns, s->name) ||
           (s->place.function && text_matches(patterns, s->place.function));
}

static bool file_matches(const char *patterns, const char *file) {
    const char *slash = strrchr(file, '/');
    return !patterns || text_matches(patterns, file) ||
           (slash && text_matches(patterns, slash + 1));
}

static bool filter_sites(view *v) {
    const tracer *t = v->tracer;
    v->matches = calloc(t->sites.count + 1, sizeof *v->matches);
    for (size_t i = 0; v->matches && i < t->sites.count; i++)
        v->matches[i] = t->sites.items[i].place.file &&
                        function_matches(t->options->functions, &t->sites.items[i]) &&
                        file_matches(t->options->files, t->sites.items[i].place.file);
    return v->matches != NULL;
}

/* Returns the innermost context on the path whose function passes the filters; TREE_ROOT if there
 * is none. */
static uint32_t charged_context(const view *v, uint32_t context) {
    const tree *contexts = &v->tracer->contexts;
    while (context != TREE_ROOT && !v->matches[contexts->nodes.items[context].edge])
        context = contexts->nodes.items[context].parent;
    return context;
}

static bool add_entries(view *v, uint32_t context) {
    const tracer *t = v->tracer;
    uint32_t charged = charged_context(v, context);
    if (charged == TREE_ROOT &&
        (context != TREE_ROOT || t->options->functions || t->options->files))
        return true;
    for (uint32_t i = t->first_leaf.items[context]; i; i = t->leaves.items[i - 1].next) {
        const leaf *l = &t->leaves.items[i - 1];
        bool own = l->internal || charged == TREE_ROOT;
        const site *where = own ? NULL : &t->sites.items[t->contexts.nodes.items[charged].edge];
        if (!vec_push(&v->entries, ((entry){.site = where, .leaf = l, .context = charged})))
            return false;
        tally_add(&v->total, &l->tally);
    }
    return true;
}

/* ---- elements -------------------------------------------------------------------------------- */

typedef struct candidate {
    element element;
    uint32_t index; /* index in element_of */
} candidate;

static int compare_u32(uint32_t a, uint32_t b) {
    return (a > b) - (a < b);
}

/* Strings are interned, so any consistent order will do. */
static int compare_pointers(const void *a, const void *b) {
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static int compare_elements(const element *a, const element *b) {
    int c = (int)a->kind - (int)b->kind;
    c = c ? c : compare_pointers(a->file, b->file);
    c = c ? c : compare_pointers(a->name, b->name);
    c = c ? c : compare_u32(a->extent.start, b->extent.start);
    c = c ? c : compare_u32(a->extent.end, b->extent.end);
    return c ? c : compare_u32(a->extent.first_line, b->extent.first_line);
}

static int compare_candidates(const void *a, const void *b) {
    return compare_elements(&((const candidate *)a)->element, &((const candidate *)b)->element);
}

static bool has_element(const guest_place *p, element_kind kind) {
    if (!p->file)
        return kind == ELEMENT_LINE;
    bool is_body = p->statement.start == p->body.start && p->statement.end == p->body.end;
    return kind == ELEMENT_CALL        ? p->call
           : kind == ELEMENT_STATEMENT ? p->statement.end && !is_body
                                       : true;
}

static guest_extent extent_of(const guest_place *p, element_kind kind) {
    switch (kind) {
    case ELEMENT_FUNCTION:
        return p->body;
    case ELEMENT_STATEMENT:
        return p->statement;
    case ELEMENT_CALL:
        return p->expression;
    default:
        return (guest_extent){.first_line = p->line, .last_line = p->line};
    }
}

static bool number_elements(view *v, candidate *candidates) {
    const tracer *t = v->tracer;
    size_t n = 0;
    for (uint32_t i = 0; i < t->sites.count * N_ELEMENT_KINDS; i++) {
        const site *s = &t->sites.items[i / N_ELEMENT_KINDS];
        element_kind kind = i % N_ELEMENT_KINDS;
        v->element_of[i] = NO_ELEMENT;
        if (has_element(&s->place, kind))
            candidates[n++] = (candidate){
                .element = {kind, s->name, s->place.file, extent_of(&s->place, kind)}, .index = i};
    }
    qsort(candidates, n, sizeof *candidates, compare_candidates);
    for (size_t i = 0; i < n; i++) {
        if ((i == 0 || compare_candidates(&candidates[i - 1], &candidates[i]) != 0) &&
            !vec_push(&v->elements, candidates[i].element))
            return false;
        v->element_of[candidates[i].index] = (uint32_t)v->elements.count - 1;
    }
    return true;
}

static bool find_elements(view *v) {
    size_t n = v->tracer->sites.count * N_ELEMENT_KINDS + 1;
    candidate *candidates = calloc(n, sizeof *candidates);
    v->element_of = calloc(n, sizeof *v->element_of);
    bool good = candidates && v->element_of && number_elements(v, candidates);
    free(candidates);
    return good;
}

uint32_t view_runtime_element(view *v, const leaf *l) {
    const char *name = l->builtin ? l->builtin : "<runtime>";
    if (!v->tracer->options->internal || (!l->builtin && !l->internal))
        return NO_ELEMENT;
    for (size_t i = v->elements.count; i-- > 0 && v->elements.items[i].kind == ELEMENT_RUNTIME;)
        if (strcmp(v->elements.items[i].name, name) == 0)
            return (uint32_t)i;
    if (!vec_push(&v->elements, ((element){.kind = ELEMENT_RUNTIME, .name = name}))) {
        v->tracer->failed = true;
        return NO_ELEMENT;
    }
    return (uint32_t)v->elements.count - 1;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool find_files(view *v) {
    const tracer *t = v->tracer;
    for (size_t i = 0; i < t->sites.count; i++) {
        const char *file = t->sites.items[i].place.file;
        size_t at = 0;
        while (at < v->files.count && v->files.items[at] != file)
            at++;
        if (file && at == v->files.count && !vec_push(&v->files, file))
            return false;
    }
    return true;
}

const char *view_file(const view *v, const char *file) {
    return file + text_unique_suffix(file, v->files.items, v->files.count);
}

/* ---- view ------------------------------------------------------------------------------------ */

bool view_init(view *v, tracer *t) {
    *v = (view){.tracer = t};
    if (!filter_sites(v) || !find_elements(v) || !find_files(v))
        return false;
    for (uint32_t i = 0; i < t->first_leaf.count; i++)
        if (!add_entries(v, i))
            return false;
    return true;
}

void view_free(view *v) {
    free(v->matches);
    free(v->element_of);
    vec_free(&v->entries);
    vec_free(&v->files);
    vec_free(&v->elements);
}

/* ---- projections ----------------------------------------------------------------------------- */

/* Returns the node for a context, given that of its parent. */
static uint32_t project(projection *p, const view *v, uint32_t parent, uint32_t number,
                        unsigned kinds) {
    bool shown = v->matches[number] || !v->tracer->sites.items[number].place.file;
    for (int kind = 0; shown && kind < N_ELEMENT_KINDS; kind++) {
        uint32_t edge = v->element_of[number * N_ELEMENT_KINDS + (uint32_t)kind];
        if (kinds & 1u << kind && edge != NO_ELEMENT)
            parent = tree_child(&p->tree, parent, edge);
    }
    return parent;
}

bool projection_init(projection *p, const view *v, unsigned kinds) {
    const tree *contexts = &v->tracer->contexts;
    *p = (projection){.node_of = calloc(tree_size(contexts), sizeof *p->node_of)};
    if (!p->node_of)
        return false;
    for (size_t i = 1; i < contexts->nodes.count; i++) {
        tree_node n = contexts->nodes.items[i];
        p->node_of[i] = project(p, v, p->node_of[n.parent], n.edge, kinds);
        if (p->node_of[i] == TREE_NONE)
            return false;
    }
    return true;
}

void projection_free(projection *p) {
    tree_free(&p->tree);
    free(p->node_of);
}

size_t projection_step(const projection *p, const view *v, uint32_t *node, const element **e) {
    const tree_node *nodes = p->tree.nodes.items;
    uint32_t edge = nodes[*node].edge;
    size_t n = 0;
    *e = &v->elements.items[edge];
    for (; *node != TREE_ROOT && nodes[*node].edge == edge; n++)
        *node = nodes[*node].parent;
    return n;
}
