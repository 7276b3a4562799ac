/* sites.c: see sites.h. Locations that look the same are one place; that is decided once a
 * location, and which location a stack belongs to once a node. */
#include "query/sites.h"

#include <string.h>

typedef struct search {
    const lens *lens;
    uint32_t *by_location; /* index into `places`; equal for locations that look the same */
    uint32_t *by_node[2];  /* the same, by node and whether it is external */
} search;

int sites_compare_places(const profile_location *a, const profile_location *b) {
    if (a == b)
        return 0;
    if (!a || !b)
        return a ? -1 : 1;
    int order = strcmp(a->file, b->file);
    if (order == 0 && a->line != b->line)
        order = a->line < b->line ? -1 : 1;
    return order ? order : strcmp(a->function, b->function);
}

/* Strings of a profile are equal if their pointers are. */
static int compare_same(const void *a, const void *b, void *context) {
    const search *s = context;
    const profile_location *x = lens_location(s->lens, *(const uint32_t *)a);
    const profile_location *y = lens_location(s->lens, *(const uint32_t *)b);
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* In `by_location`, the first location that looks like each one. */
static bool find_same(search *s, bool by_function) {
    size_t n = s->lens->profile->locations.count;
    uint32_t *sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted)
        return false;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (uint32_t)i;
    if (n)
        qsort_r(sorted, n, sizeof *sorted, compare_same, s);
    for (size_t i = 0, first = 0; i < n; i++) {
        const profile_location *x = lens_location(s->lens, sorted[first]);
        const profile_location *y = lens_location(s->lens, sorted[i]);
        if (x->file != y->file || x->function != y->function ||
            (!by_function && x->line != y->line))
            first = i;
        s->by_location[sorted[i]] = sorted[first];
    }
    free(sorted);
    return true;
}

/* The place of the blocks of a node; SITES_NONE when there is no memory. */
static uint32_t place_of(search *s, sites *result, map64 *numbers, uint32_t node, bool external) {
    uint32_t wrapper, location = lens_site(s->lens, node, external, &wrapper).location;
    uint64_t key = location == LENS_NOWHERE ? UINT64_MAX : s->by_location[location];
    uint32_t *number = map64_put(numbers, key);
    if (!number)
        return SITES_NONE;
    if (*number == MAP64_NONE) {
        *number = (uint32_t)result->places.count;
        if (!vec_push(&result->places, lens_location(s->lens, location)))
            return SITES_NONE;
    }
    return *number;
}

static bool assign(search *s, const uint8_t *kept, sites *result) {
    const block_table *b = &s->lens->profile->table;
    map64 numbers = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < b->count; i++) {
        result->of_row[i] = SITES_NONE;
        if (kept && !kept[i])
            continue;
        bool external = b->source[i] == MEMTRACE_EXTERNAL;
        uint32_t *known = &s->by_node[external][b->node[i]];
        if (*known == SITES_NONE)
            *known = place_of(s, result, &numbers, b->node[i], external);
        result->of_row[i] = *known;
        ok = *known != SITES_NONE;
    }
    map64_free(&numbers);
    return ok;
}

static uint32_t *make_unknown(size_t n) {
    uint32_t *items = malloc((n + 1) * sizeof *items);
    for (size_t i = 0; items && i < n; i++)
        items[i] = SITES_NONE;
    return items;
}

bool sites_find(const lens *l, const uint8_t *kept, bool by_function, sites *result) {
    const profile *p = l->profile;
    search s = {.lens = l,
                .by_location = make_unknown(p->locations.count),
                .by_node = {make_unknown(cct_count(&p->tree)), make_unknown(cct_count(&p->tree))}};
    *result = (sites){.of_row = make_unknown(p->table.count)};
    bool ok = s.by_location && s.by_node[0] && s.by_node[1] && result->of_row &&
              find_same(&s, by_function) && assign(&s, kept, result);
    free(s.by_location);
    free(s.by_node[0]);
    free(s.by_node[1]);
    if (!ok)
        sites_free(result);
    return ok;
}

void sites_free(sites *s) {
    vec_free(&s->places);
    free(s->of_row);
    *s = (sites){0};
}
