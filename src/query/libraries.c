/* libraries.c: the filter that hides libraries decides what is in one, once per location. */
#include "query/libraries.h"

enum { STACKS = 1000 }; /* the most that are examined */

enum { KNOWN_NOT = 1, KNOWN = 2 };

bool libraries_open(libraries *all, const lens *l) {
    filter_error error;
    *all = (libraries){.lens = l,
                       .known = calloc(l->profile->locations.count + 1, 1),
                       .left = calloc(lens_nodes(l) + 1, sizeof *all->left)};
    return all->known && all->left && filter_parse(LIBRARIES_HIDDEN, &all->hide, &error);
}

void libraries_close(libraries *all) {
    filter_free(all->hide);
    free(all->known);
    free(all->left);
    map64_free(&all->files);
    *all = (libraries){0};
}

/* Decides once per file: patterns of files are slow to match, and most locations share a file. */
static bool have_file(libraries *all, const char *file) {
    uint32_t *known = map64_put(&all->files, (uintptr_t)file);
    if (!known)
        return filter_hides_file(all->hide, file);
    if (*known == MAP64_NONE)
        *known = filter_hides_file(all->hide, file);
    return *known;
}

static bool have_location(libraries *all, uint32_t location) {
    uint8_t *known = &all->known[location];
    if (*known == 0) {
        const profile_location *l = lens_location(all->lens, location);
        const bool has = filter_hides(all->hide, l->function) || have_file(all, l->file);
        *known = has ? KNOWN : KNOWN_NOT;
    }
    return *known == KNOWN;
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

/* Stacks of deep recursion share their way out, and without `left` each would be walked to its end.
 * Most stacks leave at once, and do not need `left`. */
uint32_t libraries_leave(libraries *all, lens_cursor at) {
    enum { AT_ONCE = 4 };
    for (int i = 0; i < AT_ONCE; i++) {
        at = lens_outward(all->lens, at);
        if (at.location == LENS_NOWHERE || !have_location(all, at.location))
            return at.location;
    }
    const lens_cursor first = at;
    uint32_t found = 0;
    do
        if (go_outward(all, &at))
            found = all->left[at.node];
    while (!found && at.location != LENS_NOWHERE && have_location(all, at.location));
    if (!found)
        found = at.location == LENS_NOWHERE ? LEFT_NOWHERE : at.location + LEFT;
    tell(all, first, at, found);
    return found == LEFT_NOWHERE ? LENS_NOWHERE : found - LEFT;
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
