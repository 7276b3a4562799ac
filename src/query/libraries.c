/* libraries.c: what is in a library is decided by the filter that hides them. */
#include "query/libraries.h"

enum { STACKS = 10000 }; /* to be looked at */

static bool is_library(const filter *hide, const profile_location *l) {
    return filter_hides(hide, l->function) || filter_hides_file(hide, l->file);
}

/* Whether a stack that was allocated in a library was entered from code of the program. */
static bool comes_from_program(const query_result *q, const filter *hide, const cost_entry *e) {
    uint32_t wrapper;
    lens_cursor at = lens_site(&q->lens, e->node, e->external, &wrapper);
    const profile_location *l = lens_location(&q->lens, at.location);
    if (!l || !is_library(hide, l))
        return false;
    while ((l = lens_location(&q->lens, (at = lens_outward(&q->lens, at)).location)))
        if (l->line > 0 && !is_library(hide, l))
            return true;
    return false;
}

bool libraries_hold_most(const query_result *q) {
    const size_t step = q->costs.count / STACKS + 1;
    filter_error error;
    filter *hide;
    double all = 0, held = 0;
    if (!filter_parse(LIBRARIES_HIDDEN, &hide, &error))
        return false;
    for (size_t i = 0; i < q->costs.count; i += step) {
        const cost_entry e = cost_list_at(&q->costs, i);
        all += e.cost.weight;
        held += comes_from_program(q, hide, &e) ? e.cost.weight : 0;
    }
    filter_free(hide);
    return held > all / 2;
}
