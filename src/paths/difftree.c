/* difftree.c: see difftree.h. Names are compared as strings once a location; from then on, equal
 * places are equal numbers. */
#include "paths/difftree.h"

#include <string.h>

typedef struct joining {
    difftree *result;
    bool by_line;
    map64 functions, files, pairs, lines; /* strings of `names` → numbers */
    VEC(uint32_t) places;                 /* by number of a place: its location in `names` */
    uint32_t *place_of;                   /* by location in `names`: the one that stands for it */
    map64 children;                       /* (parent, location) → node */
} joining;

/* ---- names ------------------------------------------------------------------------------- */

static bool add_location(joining *j, const profile_location *l) {
    profile *names = &j->result->names;
    uint32_t function, file, pair, place, at = (uint32_t)names->locations.count;
    profile_location copy = {.function = intern(&names->strings, l->function, strlen(l->function)),
                             .file = intern(&names->strings, l->file, strlen(l->file)),
                             .line = l->line};
    if (!copy.function || !copy.file || !vec_push(&names->locations, copy) ||
        !map64_number(&j->functions, (uintptr_t)copy.function, &function) ||
        !map64_number(&j->files, (uintptr_t)copy.file, &file) ||
        !map64_number(&j->pairs, (uint64_t)function << 32 | file, &pair) ||
        !map64_number(&j->lines, (uint64_t)pair << 32 | (j->by_line ? copy.line : 0), &place))
        return false;
    if (place == j->places.count && !vec_push(&j->places, at))
        return false;
    j->place_of[at] = j->places.items[place];
    return true;
}

static bool add_names(joining *j, const profile *p) {
    for (size_t i = 0; i < p->locations.count; i++)
        if (!add_location(j, &p->locations.items[i]))
            return false;
    return true;
}

/* ---- nodes ------------------------------------------------------------------------------- */

static bool add_node(joining *j, uint32_t parent, uint32_t location, uint32_t *node) {
    calltree *t = &j->result->tree;
    uint32_t *slot = map64_put(&j->children, (uint64_t)parent << 32 | location);
    if (!slot)
        return false;
    if (*slot == MAP64_NONE) {
        *slot = (uint32_t)t->nodes.count;
        if (!vec_push(&t->nodes,
                      ((calltree_node){.parent = parent,
                                       .place = &j->result->names.locations.items[location]})))
            return false;
    }
    *node = *slot;
    return true;
}

/* `first`: the number of the profile's first location in `names`. `of` becomes, by node of the
 * tree, the node that it is. */
static bool add_tree(joining *j, const query_result *q, const calltree *from, size_t first,
                     uint32_t *of) {
    const profile *p = q->profile;
    for (size_t i = 0; i < from->nodes.count; i++) {
        const calltree_node *n = &from->nodes.items[i];
        of[i] = CALLTREE_ROOT;
        if (n->place) {
            uint32_t location = j->place_of[first + (size_t)(n->place - p->locations.items)];
            if (!add_node(j, of[n->parent], location, &of[i]))
                return false;
        }
        cost self = n->self;
        self.weight = cost_value(p, q->measure, &n->self);
        cost_add(&j->result->tree.nodes.items[of[i]].self, &self);
    }
    return true;
}

static void add_sides(difftree *d, const calltree *from, const uint32_t *of, bool after) {
    for (size_t i = 0; i < from->nodes.count; i++) {
        difftree_sides *s = &d->sides[of[i]];
        cost_add(after ? &s->after : &s->before, &from->nodes.items[i].self);
    }
}

static void sum_sides(difftree *d) {
    for (size_t i = d->tree.nodes.count; i-- > 1;) {
        difftree_sides *parent = &d->sides[d->tree.nodes.items[i].parent];
        cost_add(&parent->before, &d->sides[i].before);
        cost_add(&parent->after, &d->sides[i].after);
    }
}

static bool join(joining *j, const query_result *before, const calltree *before_tree,
                 const query_result *after, const calltree *after_tree, uint32_t *of_before,
                 uint32_t *of_after) {
    difftree *d = j->result;
    size_t n_after = after->profile->locations.count;
    if (!vec_push(&d->tree.nodes, (calltree_node){0}) || !add_names(j, after->profile) ||
        !add_names(j, before->profile) || !add_tree(j, after, after_tree, 0, of_after) ||
        !add_tree(j, before, before_tree, n_after, of_before) || !calltree_arrange(&d->tree))
        return false;
    d->sides = calloc(d->tree.nodes.count, sizeof *d->sides);
    if (!d->sides)
        return false;
    add_sides(d, before_tree, of_before, false);
    add_sides(d, after_tree, of_after, true);
    sum_sides(d);
    return true;
}

bool difftree_query(const query_result *before, const calltree *before_tree,
                    const query_result *after, const calltree *after_tree, bool by_line,
                    difftree *d) {
    size_t n = before->profile->locations.count + after->profile->locations.count;
    *d = (difftree){0};
    joining j = {.result = d, .by_line = by_line, .place_of = calloc(n + 1, sizeof *j.place_of)};
    uint32_t *of_before = calloc(before_tree->nodes.count + 1, sizeof *of_before);
    uint32_t *of_after = calloc(after_tree->nodes.count + 1, sizeof *of_after);
    /* Nodes point at locations, which so must not move. */
    bool ok = j.place_of && of_before && of_after && vec_reserve(&d->names.locations, n + 1) &&
              join(&j, before, before_tree, after, after_tree, of_before, of_after);
    free(of_before);
    free(of_after);
    free(j.place_of);
    map64_free(&j.functions);
    map64_free(&j.files);
    map64_free(&j.pairs);
    map64_free(&j.lines);
    map64_free(&j.children);
    vec_free(&j.places);
    if (!ok)
        difftree_free(d);
    return ok;
}

void difftree_free(difftree *d) {
    profile_free(&d->names);
    calltree_free(&d->tree);
    free(d->sides);
    d->sides = NULL;
}
