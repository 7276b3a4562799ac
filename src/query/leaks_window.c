/* leaks_window.c: finds when growth stops counting. A program that frees its memory before it ends
 * would otherwise show no leak. The beginning of a clean-up is where much is freed and little
 * allocated from then on, looked for in the points of a timeline or, if the clock is too coarse, in
 * the order of events. */
#include "query/leaks.h"

#include <stdlib.h>

#include "query/timeline.h"

/* A clean-up lies in the last EXIT_SHARE of the time, frees more than EXIT_FREED of what is live,
 * and allocates less than EXIT_ALLOCATED of what it frees. At the very end LAST_FREED is enough,
 * because a program may leave much of its memory to the system. */
#define EXIT_SHARE     0.5
#define EXIT_FREED     0.5
#define LAST_FREED     0.05
#define EXIT_ALLOCATED 0.1

/* If this share of what was allocated is live when a clean-up begins, nothing else went on
 * before. */
#define LEAST_KEPT 0.75

enum {
    EXIT_POINTS = 1024,
    LAST_POINTS = 32,
    LAST_EVENTS = 4096, /* allocations, between which a clean-up is looked for */
    LEAST_EXIT = 8      /* blocks that a clean-up found that way must free */
};

/* Returns the last point before a clean-up that lies in the last `n` points and frees at least
 * `share` of what is live; the last point if there is none. In a clean-up, blocks are freed and ten
 * times fewer words allocated. */
static size_t find_exit(const timeline *t, size_t n, double share) {
    const size_t count = t->points.count, first = n < count ? count - n : 1;
    size_t best = count - 1;
    double score = 0, most = 0, freed = 0, most_freed = 0;
    for (size_t i = count - 1; i > 0 && i >= first; i--) {
        const timeline_point *x = &t->points.items[i];
        freed += (double)x->freed;
        score += (double)x->freed - (double)cct_sum(x->allocated) / EXIT_ALLOCATED;
        if (score > most) {
            most = score;
            most_freed = freed;
            best = i - 1;
        }
    }
    if (most_freed <= share * (double)cct_sum(t->points.items[best].live))
        return count - 1;
    /* The clean-up may have begun within the point `best`, if that already lost memory. */
    bool begun =
        best > 0 && cct_sum(t->points.items[best].live) < cct_sum(t->points.items[best - 1].live);
    return begun ? best - 1 : best;
}

/* Samples freed and allocated, by the number of allocations that came later. */
typedef struct last_events {
    double freed[LAST_EVENTS], allocated[LAST_EVENTS];
    uint64_t first_freed[LAST_EVENTS]; /* BLOCKS_NEVER: nothing was freed */
    size_t blocks[LAST_EVENTS];        /* that were freed */
    double live;                       /* at the end */
} last_events;

static void count_last(const block_table *b, last_events *x) {
    for (size_t i = 0; i < LAST_EVENTS; i++)
        x->first_freed[i] = BLOCKS_NEVER;
    for (size_t i = 0; i < b->count; i++) {
        const size_t born = b->count - 1 - blocks_place(b, i);
        const size_t died = b->after[i] == BLOCKS_NOWHERE ? SIZE_MAX : b->count - b->after[i];
        const double samples = (double)blocks_samples(b, i);
        if (born < LAST_EVENTS)
            x->allocated[born] += samples;
        x->live += died == SIZE_MAX ? samples : 0;
        if (died >= LAST_EVENTS)
            continue;
        x->freed[died] += samples;
        x->blocks[died]++;
        if (blocks_died(b, i) < x->first_freed[died])
            x->first_freed[died] = blocks_died(b, i);
    }
}

/* Returns when the clean-up began, by the order of events: it may be over within one tick of the
 * clock, in which the program was still working. BLOCKS_NEVER: there was none. */
static uint64_t find_last_exit(const last_events *x) {
    double freed = 0, score = 0, most = 0, most_freed = 0;
    size_t blocks = 0, most_blocks = 0;
    uint64_t first = BLOCKS_NEVER, begin = BLOCKS_NEVER;
    for (size_t i = 0; i < LAST_EVENTS; i++) {
        freed += x->freed[i];
        blocks += x->blocks[i];
        score += x->freed[i];
        first = x->first_freed[i] < first ? x->first_freed[i] : first;
        if (score > most) {
            most = score;
            most_freed = freed;
            most_blocks = blocks;
            begin = first;
        }
        score -= x->allocated[i] / EXIT_ALLOCATED;
    }
    const bool is_exit =
        most_blocks >= LEAST_EXIT && most_freed > EXIT_FREED * (x->live + most_freed);
    return is_exit ? begin : BLOCKS_NEVER;
}

/* False when there is no memory. */
static bool find_exit_by_order(const profile *p, leaks_window *w) {
    const block_table *b = &p->table;
    if (!b->after || b->count == 0)
        return true;
    last_events *x = calloc(1, sizeof *x);
    if (!x)
        return false;
    count_last(b, x);
    const uint64_t begin = find_last_exit(x);
    free(x);
    if (begin != BLOCKS_NEVER && begin > 0) {
        w->cleaned_up = true;
        w->to = begin - 1;
    }
    return true;
}

/* If the recording ended before the program, no clean-up was recorded. */
static leaks_window early_window(const profile *p) {
    const uint64_t to = p->end.time;
    return (leaks_window){.to = to > 0 && to < p->duration ? to : p->duration};
}

/* What was live when a clean-up began may be all that the program did: build something and finish.
 * Growth is what goes on while other blocks come and go. */
static bool kept_all(const profile *p, uint64_t to) {
    const block_table *b = &p->table;
    uint64_t came = 0, stayed = 0;
    for (size_t i = 0; i < b->count; i++)
        if (blocks_born(b, i) <= to) {
            came += blocks_samples(b, i);
            stayed += blocks_died(b, i) > to ? blocks_samples(b, i) : 0;
        }
    return (double)stayed >= LEAST_KEPT * (double)came;
}

bool leaks_find_window(const profile *p, leaks_window *w) {
    timeline t;
    if (profile_ends_early(p)) {
        *w = early_window(p);
        return true;
    }
    uint64_t late = (uint64_t)((1 - EXIT_SHARE) * (double)p->duration);
    const timeline_spec half = {
        .from = late, .to = TIMELINE_END, .points = EXIT_POINTS, .without_peak = true};
    if (!timeline_query(p, &half, &t))
        return false;
    size_t last = find_exit(&t, EXIT_POINTS, EXIT_FREED);
    if (last + 1 == t.points.count)
        last = find_exit(&t, LAST_POINTS, LAST_FREED);
    w->cleaned_up = last + 1 < t.points.count;
    w->to = w->cleaned_up ? t.points.items[last].end - 1 : p->duration;
    timeline_free(&t);
    if (!w->cleaned_up && !find_exit_by_order(p, w))
        return false;
    w->kept_all = w->cleaned_up && kept_all(p, w->to);
    return true;
}
