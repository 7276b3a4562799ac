/* gauges.c: see gauges.h. There are only a handful of names, so a list is searched. */
#include "profile/gauges.h"

#include <string.h>

static gauge *named(gauge_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].name == name) /* interned */
            return &list->items[i];
    return vec_push(list, (gauge){.name = name}) ? &list->items[list->count - 1] : NULL;
}

static int compare_readings(const void *a, const void *b) {
    const gauge_reading *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* The domains follow one another in the file, so their readings are not in order yet. */
bool gauges_find(const profile *p, gauge_list *list) {
    *list = (gauge_list){0};
    for (size_t i = 0; i < p->marks.count; i++) {
        const profile_mark *m = &p->marks.items[i];
        if (!m->is_gauge)
            continue;
        gauge *g = named(list, m->name);
        gauge_reading r = {.time = m->time, .bytes = m->value * (p->info.word_size / 8)};
        if (!g || !vec_push(&g->readings, r)) {
            gauges_free(list);
            return false;
        }
    }
    for (size_t i = 0; i < list->count; i++)
        qsort(list->items[i].readings.items, list->items[i].readings.count, sizeof(gauge_reading),
              compare_readings);
    return true;
}

void gauges_free(gauge_list *list) {
    for (size_t i = 0; i < list->count; i++)
        vec_free(&list->items[i].readings);
    vec_free(list);
}

static bool is_systems(const gauge *g) {
    static const char *const names[] = {"rss", "anonymous", "heap"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(g->name, names[i]) == 0)
            return true;
    return false;
}

const char *gauges_source(const gauge_list *list) {
    for (size_t i = 0; i < list->count; i++)
        if (!is_systems(&list->items[i]))
            return "the system and the runtime";
    return "the system";
}

/* Returns how many readings are before a moment. */
static size_t count_before(const gauge *g, uint64_t time) {
    size_t low = 0, high = g->readings.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (g->readings.items[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const gauge_reading *gauge_at(const gauge *g, uint64_t time) {
    size_t n = time == UINT64_MAX ? g->readings.count : count_before(g, time + 1);
    return n > 0 ? &g->readings.items[n - 1] : NULL;
}

const gauge_reading *gauge_most(const gauge *g, uint64_t begin, uint64_t end) {
    size_t first = count_before(g, begin), last = count_before(g, end);
    if (first == last)
        return first > 0 ? &g->readings.items[first - 1] : NULL;
    const gauge_reading *most = &g->readings.items[first];
    for (size_t i = first + 1; i < last; i++)
        if (g->readings.items[i].bytes > most->bytes)
            most = &g->readings.items[i];
    return most;
}
