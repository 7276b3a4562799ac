/* sites.c: equal locations are one place, found once per location; the location of a stack is found
 * once per stack. */
#include "query/sites.h"

#include <string.h>

#include "base/large.h"
#include "query/place_table.h"

typedef struct search {
    const lens *lens;
    place_table table;
    uint32_t *by_stack[2]; /* by whether it is external, and stack: index into `places` */
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

/* Returns the place of a node's blocks; SITES_NONE when there is no memory. */
static uint32_t place_of(search *s, sites *result, map64 *numbers, uint32_t node, bool external) {
    uint32_t wrapper, location = lens_site(s->lens, node, external, &wrapper).location;
    uint64_t key = location == LENS_NOWHERE ? UINT64_MAX : s->table.of_location[location];
    uint32_t number;
    if (!map64_number(numbers, key, &number) ||
        (number == result->places.count &&
         !vec_push(&result->places, lens_location(s->lens, location))))
        return SITES_NONE;
    return number;
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
        uint32_t *known = &s->by_stack[external][cct_stack(&s->lens->profile->tree, b->node[i])];
        if (*known == SITES_NONE)
            *known = place_of(s, result, &numbers, b->node[i], external);
        result->of_row[i] = *known;
        ok = *known != SITES_NONE;
    }
    map64_free(&numbers);
    return ok;
}

bool sites_find(const lens *l, const uint8_t *kept, bool by_function, sites *result) {
    const profile *p = l->profile;
    search s = {.lens = l,
                .by_stack = {large_none(p->tree.n_stacks + 1), large_none(p->tree.n_stacks + 1)}};
    *result = (sites){.of_row = large_none(p->table.count + 1)};
    bool ok = s.by_stack[0] && s.by_stack[1] && result->of_row &&
              place_table_make(&s.table, p->locations.items, p->locations.count,
                               by_function ? PLACE_BY_FUNCTION : PLACE_BY_LINE) &&
              assign(&s, kept, result);
    place_table_free(&s.table);
    free(s.by_stack[0]);
    free(s.by_stack[1]);
    if (!ok)
        sites_free(result);
    return ok;
}

void sites_free(sites *s) {
    vec_free(&s->places);
    free(s->of_row);
    *s = (sites){0};
}
