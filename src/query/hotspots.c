/* hotspots.c: there is one contribution for each pair of site and caller that occurs. Both are
 * numbers, so that what belongs to one site is put together without looking at names; these only
 * order what costs the same. */
#include "query/hotspots.h"

#include <string.h>

#include "query/groups.h"
#include "query/place_table.h"
#include "query/wrappers.h"

const char *const hotspots_groupings[] = {
#define GROUPING_TEXT(name, text) text,
    HOTSPOTS_GROUPINGS(GROUPING_TEXT)
#undef GROUPING_TEXT
        NULL};

const char *const hotspots_stack_groupings[] = {[HOTSPOTS_BY_LINE] = "line",
                                                [HOTSPOTS_BY_FUNCTION] = "function",
                                                [HOTSPOTS_BY_TYPE] = "type",
                                                NULL};

#define NO_PLACE UINT32_MAX

/* What was allocated at one site for one caller: numbers of places, or of a type for its sites. */
typedef struct contribution {
    uint32_t site, caller;
    cost cost;
} contribution;

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
    order = order ? order : compare_strings(a->span, b->span);
    return order ? order : compare_places(a->place, b->place, by);
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
    place_table places;
    VEC(contribution) all;
    VEC(const char *) types; /* by number */
    map64 pairs;             /* (caller, site) → index into `all` */
    map64 of_type;           /* strings of the profile are equal if their pointers are */
    map64 wrappers;          /* function → index into `result->wrappers` */
    groups spans;            /* by thread or scope */
} gathering;

static uint32_t place_of(const gathering *g, lens_cursor at) {
    return at.location == LENS_NOWHERE ? NO_PLACE : g->places.of_location[at.location];
}

static bool number_type(gathering *g, const char *type, uint32_t *number) {
    return map64_number(&g->of_type, (uintptr_t)type, number) &&
           (*number < g->types.count || vec_push(&g->types, type));
}

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

static bool add_contribution(gathering *g, uint32_t site, uint32_t caller, const cost *c) {
    uint32_t at;
    bool is_new;
    if (!find_sum(&g->pairs, (uint64_t)caller << 32 | site, g->all.count, &at, &is_new))
        return false;
    if (is_new && !vec_push(&g->all, ((contribution){.site = site, .caller = caller})))
        return false;
    cost_add(&g->all.items[at].cost, c);
    return true;
}

static bool add_entry(gathering *g, const cost_entry *e) {
    uint32_t wrapper, site, caller;
    const lens_cursor at = lens_site(g->lens, e->node, e->external, &wrapper);
    if (g->result->by != HOTSPOTS_BY_TYPE) {
        site = place_of(g, at);
        caller = place_of(g, lens_outward(g->lens, at));
    } else {
        caller = place_of(g, at);
        if (!number_type(g, type_of(g->lens, e, wrapper), &site))
            return false;
    }
    return add_contribution(g, site, caller, &e->cost) &&
           (wrapper == LENS_NOWHERE || add_wrapper(g, wrapper, &e->cost));
}

static hotspots_entry name_place(const gathering *g, uint32_t place) {
    return (hotspots_entry){
        .place =
            place == NO_PLACE ? NULL : lens_location(g->lens, g->places.locations.items[place])};
}

static const char *span_name(const gathering *g, uint32_t site) {
    const group *of = &g->spans.items.items[site];
    if (of->name)
        return of->name;
    if (g->result->by == HOTSPOTS_BY_SCOPE)
        return "(no scope)";
    spans_unnamed((uint16_t)of->number, g->result->unnamed[site]);
    return g->result->unnamed[site];
}

static hotspots_entry name_site(const gathering *g, uint32_t site) {
    if (g->result->by == HOTSPOTS_BY_TYPE)
        return (hotspots_entry){.type = g->types.items[site]};
    if (hotspots_by_span(g->result->by))
        return (hotspots_entry){.span = span_name(g, site)};
    return name_place(g, site);
}

/* Sites together; each of their callers is there once. */
static int compare_contributions(const void *a, const void *b) {
    const contribution *x = a, *y = b;
    return x->site != y->site ? (x->site > y->site) - (x->site < y->site)
                              : (x->caller > y->caller) - (x->caller < y->caller);
}

static bool sum_up(gathering *g) {
    hotspots *h = g->result;
    map64_free(&g->pairs); /* before as much is made again */
    if (g->all.count)
        qsort(g->all.items, g->all.count, sizeof *g->all.items, compare_contributions);
    for (size_t i = 0; i < g->all.count; i++) {
        const contribution *c = &g->all.items[i];
        hotspots_entry caller = name_place(g, c->caller);
        caller.cost = c->cost;
        if ((i == 0 || c[-1].site != c->site) &&
            !vec_push(&h->sites, ((hotspots_site){.entry = name_site(g, c->site),
                                                  .first_caller = (uint32_t)i})))
            return false;
        hotspots_site *s = &h->sites.items[h->sites.count - 1];
        s->n_callers++;
        cost_add(&s->entry.cost, &c->cost);
        cost_add(&h->total, &c->cost);
        if (!vec_push(&h->callers, caller))
            return false;
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

/* Where a stack's place stands among those of all, of blocks from a heap or external. */
static size_t index_of(const cct *tree, uint32_t node, bool external) {
    return 2 * (size_t)cct_stack(tree, node) + external;
}

/* Stacks are fewer than blocks: what is asked of a stack is asked once. NULL when there is no
 * memory. */
static uint32_t *places_of_stacks(gathering *g, const query_result *q) {
    const cct *tree = &q->profile->tree;
    uint32_t *places = malloc((2 * tree->n_stacks + 2) * sizeof *places);
    bool ok = places;
    for (size_t i = 0; ok && i < q->costs.count; i++) {
        const cost_entry e = cost_list_at(&q->costs, i);
        uint32_t wrapper;
        places[index_of(tree, e.node, e.external)] =
            place_of(g, lens_site(g->lens, e.node, e.external, &wrapper));
        ok = wrapper == LENS_NOWHERE || add_wrapper(g, wrapper, &e.cost);
    }
    if (ok)
        return places;
    free(places);
    return NULL;
}

/* The rows that were kept have the stacks that cost something. */
static bool sum_up_rows(gathering *g, const query_result *q, const uint32_t *places) {
    const block_table *b = &q->profile->table;
    bool ok = true;
    for (size_t i = 0; ok && i < b->count; i++) {
        const uint32_t span = g->spans.of_row[i];
        if (span == SITES_NONE)
            continue;
        const size_t at =
            index_of(&q->profile->tree, b->node[i], b->source[i] == MEMTRACE_EXTERNAL);
        const cost one = cost_of_block(q->profile, q->measure, i);
        ok = add_contribution(g, span, places[at], &one);
    }
    return ok;
}

static bool gather_spans(gathering *g, const query_result *q) {
    const profile *p = q->profile;
    if (!place_table_make(&g->places, p->locations.items, p->locations.count, PLACE_BY_LINE) ||
        !groups_find_spans(p, q->selection.kept,
                           g->result->by == HOTSPOTS_BY_SCOPE ? GROUPS_BY_SCOPE : GROUPS_BY_THREAD,
                           &g->spans))
        return false;
    g->result->unnamed = calloc(g->spans.items.count + 1, sizeof *g->result->unnamed);
    uint32_t *places = places_of_stacks(g, q);
    const bool ok = g->result->unnamed && places && sum_up_rows(g, q, places);
    free(places);
    return ok;
}

static bool gather(gathering *g, const cost_list *costs) {
    const profile *p = g->lens->profile;
    if (!place_table_make(&g->places, p->locations.items, p->locations.count,
                          g->result->by == HOTSPOTS_BY_FUNCTION ? PLACE_BY_FUNCTION
                                                                : PLACE_BY_LINE))
        return false;
    for (size_t i = 0; i < costs->count; i++) {
        const cost_entry e = cost_list_at(costs, i);
        if (!add_entry(g, &e))
            return false;
    }
    return true;
}

static void gathering_free(gathering *g) {
    place_table_free(&g->places);
    vec_free(&g->all);
    vec_free(&g->types);
    map64_free(&g->pairs);
    map64_free(&g->of_type);
    map64_free(&g->wrappers);
    groups_free(&g->spans);
}

bool hotspots_query(const query_result *q, hotspots_by by, hotspots *result) {
    *result = (hotspots){.by = by};
    gathering g = {.lens = &q->lens, .result = result};
    const bool gathered = hotspots_by_span(by) ? gather_spans(&g, q) : gather(&g, &q->costs);
    const bool ok = gathered && sum_up(&g);
    gathering_free(&g);
    if (ok)
        rank(result);
    else
        hotspots_free(result);
    return ok;
}

void hotspots_free(hotspots *h) {
    vec_free(&h->sites);
    vec_free(&h->callers);
    vec_free(&h->wrappers);
    free(h->unnamed);
    *h = (hotspots){0};
}
