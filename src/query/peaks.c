/* peaks.c: visits the points from high to low and joins each to the stretches of its neighbors. A
 * peak keeps the stretch around it in which nothing is higher. How far it stands out is its
 * persistence in the sense of persistent homology. */
#include "query/peaks.h"

#include <math.h>

/* A point of the curve. A stretch is a tree of points with its highest one as the root
 * (union-find). */
typedef struct summit {
    uint64_t live;
    uint32_t of; /* toward the root of its stretch; itself at the root */
    bool seen;
} summit;

typedef struct climb {
    const timeline *timeline;
    summit *points;
    uint32_t *order; /* points, highest first */
    double share;
    peaks_list *list;
} climb;

static uint64_t live_at(const timeline *t, size_t i) {
    return cct_sum(t->points.items[i].live);
}

static uint32_t stretch_of(climb *c, uint32_t i) {
    while (c->points[i].of != i)
        i = c->points[i].of = c->points[c->points[i].of].of;
    return i;
}

/* The variance of a fall is what was live at only one of its ends, in samples. It is at most the
 * sum of what was live at both. */
static bool stands_out(const climb *c, uint64_t live, uint64_t fall) {
    double highest = (double)c->points[c->order[0]].live;
    double variance = (double)live + (double)(live - fall);
    return (double)fall >= c->share * highest && (double)fall > ESTIMATE_NORMAL * sqrt(variance);
}

/* What is live in a point is what is live at its end. */
static uint64_t time_of(const climb *c, uint32_t point) {
    return c->timeline->points.items[point].end - 1;
}

static bool add(climb *c, uint32_t top, uint64_t fall) {
    const summit *s = &c->points[top];
    return !stands_out(c, s->live, fall) ||
           vec_push(c->list, ((peaks_entry){.time = time_of(c, top), .samples = s->live}));
}

/* Joins two stretches at a point: the peak of the lower one has fallen to it. */
static bool join(climb *c, uint32_t point, uint32_t neighbour) {
    uint32_t a = stretch_of(c, point), b = stretch_of(c, neighbour);
    bool a_is_lower =
        c->points[a].live < c->points[b].live || (c->points[a].live == c->points[b].live && a > b);
    uint32_t low = a_is_lower ? a : b, high = a_is_lower ? b : a;
    bool ok = low == point || add(c, low, c->points[low].live - c->points[point].live);
    c->points[low].of = high;
    return ok;
}

static int compare_points(const void *a, const void *b, void *context) {
    const summit *points = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (points[x].live != points[y].live)
        return points[x].live > points[y].live ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int compare_peaks(const void *a, const void *b) {
    const peaks_entry *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

static bool climb_down(climb *c, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t at = c->order[i];
        c->points[at].seen = true;
        if (at > 0 && c->points[at - 1].seen && !join(c, at, at - 1))
            return false;
        if (at + 1 < n && c->points[at + 1].seen && !join(c, at, at + 1))
            return false;
    }
    uint64_t live = n ? c->points[c->order[0]].live : 0;
    return live == 0 ||
           vec_push(c->list, ((peaks_entry){.time = time_of(c, c->order[0]), .samples = live}));
}

bool peaks_query(const timeline *t, double share, size_t most, peaks_list *list) {
    size_t n = t->points.count;
    *list = (peaks_list){0};
    climb c = {.timeline = t,
               .points = malloc((n + 1) * sizeof *c.points),
               .order = malloc((n + 1) * sizeof *c.order),
               .share = share,
               .list = list};
    bool ok = c.points && c.order;
    for (uint32_t i = 0; ok && i < n; i++) {
        c.points[i] = (summit){.live = live_at(t, i), .of = i};
        c.order[i] = i;
    }
    if (ok && n)
        qsort_r(c.order, n, sizeof *c.order, compare_points, c.points);
    ok = ok && climb_down(&c, n);
    if (ok && list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_peaks);
    if (list->count > most)
        list->count = most;
    free(c.points);
    free(c.order);
    if (!ok)
        vec_free(list);
    return ok;
}
