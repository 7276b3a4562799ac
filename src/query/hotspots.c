/* hotspots.c: each stack (or row) gets the numbers of its site and its caller. Items are sorted by
 * site, so that only the sums of one site's callers are accessed at a time. Names only decide the
 * order of equal costs. */
#include "query/hotspots.h"

#include <string.h>

#include "base/large.h"
#include "query/groups.h"
#include "query/libraries.h"
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
    return compare_names(a, b, by); /* makes the order deterministic */
}

static int compare_callers(const void *a, const void *b, void *context) {
    return compare_entries(a, b, *(const hotspots_by *)context);
}

static int compare_sites(const void *a, const void *b, void *context) {
    const hotspots_site *x = a, *y = b;
    return compare_entries(&x->entry, &y->entry, *(const hotspots_by *)context);
}

/* Returns the type of external blocks: the wrapper that was skipped, unless a runtime gave a type.
 * A type such as `malloc` says nothing. */
static const char *type_of(const lens *l, uint32_t node, uint32_t wrapper) {
    const char *type = profile_type(l->profile, node);
    bool of_libc = !type || wrapper_name(type);
    return wrapper != LENS_NOWHERE && of_libc ? lens_location(l, wrapper)->function : type;
}

/* State of the query. An item is an entry of the query's costs, or a row of the table. */
typedef struct gathering {
    const query_result *query;
    hotspots *result;
    place_table places;
    size_t n, n_sites; /* of items; of sites */
    /* By item: the number of the site and of the caller. Numbers are of places, with one more for
     * none, or of what `result->by` groups by. SITES_NONE: the item does not count. */
    uint32_t *sites, *callers;
    VEC(const char *) types; /* by number */
    map64 of_type;           /* equal strings of the profile have equal pointers */
    map64 wrappers;          /* function → index into `result->wrappers` */
    libraries libraries;     /* open if sites are places */
    groups spans;            /* by thread, scope and so on */
} gathering;

static uint32_t count_places(const gathering *g) {
    return (uint32_t)g->places.locations.count;
}

static uint32_t place_of(const gathering *g, uint32_t location) {
    return location == LENS_NOWHERE ? count_places(g) : g->places.of_location[location];
}

static bool number_type(gathering *g, const char *type, uint32_t *number) {
    return map64_number(&g->of_type, (uintptr_t)type, number) &&
           (*number < g->types.count || vec_push(&g->types, type));
}

/* Adds the cost at `i` to that of a wrapper. */
static bool add_wrapper(gathering *g, uint32_t wrapper, size_t i) {
    const profile_location *place = lens_location(&g->query->lens, wrapper);
    uint32_t at;
    if (!map64_number(&g->wrappers, (uintptr_t)place->function, &at) ||
        (at == g->result->wrappers.count &&
         !vec_push(&g->result->wrappers, ((hotspots_entry){.place = place}))))
        return false;
    cost_columns_add_to(&g->query->costs.costs, i, &g->result->wrappers.items[at].cost);
    return true;
}

/* Returns the caller of a site. Library code between the site and the program tells little, so this
 * is the first code outward that is in no library, if there is any, unless wrappers are shown. */
static uint32_t caller_of(gathering *g, lens_cursor site) {
    const lens *l = &g->query->lens;
    const uint32_t left = l->skip_wrappers ? libraries_leave(&g->libraries, site) : LENS_NOWHERE;
    return left == LENS_NOWHERE ? lens_outward(l, site).location : left;
}

static bool find_entry(gathering *g, size_t i) {
    const lens *l = &g->query->lens;
    const uint32_t node = cost_list_node(&g->query->costs, i);
    uint32_t wrapper;
    const lens_cursor at = lens_site(l, node, cost_list_external(&g->query->costs, i), &wrapper);
    if (g->result->by != HOTSPOTS_BY_TYPE) {
        g->sites[i] = place_of(g, at.location);
        g->callers[i] = place_of(g, caller_of(g, at));
    } else {
        g->callers[i] = place_of(g, at.location);
        if (!number_type(g, type_of(l, node, wrapper), &g->sites[i]))
            return false;
    }
    return wrapper == LENS_NOWHERE || add_wrapper(g, wrapper, i);
}

static hotspots_entry name_place(const gathering *g, uint32_t place) {
    return (hotspots_entry){
        .place = place == count_places(g)
                     ? NULL
                     : lens_location(&g->query->lens, g->places.locations.items[place])};
}

static const span_kind span_kinds[] = {[HOTSPOTS_BY_THREAD] = SPAN_THREAD,
                                       [HOTSPOTS_BY_SCOPE] = SPAN_SCOPE,
                                       [HOTSPOTS_BY_TRACE] = SPAN_TRACE_ID,
                                       [HOTSPOTS_BY_SPAN] = SPAN_SPAN_ID};

static const char *span_name(const gathering *g, uint32_t site) {
    const group *of = &g->spans.items.items[site];
    if (of->name)
        return of->name;
    const char *nameless = spans_nameless[span_kinds[g->result->by]];
    if (nameless)
        return nameless;
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

/* ---- sums -------------------------------------------------------------------------------- */

/* Items sorted by site, each site's in their order. A site's items begin at `begins[site]` and end
 * where the next site's begin. */
typedef struct sorting {
    size_t *begins;
    uint32_t *items;
} sorting;

static bool sort_items(const gathering *g, sorting *s) {
    *s = (sorting){.begins = calloc(g->n_sites + 2, sizeof *s->begins),
                   .items = large_new(g->n + 1, sizeof *s->items)};
    if (!s->begins || !s->items)
        return false;
    size_t *ends = s->begins + 1; /* the ends, once all items are placed */
    for (size_t i = 0; i < g->n; i++)
        if (g->sites[i] != SITES_NONE)
            ends[g->sites[i] + 1]++;
    for (size_t site = 0; site < g->n_sites; site++)
        ends[site + 1] += ends[site];
    for (size_t i = 0; i < g->n; i++)
        if (g->sites[i] != SITES_NONE)
            s->items[ends[g->sites[i]]++] = (uint32_t)i;
    return true;
}

static void sorting_free(sorting *s) {
    free(s->begins);
    free(s->items);
}

static void add_item(const gathering *g, uint32_t i, cost *sum) {
    if (!hotspots_by_span(g->result->by)) {
        cost_columns_add_to(&g->query->costs.costs, i, sum);
        return;
    }
    const cost one = cost_of_block(g->query->profile, g->query->measure, i);
    cost_add(sum, &one);
}

/* The sums of one site's callers. */
typedef struct caller_sums {
    cost *of;            /* by number; zero except for those in `known` */
    VEC(uint32_t) known; /* callers, each once */
} caller_sums;

static int compare_numbers(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool add_items(const gathering *g, const uint32_t *items, size_t n, caller_sums *s) {
    vec_clear(&s->known);
    for (size_t i = 0; i < n; i++) {
        const uint32_t caller = g->callers[items[i]];
        if (s->of[caller].blocks == 0 && !vec_push(&s->known, caller))
            return false;
        add_item(g, items[i], &s->of[caller]);
    }
    qsort(s->known.items, s->known.count, sizeof *s->known.items, compare_numbers);
    return true;
}

/* Adds a site with its known callers, and resets their sums. */
static bool add_site(const gathering *g, uint32_t number, caller_sums *s) {
    hotspots *h = g->result;
    hotspots_site site = {.entry = name_site(g, number),
                          .first_caller = (uint32_t)h->callers.count,
                          .n_callers = (uint32_t)s->known.count};
    for (size_t i = 0; i < s->known.count; i++) {
        hotspots_entry caller = name_place(g, s->known.items[i]);
        caller.cost = s->of[s->known.items[i]];
        s->of[s->known.items[i]] = (cost){0};
        cost_add(&site.entry.cost, &caller.cost);
        cost_add(&h->total, &caller.cost);
        if (!vec_push(&h->callers, caller))
            return false;
    }
    return vec_push(&h->sites, site);
}

static bool sum_up(const gathering *g) {
    caller_sums sums = {.of = calloc(count_places(g) + 1, sizeof *sums.of)};
    sorting by_site;
    bool ok = sort_items(g, &by_site) && sums.of;
    for (uint32_t site = 0; ok && site < g->n_sites; site++) {
        const size_t first = by_site.begins[site], end = by_site.begins[site + 1];
        ok = first == end ||
             (add_items(g, by_site.items + first, end - first, &sums) && add_site(g, site, &sums));
    }
    sorting_free(&by_site);
    free(sums.of);
    vec_free(&sums.known);
    return ok;
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

/* ---- items ------------------------------------------------------------------------------- */

/* Returns the index of a stack among all stacks of heap and external blocks. */
static size_t index_of(const cct *tree, uint32_t node, bool external) {
    return 2 * (size_t)cct_stack(tree, node) + external;
}

/* Returns the place of each stack. There are fewer stacks than blocks, so each is looked up once.
 * NULL when there is no memory. */
static uint32_t *places_of_stacks(gathering *g) {
    const query_result *q = g->query;
    const cct *tree = &q->profile->tree;
    uint32_t *places = malloc((2 * tree->n_stacks + 2) * sizeof *places);
    bool ok = places;
    for (size_t i = 0; ok && i < q->costs.count; i++) {
        const uint32_t node = cost_list_node(&q->costs, i);
        const bool external = cost_list_external(&q->costs, i);
        uint32_t wrapper;
        places[index_of(tree, node, external)] =
            place_of(g, lens_site(&q->lens, node, external, &wrapper).location);
        ok = wrapper == LENS_NOWHERE || add_wrapper(g, wrapper, i);
    }
    if (ok)
        return places;
    free(places);
    return NULL;
}

/* The kept rows are those whose stacks have costs. */
static bool find_rows(gathering *g) {
    const block_table *b = &g->query->profile->table;
    g->n = b->count;
    g->n_sites = g->spans.items.count;
    g->sites = g->spans.of_row;
    g->callers = large_new(g->n + 1, sizeof *g->callers);
    uint32_t *places = places_of_stacks(g);
    for (size_t i = 0; g->callers && places && i < g->n; i++)
        if (g->sites[i] != SITES_NONE)
            g->callers[i] = places[index_of(&g->query->profile->tree, b->node[i],
                                            b->source[i] == MEMTRACE_EXTERNAL)];
    free(places);
    return g->callers && places;
}

static bool gather_spans(gathering *g) {
    const query_result *q = g->query;
    if (!groups_find_spans(q->profile, q->selection.kept, span_kinds[g->result->by], &g->spans))
        return false;
    g->result->unnamed = calloc(g->spans.items.count + 1, sizeof *g->result->unnamed);
    return g->result->unnamed && find_rows(g);
}

static bool gather_stacks(gathering *g) {
    g->n = g->query->costs.count;
    g->sites = large_new(g->n + 1, sizeof *g->sites);
    g->callers = large_new(g->n + 1, sizeof *g->callers);
    bool ok = libraries_open(&g->libraries, &g->query->lens) && g->sites && g->callers;
    for (size_t i = 0; ok && i < g->n; i++)
        ok = find_entry(g, i);
    g->n_sites = g->result->by == HOTSPOTS_BY_TYPE ? g->types.count : count_places(g) + 1;
    return ok;
}

static bool gather(gathering *g) {
    const profile *p = g->query->profile;
    const place_by by = g->result->by == HOTSPOTS_BY_FUNCTION ? PLACE_BY_FUNCTION : PLACE_BY_LINE;
    return place_table_make(&g->places, p->locations.items, p->locations.count, by) &&
           (hotspots_by_span(g->result->by) ? gather_spans(g) : gather_stacks(g));
}

static void gathering_free(gathering *g) {
    if (g->sites != g->spans.of_row)
        free(g->sites);
    free(g->callers);
    place_table_free(&g->places);
    vec_free(&g->types);
    map64_free(&g->of_type);
    map64_free(&g->wrappers);
    groups_free(&g->spans);
    libraries_close(&g->libraries);
}

bool hotspots_query(const query_result *q, hotspots_by by, hotspots *result) {
    *result = (hotspots){.by = by};
    gathering g = {.query = q, .result = result};
    const bool ok = gather(&g) && sum_up(&g);
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
