/* libraries.c: what is in a library is decided by the filter that hides them, once a location. */
#include "query/libraries.h"

enum { STACKS = 1000 }; /* to be looked at */

typedef struct search {
    const query_result *query;
    filter *hide;
    uint8_t *known; /* by location; 0: not yet */
} search;

enum { KNOWN_NOT = 1, KNOWN = 2 };

static bool hides(const filter *hide, const profile_location *place) {
    return filter_hides(hide, place->function) || filter_hides_file(hide, place->file);
}

static bool is_library(const search *s, uint32_t location) {
    uint8_t *known = &s->known[location];
    if (*known == 0) {
        const profile_location *l = lens_location(&s->query->lens, location);
        *known = hides(s->hide, l) ? KNOWN : KNOWN_NOT;
    }
    return *known == KNOWN;
}

/* Whether a stack that was allocated in a library was entered from code of the program. */
static bool comes_from_program(const search *s, const cost_entry *e) {
    const lens *view = &s->query->lens;
    uint32_t wrapper;
    lens_cursor at = lens_site(view, e->node, e->external, &wrapper);
    if (at.location == LENS_NOWHERE || !is_library(s, at.location))
        return false;
    while ((at = lens_outward(view, at)).location != LENS_NOWHERE)
        if (lens_location(view, at.location)->line > 0 && !is_library(s, at.location))
            return true;
    return false;
}

bool libraries_hold_most(const query_result *q) {
    const size_t step = q->costs.count / STACKS + 1;
    search s = {.query = q, .known = calloc(q->profile->locations.count + 1, 1)};
    filter_error error;
    double all = 0, held = 0;
    const bool ok = s.known && filter_parse(LIBRARIES_HIDDEN, &s.hide, &error);
    for (size_t i = 0; ok && i < q->costs.count; i += step) {
        const cost_entry e = cost_list_at(&q->costs, i);
        all += e.cost.weight;
        held += comes_from_program(&s, &e) ? e.cost.weight : 0;
    }
    filter_free(s.hide);
    free(s.known);
    return held > all / 2;
}

bool libraries_have(const profile_location *place) {
    filter *hide = NULL;
    filter_error error;
    const bool has = filter_parse(LIBRARIES_HIDDEN, &hide, &error) && hides(hide, place);
    filter_free(hide);
    return has;
}
