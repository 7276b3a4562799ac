/* timeline.c: see timeline.h. Each block adds to the points in which something happens to it; what
 * is live is then their running sum. */
#include "analyse/timeline.h"

/* The stretches: point i covers [from + i width, from + (i + 1) width), the last one up to `to`. */
typedef struct scale {
    uint64_t from, to, width;
    double per_micro; /* points: 1 / width */
    size_t n;
} scale;

static scale make_scale(const profile *p, const timeline_spec *spec) {
    scale s = {.from = spec->from, .to = spec->to};
    if (s.to > p->duration)
        s.to = p->duration;
    if (s.from > s.to)
        s.from = s.to;
    uint64_t length = s.to - s.from + 1; /* `to` counts */
    s.width = length / spec->points + (length % spec->points > 0);
    s.per_micro = 1 / (double)s.width;
    s.n = (size_t)((length + s.width - 1) / s.width);
    return s;
}

/* What changes within a point. */
typedef struct change {
    int64_t live[CCT_SOURCES];
} change;

typedef struct counting {
    scale scale;
    timeline *result;
    change *changes; /* by point; the first one is what was live before */
} counting;

/* The point of a time, from 1; 0: before all; n + 1: after all. */
static size_t point_at(const scale *s, uint64_t time) {
    if (time < s->from)
        return 0;
    if (time > s->to)
        return s->n + 1;
    /* A division takes several times as long, and there are three a block. */
    uint64_t since = time - s->from, at = (uint64_t)((double)since * s->per_micro);
    if (at * s->width > since)
        at--;
    else if (since - at * s->width >= s->width)
        at++;
    return (size_t)at + 1;
}

static bool within(const scale *s, size_t at) {
    return at > 0 && at <= s->n;
}

static void count_block(counting *c, const block_table *b, size_t row) {
    timeline_point *points = c->result->points.items;
    const scale *s = &c->scale;
    int64_t samples = (int64_t)blocks_samples(b, row);
    unsigned heap = b->source[row];
    size_t born = point_at(s, b->born[row]), died = point_at(s, b->died[row]);
    size_t promoted = point_at(s, b->promoted[row]);
    c->changes[born].live[heap] += samples;
    if (within(s, born))
        points[born - 1].allocated[heap] += (uint64_t)samples;
    if (heap == MEMTRACE_MINOR && b->promoted[row] <= b->died[row] && promoted <= s->n) {
        c->changes[promoted].live[MEMTRACE_MINOR] -= samples;
        c->changes[promoted].live[MEMTRACE_MAJOR] += samples;
        heap = MEMTRACE_MAJOR;
        if (within(s, promoted))
            points[promoted - 1].promoted += (uint64_t)samples;
    }
    if (died <= s->n)
        c->changes[died].live[heap] -= samples;
    if (within(s, died))
        points[died - 1].freed += (uint64_t)samples;
}

static bool make_points(const scale *s, timeline *t) {
    if (!vec_reserve(&t->points, s->n))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t begin = s->from + i * s->width, end = begin + s->width;
        t->points.items[t->points.count++] =
            (timeline_point){.begin = begin, .end = end <= s->to ? end : s->to + 1};
    }
    return true;
}

static void sum_up(const counting *c) {
    change live = c->changes[0];
    for (size_t i = 0; i < c->scale.n; i++)
        for (int heap = 0; heap < CCT_SOURCES; heap++) {
            live.live[heap] += c->changes[i + 1].live[heap];
            c->result->points.items[i].live[heap] = (uint64_t)live.live[heap];
        }
}

bool timeline_query(const profile *p, const timeline_spec *spec, timeline *t) {
    const block_table *b = &p->table;
    *t = (timeline){0};
    counting c = {.scale = make_scale(p, spec), .result = t};
    c.changes = calloc(c.scale.n + 2, sizeof *c.changes);
    bool ok =
        c.changes && make_points(&c.scale, t) &&
        (spec->without_peak || blocks_peak_of(b, spec->kept, &t->peak_time, &t->peak_samples));
    for (size_t i = 0; ok && i < b->count; i++) {
        if (spec->kept && !spec->kept[i])
            continue;
        count_block(&c, b, i);
        if (b->died[i] == BLOCKS_NEVER)
            t->end_samples += blocks_samples(b, i);
    }
    if (ok)
        sum_up(&c);
    else
        timeline_free(t);
    free(c.changes);
    return ok;
}

void timeline_free(timeline *t) {
    vec_free(&t->points);
    *t = (timeline){0};
}

/* ---- by site ----------------------------------------------------------------------------- */

static int compare_sites(const void *a, const void *b) {
    const timeline_site *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return sites_compare_places(x->place, y->place);
}

/* A site each, without their lines yet. */
static bool rank(const profile *p, const sites *all, uint64_t time, timeline_sites *list) {
    const block_table *b = &p->table;
    if (!vec_reserve(list, all->places.count))
        return false;
    for (size_t i = 0; i < all->places.count; i++)
        list->items[list->count++] = (timeline_site){.place = all->places.items[i]};
    for (size_t i = 0; i < b->count; i++)
        if (all->of_row[i] != SITES_NONE && b->born[i] <= time && b->died[i] > time)
            list->items[all->of_row[i]].samples += blocks_samples(b, i);
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_sites);
    return true;
}

static bool draw(const profile *p, const sites *all, timeline_spec spec, uint8_t *kept,
                 timeline_site *s) {
    for (size_t i = 0; i < p->table.count; i++)
        kept[i] = all->of_row[i] != SITES_NONE && all->places.items[all->of_row[i]] == s->place;
    spec.kept = kept;
    return timeline_query(p, &spec, &s->line);
}

bool timeline_of_sites(const lens *l, const timeline_spec *spec, bool by_function, uint64_t time,
                       uint64_t top, timeline_sites *list) {
    const profile *p = l->profile;
    sites all = {0};
    uint8_t *kept = malloc(p->table.count + 1);
    *list = (timeline_sites){0};
    bool ok = kept && sites_find(l, spec->kept, by_function, &all) && rank(p, &all, time, list);
    if (ok && top < list->count)
        list->count = (size_t)top;
    for (size_t i = 0; ok && i < list->count; i++)
        ok = draw(p, &all, *spec, kept, &list->items[i]);
    sites_free(&all);
    free(kept);
    if (!ok)
        timeline_sites_free(list);
    return ok;
}

void timeline_sites_free(timeline_sites *list) {
    for (size_t i = 0; i < list->count; i++)
        timeline_free(&list->items[i].line);
    vec_free(list);
}

/* ---- amounts ----------------------------------------------------------------------------- */

static estimate scaled(estimate e, double factor) {
    return (estimate){.value = e.value * factor, .low = e.low * factor, .high = e.high * factor};
}

estimate timeline_bytes(const profile *p, uint64_t samples) {
    return scaled(estimate_words(samples, p->info.sample_rate), p->info.word_size / 8.0);
}

estimate timeline_rate(const profile *p, uint64_t samples, uint64_t micros) {
    return scaled(timeline_bytes(p, samples), micros ? 1e6 / (double)micros : 0);
}
