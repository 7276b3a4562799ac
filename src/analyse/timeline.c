/* timeline.c: see timeline.h. Each block adds to the points in which something happens to it; what
 * is live is then their running sum. */
#include "analyse/timeline.h"

#include <math.h>
#include <string.h>

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

/* Of blocks: those that come, and those that go. */
typedef struct change_number {
    cost came[CCT_SOURCES], went[CCT_SOURCES];
} change_number;

typedef struct counting {
    scale scale;
    timeline *result;
    change *changes;        /* by point; the first one is what was live before */
    change_number *numbers; /* the same; NULL: not asked for */
    double heaviest;        /* of the blocks so far */
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

/* The points in which something happens to a block. */
typedef struct fate {
    size_t born, promoted, died;
    unsigned first, last; /* heap: when it is born, and when it dies */
    bool moves;           /* from the one to the other, not after all points */
} fate;

static fate fate_of(const scale *s, const block_table *b, size_t row) {
    fate f = {.born = point_at(s, b->born[row]),
              .promoted = point_at(s, b->promoted[row]),
              .died = point_at(s, b->died[row]),
              .first = b->source[row],
              .last = b->source[row]};
    f.moves = f.first == MEMTRACE_MINOR && b->promoted[row] <= b->died[row] && f.promoted <= s->n;
    if (f.moves)
        f.last = MEMTRACE_MAJOR;
    return f;
}

static void count_samples(const counting *c, const fate *f, uint64_t samples) {
    timeline_point *points = c->result->points.items;
    const scale *s = &c->scale;
    c->changes[f->born].live[f->first] += (int64_t)samples;
    if (within(s, f->born))
        points[f->born - 1].allocated[f->first] += samples;
    if (f->moves) {
        c->changes[f->promoted].live[f->first] -= (int64_t)samples;
        c->changes[f->promoted].live[f->last] += (int64_t)samples;
        if (within(s, f->promoted))
            points[f->promoted - 1].promoted += samples;
    }
    if (f->died <= s->n)
        c->changes[f->died].live[f->last] -= (int64_t)samples;
    if (within(s, f->died))
        points[f->died - 1].freed += samples;
}

static void count_number(counting *c, const fate *f, const cost *one) {
    timeline_numbers *numbers = c->result->numbers.items;
    const scale *s = &c->scale;
    c->heaviest = one->heaviest > c->heaviest ? one->heaviest : c->heaviest;
    cost_add(&c->numbers[f->born].came[f->first], one);
    if (within(s, f->born))
        cost_add(&numbers[f->born - 1].allocated[f->first], one);
    if (f->moves) {
        cost_add(&c->numbers[f->promoted].went[f->first], one);
        cost_add(&c->numbers[f->promoted].came[f->last], one);
        if (within(s, f->promoted))
            cost_add(&numbers[f->promoted - 1].promoted, one);
    }
    if (f->died <= s->n)
        cost_add(&c->numbers[f->died].went[f->last], one);
    if (within(s, f->died))
        cost_add(&numbers[f->died - 1].freed, one);
}

static void count_block(counting *c, const profile *p, size_t row) {
    const block_table *b = &p->table;
    const fate f = fate_of(&c->scale, b, row);
    timeline *t = c->result;
    const bool stays = b->died[row] == BLOCKS_NEVER;
    count_samples(c, &f, blocks_samples(b, row));
    if (stays)
        t->end_samples += blocks_samples(b, row);
    if (!c->numbers)
        return;
    const cost one = cost_of_number(p, row);
    count_number(c, &f, &one);
    if (stays)
        cost_add(&t->end_number, &one);
    if (b->born[row] <= t->peak_time && b->died[row] > t->peak_time)
        cost_add(&t->peak_number, &one);
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

static bool make_numbers(counting *c) {
    const size_t n = c->scale.n;
    timeline *t = c->result;
    c->numbers = calloc(n + 2, sizeof *c->numbers);
    if (!c->numbers || !vec_reserve(&t->numbers, n))
        return false;
    memset(t->numbers.items, 0, n * sizeof *t->numbers.items);
    t->numbers.count = n;
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

/* What came and did not go. Of none, nothing may be left of what sums have lost by rounding; of
 * some, which is the heaviest is not known, only that of all. */
static cost difference(const counting *c, const cost *came, const cost *went) {
    if (came->blocks == went->blocks)
        return (cost){0};
    return (cost){.samples = came->samples - went->samples,
                  .blocks = came->blocks - went->blocks,
                  .weight = fmax(0, came->weight - went->weight),
                  .squares = fmax(0, came->squares - went->squares),
                  .heaviest = c->heaviest};
}

static void sum_up_numbers(const counting *c) {
    change_number sum = {0};
    for (size_t i = 0; c->numbers && i <= c->scale.n; i++)
        for (int heap = 0; heap < CCT_SOURCES; heap++) {
            cost_add(&sum.came[heap], &c->numbers[i].came[heap]);
            cost_add(&sum.went[heap], &c->numbers[i].went[heap]);
            if (i > 0)
                c->result->numbers.items[i - 1].live[heap] =
                    difference(c, &sum.came[heap], &sum.went[heap]);
        }
}

bool timeline_query(const profile *p, const timeline_spec *spec, timeline *t) {
    const block_table *b = &p->table;
    *t = (timeline){0};
    counting c = {.scale = make_scale(p, spec), .result = t};
    c.changes = calloc(c.scale.n + 2, sizeof *c.changes);
    bool ok =
        c.changes && make_points(&c.scale, t) && (!spec->numbers || make_numbers(&c)) &&
        (spec->without_peak || blocks_peak_of(b, spec->kept, &t->peak_time, &t->peak_samples));
    for (size_t i = 0; ok && i < b->count; i++)
        if (!spec->kept || spec->kept[i])
            count_block(&c, p, i);
    if (ok) {
        sum_up(&c);
        sum_up_numbers(&c);
    } else {
        timeline_free(t);
    }
    free(c.changes);
    free(c.numbers);
    return ok;
}

void timeline_free(timeline *t) {
    vec_free(&t->points);
    vec_free(&t->numbers);
    *t = (timeline){0};
}

/* ---- by site ----------------------------------------------------------------------------- */

static int compare_sites(const void *a, const void *b) {
    const timeline_site *x = a, *y = b;
    if (x->number.weight != y->number.weight)
        return x->number.weight > y->number.weight ? -1 : 1;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return sites_compare_places(x->place, y->place);
}

static void add_live(const profile *p, bool number, size_t row, timeline_site *s) {
    s->samples += blocks_samples(&p->table, row);
    if (number) {
        const cost one = cost_of_number(p, row);
        cost_add(&s->number, &one);
    }
}

/* A site each, without their lines yet. */
static bool rank(const profile *p, const sites *all, uint64_t time, bool numbers,
                 timeline_sites *list) {
    const block_table *b = &p->table;
    if (!vec_reserve(list, all->places.count))
        return false;
    for (size_t i = 0; i < all->places.count; i++)
        list->items[list->count++] = (timeline_site){.place = all->places.items[i]};
    for (size_t i = 0; i < b->count; i++)
        if (all->of_row[i] != SITES_NONE && b->born[i] <= time && b->died[i] > time)
            add_live(p, numbers, i, &list->items[all->of_row[i]]);
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
    bool ok = kept && sites_find(l, spec->kept, by_function, &all) &&
              rank(p, &all, time, spec->numbers, list);
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
