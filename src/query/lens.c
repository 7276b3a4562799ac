/* lens.c: each location has flags (hidden, wrapper, unnamed), decided once per distinct name, file
 * and module. A walk outward looks only at flags. Stacks that are folded are walked by their shape
 * (shape.h). */
#include "query/lens.h"

#include <string.h>

#include "query/module.h"
#include "query/wrappers.h"

static uint8_t mark_of(const profile_location *l, bool skip_wrappers, const filter *hide) {
    if (filter_hides(hide, l->function))
        return LENS_HIDDEN;
    if (skip_wrappers && wrapper_name(l->function))
        return LENS_WRAPPER;
    return skip_wrappers && profile_is_address(l) ? LENS_UNNAMED : 0;
}

/* Decides once per file, as many locations have the same one. */
static bool hide_files(lens *l, const filter *hide) {
    const profile *p = l->profile;
    map64 known = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < p->locations.count; i++) {
        uint32_t *hidden = map64_put(&known, (uintptr_t)p->locations.items[i].file);
        ok = hidden;
        if (ok && *hidden == MAP64_NONE)
            *hidden = filter_hides_file(hide, p->locations.items[i].file);
        if (ok && *hidden)
            l->marks[i] = LENS_HIDDEN;
    }
    map64_free(&known);
    return ok;
}

static bool hide_modules(lens *l, const filter *hide) {
    const profile *p = l->profile;
    intern_table names = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < p->locations.count; i++) {
        const char *module = module_name_of(&names, &p->locations.items[i]);
        ok = module;
        if (ok && filter_hides_module(hide, module))
            l->marks[i] = LENS_HIDDEN;
    }
    intern_free(&names);
    return ok;
}

/* Decides once per function, as many locations have the same one. */
static bool mark_locations(lens *l, const filter *hide) {
    const profile *p = l->profile;
    map64 known = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < p->locations.count; i++) {
        const profile_location *location = &p->locations.items[i];
        uint32_t *mark = map64_put(&known, (uintptr_t)location->function);
        ok = mark;
        if (ok && (*mark == MAP64_NONE || *mark == LENS_UNNAMED))
            *mark = mark_of(location, l->skip_wrappers, hide);
        l->marks[i] = ok ? (uint8_t)*mark : 0;
    }
    map64_free(&known);
    return ok;
}

bool lens_init_of(lens *l, const profile *p, bool skip_wrappers, const filter *hide,
                  size_t n_terms) {
    *l = (lens){.profile = p,
                .skip_wrappers = skip_wrappers,
                .hides = hide && filter_hides_any(hide),
                .marks = calloc(p->locations.count + 1, 1)};
    if (!l->marks || !mark_locations(l, hide) ||
        (filter_hides_files(hide) && !hide_files(l, hide)) ||
        (filter_hides_modules(hide) && !hide_modules(l, hide)))
        return false;
    if (n_terms > 0)
        l->shape = shape_make(p, hide, n_terms, l->marks, LENS_HIDDEN);
    return n_terms == 0 || l->shape;
}

bool lens_init(lens *l, const profile *p, bool skip_wrappers, const filter *hide) {
    return lens_init_of(l, p, skip_wrappers, hide, filter_shape_terms(hide));
}

bool lens_copy(lens *l, const lens *from) {
    const size_t n = from->profile->locations.count + 1;
    *l = *from;
    l->shape = shape_use(from->shape);
    l->marks = malloc(n);
    if (l->marks)
        memcpy(l->marks, from->marks, n);
    return l->marks;
}

void lens_free(lens *l) {
    free(l->marks);
    shape_release(l->shape);
    *l = (lens){0};
}

static lens_cursor shape_cursor(const stack_shape *s, uint32_t node) {
    return node == SHAPE_ROOT || node == SHAPE_NOWHERE
               ? (lens_cursor){.node = SHAPE_ROOT, .location = LENS_NOWHERE}
               : (lens_cursor){.node = node, .location = s->locations[node]};
}

static lens_cursor step(const lens *l, lens_cursor at) {
    return l->shape ? shape_cursor(l->shape, l->shape->parents[at.node]) : lens_step(l, at);
}

static lens_cursor skip_hidden(const lens *l, lens_cursor at) {
    while (at.location != LENS_NOWHERE && lens_hides(l, at.location))
        at = step(l, at);
    return at;
}

lens_cursor lens_innermost(const lens *l, uint32_t node) {
    if (cct_count(&l->profile->tree) == 0)
        return (lens_cursor){.node = CCT_ROOT, .location = LENS_NOWHERE};
    return l->shape ? shape_cursor(l->shape, l->shape->of[node])
                    : skip_hidden(l, lens_enter(l, node));
}

size_t lens_nodes(const lens *l) {
    return l->shape ? l->shape->n : cct_count(&l->profile->tree);
}

lens_cursor lens_from(const lens *l, uint32_t node) {
    return l->shape ? shape_cursor(l->shape, node) : skip_hidden(l, lens_enter(l, node));
}

lens_cursor lens_outward_slow(const lens *l, lens_cursor at) {
    return at.location == LENS_NOWHERE ? at : skip_hidden(l, step(l, at));
}

/* Goes from `at` over unnamed functions to the first wrapper around them; nowhere if another
 * function comes first. What a wrapper calls belongs to the allocator, named or not. */
static lens_cursor find_wrapper(const lens *l, lens_cursor at) {
    while (at.location != LENS_NOWHERE && !(l->marks[at.location] & LENS_WRAPPER)) {
        if (!(l->marks[at.location] & LENS_UNNAMED))
            return (lens_cursor){.location = LENS_NOWHERE};
        at = lens_outward(l, at);
    }
    return at;
}

lens_cursor lens_site(const lens *l, uint32_t node, bool external, uint32_t *wrapper) {
    lens_cursor at = lens_innermost(l, node);
    *wrapper = LENS_NOWHERE;
    while (external && l->skip_wrappers) {
        lens_cursor skipped = find_wrapper(l, at);
        if (skipped.location == LENS_NOWHERE)
            break;
        lens_cursor outer = lens_outward(l, skipped);
        if (outer.location == LENS_NOWHERE)
            return skipped;
        *wrapper = skipped.location;
        at = outer;
    }
    return at;
}
