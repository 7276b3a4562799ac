/* activity.c: one pass over the rows adds each to its site: to what was allocated in all, what is
 * live at the end of the window, and what came or went within it. */
#include "query/activity.h"

#include "query/sites.h"

static void add(activity_site *s, const block_table *b, size_t row, const activity *a) {
    const uint64_t born = blocks_born(b, row), died = blocks_died(b, row);
    const uint64_t samples = blocks_samples(b, row);
    const bool is_live = died > a->to;
    /* A window from the start has no time before it. */
    const bool is_recent = born > a->from || a->from == 0;
    s->allocated += samples;
    s->live += is_live ? samples : 0;
    s->recent += is_recent ? samples : 0;
    s->came += is_recent && is_live ? samples : 0;
    s->went += !is_recent && !is_live && died > a->from ? samples : 0;
}

static void add_rows(const query_result *q, const sites *places, activity *a) {
    const block_table *b = &q->profile->table;
    for (size_t i = 0; i < b->count; i++) {
        if (places->of_row[i] == SITES_NONE)
            continue;
        add(&a->sites.items[places->of_row[i]], b, i, a);
        add(&a->total, b, i, a);
    }
}

/* Returns the value by which sites are sorted; growth can be negative. */
static double key(const activity_site *s, activity_order order) {
    switch (order) {
    case ACTIVITY_BY_ALLOCATED:
        return (double)s->allocated;
    case ACTIVITY_BY_RATE:
        return (double)s->recent;
    case ACTIVITY_BY_GROWTH:
        return (double)s->came - (double)s->went;
    default:
        return (double)s->live;
    }
}

/* Equal sites are sorted by what they hold, then by what they allocated. */
static int compare(const void *left, const void *right, void *context) {
    const activity_site *a = left, *b = right;
    const activity_order orders[] = {*(const activity_order *)context, ACTIVITY_BY_LIVE,
                                     ACTIVITY_BY_ALLOCATED};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (key(a, orders[i]) != key(b, orders[i]))
            return key(a, orders[i]) > key(b, orders[i]) ? -1 : 1;
    return sites_compare_places(a->place, b->place);
}

static bool make_sites(const sites *places, activity *a) {
    if (!vec_reserve(&a->sites, places->places.count))
        return false;
    for (size_t i = 0; i < places->places.count; i++)
        a->sites.items[i] = (activity_site){.place = places->places.items[i]};
    a->sites.count = places->places.count;
    return true;
}

bool activity_query(const query_result *q, uint64_t from, uint64_t to, activity_order order,
                    activity *a) {
    sites places;
    *a = (activity){.from = from, .to = to};
    if (!sites_find(&q->lens, q->selection.kept, false, &places))
        return false;
    const bool ok = make_sites(&places, a);
    if (ok)
        add_rows(q, &places, a);
    sites_free(&places);
    if (ok && a->sites.count > 0)
        qsort_r(a->sites.items, a->sites.count, sizeof *a->sites.items, compare, &order);
    return ok;
}

void activity_free(activity *a) {
    vec_free(&a->sites);
    *a = (activity){0};
}
