/* libraries.c: the filter that hides libraries decides what is in one, once per location. */
#include "query/libraries.h"

enum { STACKS = 1000 }; /* the most that are examined */

enum { KNOWN_NOT = 1, KNOWN = 2 };

bool libraries_open(libraries *all, const lens *l) {
    filter_error error;
    *all = (libraries){.lens = l, .known = calloc(l->profile->locations.count + 1, 1)};
    return all->known && filter_parse(LIBRARIES_HIDDEN, &all->hide, &error);
}

void libraries_close(libraries *all) {
    filter_free(all->hide);
    free(all->known);
    free(all->left);
    map64_free(&all->functions);
    map64_free(&all->files);
    *all = (libraries){0};
}

/* Decides once per name: patterns are slow to match, and most locations share their function and
 * file with others. */
static bool have_name(const libraries *all, map64 *names, const char *name,
                      bool (*hides)(const filter *, const char *)) {
    uint32_t *known = map64_put(names, (uintptr_t)name);
    if (!known)
        return hides(all->hide, name);
    if (*known == MAP64_NONE)
        *known = hides(all->hide, name);
    return *known;
}

static uint8_t decide(libraries *all, uint32_t location) {
    const profile_location *l = lens_location(all->lens, location);
    const bool has = have_name(all, &all->functions, l->function, filter_hides) ||
                     have_name(all, &all->files, l->file, filter_hides_file);
    return has ? KNOWN : KNOWN_NOT;
}

static inline bool have_location(libraries *all, uint32_t location) {
    if (all->known[location] == 0)
        all->known[location] = decide(all, location);
    return all->known[location] == KNOWN;
}

/* ---- the way out ----------------------------------------------------------------------------- */

enum { LEFT_NOWHERE = 1, LEFT = 2 }; /* added to a location */

/* Goes one location outward. Returns true if that is the first visible location of another node. */
static bool go_outward(const libraries *all, lens_cursor *at) {
    const lens_cursor from = *at;
    *at = lens_outward(all->lens, from);
    return at->location != LENS_NOWHERE && at->node != from.node;
}

/* Stores the result at all nodes that are entered on the way. */
static void tell(const libraries *all, lens_cursor at, lens_cursor end, uint32_t found) {
    while (at.location != end.location || at.node != end.node)
        if (go_outward(all, &at))
            all->left[at.node] = found;
}

/* Goes outward by at most `n` locations. Returns whether that leaves libraries, or the stack. */
static bool leave_within(libraries *all, lens_cursor *at, size_t n) {
    for (size_t i = 0; i < n; i++) {
        *at = lens_outward(all->lens, *at);
        if (at->location == LENS_NOWHERE || !have_location(all, at->location))
            return true;
    }
    return false;
}

/* Stacks of deep recursion share their way out, and without `left` each would be walked to its end,
 * as it is if there is no memory. */
static uint32_t leave_far(libraries *all, lens_cursor at) {
    const lens_cursor first = at;
    uint32_t found = 0;
    if (!all->left && !(all->left = calloc(lens_nodes(all->lens) + 1, sizeof *all->left))) {
        leave_within(all, &at, SIZE_MAX);
        return at.location;
    }
    do
        if (go_outward(all, &at))
            found = all->left[at.node];
    while (!found && at.location != LENS_NOWHERE && have_location(all, at.location));
    if (!found)
        found = at.location == LENS_NOWHERE ? LEFT_NOWHERE : at.location + LEFT;
    tell(all, first, at, found);
    return found == LEFT_NOWHERE ? LENS_NOWHERE : found - LEFT;
}

/* Most stacks leave at once, and do not need `left`. */
uint32_t libraries_leave(libraries *all, lens_cursor at) {
    enum { AT_ONCE = 4 };
    return leave_within(all, &at, AT_ONCE) ? at.location : leave_far(all, at);
}

/* ---- whose sites they are -------------------------------------------------------------------- */

/* Whether a stack that allocated in a library was called from code of the program. */
static bool comes_from_program(libraries *all, const cost_entry *e) {
    uint32_t wrapper;
    lens_cursor at = lens_site(all->lens, e->node, e->external, &wrapper);
    if (at.location == LENS_NOWHERE || !have_location(all, at.location))
        return false;
    while ((at = lens_outward(all->lens, at)).location != LENS_NOWHERE)
        if (lens_location(all->lens, at.location)->line > 0 && !have_location(all, at.location))
            return true;
    return false;
}

bool libraries_hold_most(const query_result *q) {
    const size_t step = q->costs.count / STACKS + 1;
    libraries known;
    double all = 0, held = 0;
    const bool ok = libraries_open(&known, &q->lens);
    for (size_t i = 0; ok && i < q->costs.count; i += step) {
        const cost_entry e = cost_list_at(&q->costs, i);
        all += e.cost.weight;
        held += comes_from_program(&known, &e) ? e.cost.weight : 0;
    }
    libraries_close(&known);
    return held > all / 2;
}

bool libraries_have(const profile_location *place) {
    filter *hide = NULL;
    filter_error error;
    const bool has = filter_parse(LIBRARIES_HIDDEN, &hide, &error) &&
                     (filter_hides(hide, place->function) || filter_hides_file(hide, place->file));
    filter_free(hide);
    return has;
}
