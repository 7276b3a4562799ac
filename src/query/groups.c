/* groups.c: threads and classes of lifetimes are small numbers, and an array leads from them to
 * their groups; sites are found through the lens (sites.h). */
#include "query/groups.h"

#include <string.h>

const char *const groups_by_names[] = {
#define GROUPS_BY_TEXT(name, text) text,
    GROUPS_BY(GROUPS_BY_TEXT)
#undef GROUPS_BY_TEXT
        NULL};

enum { SHORTEST = 1000 /* µs */, NUMBERS = UINT16_MAX + 1 /* of threads, and of classes */ };

uint64_t groups_life(uint32_t class) {
    uint64_t least = SHORTEST;
    if (class == 0)
        return 0;
    if (class >= GROUPS_NEVER_FREED)
        return UINT64_MAX;
    while (class -- > 1)
        least *= 10;
    return least;
}

static uint32_t class_of(const block_table *b, size_t row) {
    const uint64_t died = blocks_died(b, row);
    if (died == BLOCKS_NEVER)
        return GROUPS_NEVER_FREED;
    const uint64_t life = died - blocks_born(b, row);
    uint32_t class = 0;
    while (class + 1 < GROUPS_NEVER_FREED && life >= groups_life(class + 1))
        class ++;
    return class;
}

static uint32_t number_of(const block_table *b, size_t row, groups_by by) {
    return by == GROUPS_BY_THREAD ? b->domain[row] : class_of(b, row);
}

static bool find_numbers(const profile *p, const uint8_t *kept, groups_by by, groups *g) {
    const block_table *b = &p->table;
    uint32_t *known = malloc(NUMBERS * sizeof *known);
    g->of_row = malloc((b->count + 1) * sizeof *g->of_row);
    bool ok = known && g->of_row;
    if (known)
        memset(known, 0xff, NUMBERS * sizeof *known); /* SITES_NONE */
    for (size_t i = 0; ok && i < b->count; i++) {
        g->of_row[i] = SITES_NONE;
        if (kept && !kept[i])
            continue;
        const uint32_t number = number_of(b, i, by);
        if (known[number] == SITES_NONE) {
            known[number] = (uint32_t)g->items.count;
            ok = vec_push(&g->items, (group){.number = number});
        }
        g->of_row[i] = known[number];
    }
    free(known);
    return ok;
}

static bool find_places(const lens *l, const uint8_t *kept, groups_by by, groups *g) {
    sites s;
    if (!sites_find(l, kept, by == GROUPS_BY_FUNCTION, &s))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < s.places.count; i++)
        ok = vec_push(&g->items, (group){.place = s.places.items[i]});
    g->of_row = s.of_row;
    s.of_row = NULL;
    sites_free(&s);
    return ok;
}

bool groups_find(const lens *l, const uint8_t *kept, groups_by by, groups *g) {
    *g = (groups){0};
    const bool ok = by == GROUPS_BY_THREAD || by == GROUPS_BY_LIFE
                        ? find_numbers(l->profile, kept, by, g)
                        : find_places(l, kept, by, g);
    if (!ok)
        groups_free(g);
    return ok;
}

void groups_free(groups *g) {
    vec_free(&g->items);
    free(g->of_row);
    *g = (groups){0};
}

int groups_compare(const group *a, const group *b) {
    return a->number != b->number ? (a->number < b->number ? -1 : 1)
                                  : sites_compare_places(a->place, b->place);
}
