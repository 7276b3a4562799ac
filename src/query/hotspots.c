/* hotspots.c: see hotspots.h. One contribution for each pair of site and caller that occurs, sorted
 * so that those of one site, and in it of one caller, are neighbours; then summed and ranked. */
#include "query/hotspots.h"

#include <string.h>

#include "query/wrappers.h"

const char *const hotspots_groupings[] = {
#define GROUPING_TEXT(name, text) text,
    HOTSPOTS_GROUPINGS(GROUPING_TEXT)
#undef GROUPING_TEXT
        NULL};

/* What was allocated at one site for one caller, once under each of these names. */
typedef struct contribution {
    hotspots_entry site, caller;
} contribution;

typedef VEC(contribution) contributions;

static int compare_strings(const char *a, const char *b) {
    if (a == b)
        return 0;
    if (!a || !b)
        return a ? 1 : -1;
    return strcmp(a, b);
}

static int compare_places(const profile_location *a, const profile_location *b, hotspots_by by) {
    if (a == b)
        return 0;
    if (!a || !b)
        return a ? 1 : -1;
    int order = compare_strings(a->file, b->file);
    if (order == 0 && by != HOTSPOTS_BY_FUNCTION && a->line != b->line)
        order = a->line < b->line ? -1 : 1;
    return order ? order : compare_strings(a->function, b->function);
}

static int compare_names(const hotspots_entry *a, const hotspots_entry *b, hotspots_by by) {
    int order = compare_strings(a->type, b->type);
    return order ? order : compare_places(a->place, b->place, by);
}

static int compare_contributions(const void *a, const void *b, void *context) {
    const contribution *x = a, *y = b;
    hotspots_by by = *(const hotspots_by *)context;
    int order = compare_names(&x->site, &y->site, by);
    return order ? order : compare_names(&x->caller, &y->caller, by);
}

static int compare_entries(const hotspots_entry *a, const hotspots_entry *b, hotspots_by by) {
    if (a->cost.weight != b->cost.weight)
        return a->cost.weight > b->cost.weight ? -1 : 1;
    return compare_names(a, b, by); /* so that the order is always the same */
}

static int compare_callers(const void *a, const void *b, void *context) {
    return compare_entries(a, b, *(const hotspots_by *)context);
}

static int compare_sites(const void *a, const void *b, void *context) {
    const hotspots_site *x = a, *y = b;
    return compare_entries(&x->entry, &y->entry, *(const hotspots_by *)context);
}

/* What external blocks are made by: a wrapper that was skipped, unless a runtime said what they
 * are. That `malloc` made them says nothing. */
static const char *type_of(const lens *l, const cost_entry *e, uint32_t wrapper) {
    const char *type = profile_type(l->profile, e->node);
    bool of_libc = !type || wrapper_name(type);
    return wrapper != LENS_NOWHERE && of_libc ? lens_location(l, wrapper)->function : type;
}

static contribution name_contribution(const lens *l, hotspots_by by, lens_cursor site,
                                      const char *type) {
    const profile_location *place = lens_location(l, site.location);
    if (by == HOTSPOTS_BY_TYPE)
        return (contribution){.site.type = type, .caller.place = place};
    return (contribution){
        .site.place = place,
        .caller.place = lens_location(l, lens_outward(l, site).location),
    };
}

/* The sum under `key`, new ones to be named by the caller. */
static bool find_sum(map64 *map, uint64_t key, size_t count, uint32_t *at, bool *is_new) {
    uint32_t *slot = map64_put(map, key);
    if (!slot)
        return false;
    *is_new = *slot == MAP64_NONE;
    if (*is_new)
        *slot = (uint32_t)count;
    *at = *slot;
    return true;
}

/* What the sums of a query are gathered in. */
typedef struct gathering {
    const lens *lens;
    hotspots *result;
    contributions all;
    map64 pairs;    /* (site, caller) or (type, site) → index into `all` */
    map64 types;    /* strings of the profile are equal if their pointers are */
    map64 wrappers; /* function → index into `result->wrappers` */
} gathering;

static bool add_wrapper(gathering *g, uint32_t wrapper, const cost *c) {
    const profile_location *place = lens_location(g->lens, wrapper);
    uint32_t at;
    bool is_new;
    if (!find_sum(&g->wrappers, (uintptr_t)place->function, g->result->wrappers.count, &at,
                  &is_new))
        return false;
    if (is_new && !vec_push(&g->result->wrappers, ((hotspots_entry){.place = place})))
        return false;
    cost_add(&g->result->wrappers.items[at].cost, c);
    return true;
}

static bool add_entry(gathering *g, const cost_entry *e) {
    uint32_t wrapper, at, outer;
    bool is_new;
    hotspots_by by = g->result->by;
    lens_cursor site = lens_site(g->lens, e->node, e->external, &wrapper);
    const char *type = by == HOTSPOTS_BY_TYPE ? type_of(g->lens, e, wrapper) : NULL;
    if (by != HOTSPOTS_BY_TYPE)
        outer = lens_outward(g->lens, site).location;
    else if (!find_sum(&g->types, (uintptr_t)type, g->types.count, &outer, &is_new))
        return false;
    if (!find_sum(&g->pairs, (uint64_t)outer << 32 | site.location, g->all.count, &at, &is_new))
        return false;
    if (is_new && !vec_push(&g->all, name_contribution(g->lens, by, site, type)))
        return false;
    cost_add(&g->all.items[at].site.cost, &e->cost);
    cost_add(&g->all.items[at].caller.cost, &e->cost);
    return wrapper == LENS_NOWHERE || add_wrapper(g, wrapper, &e->cost);
}

static bool sum_up(hotspots *h, const contributions *sorted) {
    const contribution *last = NULL;
    for (size_t i = 0; i < sorted->count; i++) {
        const contribution *c = &sorted->items[i];
        bool same_site = last && compare_names(&last->site, &c->site, h->by) == 0;
        bool same_caller = same_site && compare_names(&last->caller, &c->caller, h->by) == 0;
        cost_add(&h->total, &c->site.cost);
        if (!same_site) {
            if (!vec_push(&h->sites, ((hotspots_site){
                                         .entry = c->site,
                                         .first_caller = (uint32_t)h->callers.count,
                                     })))
                return false;
        } else {
            cost_add(&h->sites.items[h->sites.count - 1].entry.cost, &c->site.cost);
        }
        if (!same_caller) {
            if (!vec_push(&h->callers, c->caller))
                return false;
            h->sites.items[h->sites.count - 1].n_callers++;
        } else {
            cost_add(&h->callers.items[h->callers.count - 1].cost, &c->caller.cost);
        }
        last = c;
    }
    return true;
}

static void rank(hotspots *h) {
    for (size_t i = 0; i < h->sites.count; i++) {
        const hotspots_site *s = &h->sites.items[i];
        qsort_r(h->callers.items + s->first_caller, s->n_callers, sizeof *h->callers.items,
                compare_callers, &h->by);
    }
    if (h->sites.count)
        qsort_r(h->sites.items, h->sites.count, sizeof *h->sites.items, compare_sites, &h->by);
    if (h->wrappers.count)
        qsort_r(h->wrappers.items, h->wrappers.count, sizeof *h->wrappers.items, compare_callers,
                &h->by);
}

static bool gather(gathering *g, const cost_list *costs) {
    for (size_t i = 0; i < costs->count; i++)
        if (!add_entry(g, &costs->items[i]))
            return false;
    return true;
}

bool hotspots_query(const query_result *q, hotspots_by by, hotspots *result) {
    *result = (hotspots){.by = by};
    gathering g = {.lens = &q->lens, .result = result};
    bool ok = gather(&g, &q->costs);
    if (ok && g.all.count)
        qsort_r(g.all.items, g.all.count, sizeof *g.all.items, compare_contributions, &by);
    ok = ok && sum_up(result, &g.all);
    vec_free(&g.all);
    map64_free(&g.pairs);
    map64_free(&g.types);
    map64_free(&g.wrappers);
    if (ok)
        rank(result);
    else
        hotspots_free(result);
    return ok;
}

bool hotspots_of_all(const profile *p, hotspots_by by, hotspots *result) {
    query_result q;
    *result = (hotspots){0};
    bool ok = query_run(&q, p, &(query_spec){0}) && hotspots_query(&q, by, result);
    query_free(&q);
    return ok;
}

void hotspots_free(hotspots *h) {
    vec_free(&h->sites);
    vec_free(&h->callers);
    vec_free(&h->wrappers);
    *h = (hotspots){0};
}
