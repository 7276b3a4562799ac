/* span_map.c: sorts the ranges and sweeps over them once, with a stack of the open ones. A look-up
 * is then one binary search. */
#include "symbolize/span_map.h"

typedef VEC(const span *) span_stack;

bool span_map_add(span_map *map, uint64_t low, uint64_t high, uint32_t value) {
    if (low >= high)
        return true;
    return vec_push(
        &map->spans,
        ((span){.low = low, .high = high, .value = value, .order = (uint32_t)map->spans.count}));
}

static int compare_spans(const void *left, const void *right) {
    const span *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->high != b->high)
        return a->high > b->high ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static bool put_edge(span_map *map, uint64_t start, uint32_t value) {
    size_t n = map->edges.count;
    if (n && map->edges.items[n - 1].start == start) {
        map->edges.items[n - 1].value = value;
        return true;
    }
    if (n && map->edges.items[n - 1].value == value)
        return true;
    return vec_push(&map->edges, ((span_edge){.start = start, .value = value}));
}

/* Closes the open ranges that end at or before `limit`. */
static bool close_spans(span_map *map, span_stack *open, uint64_t limit) {
    while (open->count && open->items[open->count - 1]->high <= limit) {
        uint64_t end = open->items[open->count - 1]->high;
        while (open->count && open->items[open->count - 1]->high <= end)
            open->count--;
        uint32_t outer = open->count ? open->items[open->count - 1]->value : SPAN_NONE;
        if (!put_edge(map, end, outer))
            return false;
    }
    return true;
}

bool span_map_seal(span_map *map) {
    span_stack open = {0};
    bool ok = true;
    if (map->spans.count)
        qsort(map->spans.items, map->spans.count, sizeof *map->spans.items, compare_spans);
    for (size_t i = 0; i < map->spans.count && ok; i++) {
        const span *s = &map->spans.items[i];
        ok = close_spans(map, &open, s->low) && put_edge(map, s->low, s->value) &&
             vec_push(&open, s);
    }
    ok = ok && close_spans(map, &open, UINT64_MAX);
    vec_free(&open);
    vec_free(&map->spans);
    return ok;
}

uint32_t span_map_find(const span_map *map, uint64_t address) {
    size_t low = 0, high = map->edges.count; /* the first edge after the address is in this range */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->edges.items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? map->edges.items[low - 1].value : SPAN_NONE;
}

void span_map_free(span_map *map) {
    vec_free(&map->spans);
    vec_free(&map->edges);
}
