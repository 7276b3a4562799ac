/* timeline.c: each block adds to the points in which something happens to it. What is live is the
 * running sum of that. */
#include "query/timeline.h"

#include <math.h>
#include <string.h>

/* The points: point i covers [from + i width, from + (i + 1) width), the last one up to `to`. */
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
    uint64_t length = s.to - s.from + 1; /* `to` is included */
    s.width = length / spec->points + (length % spec->points > 0);
    s.per_micro = 1 / (double)s.width;
    s.n = (size_t)((length + s.width - 1) / s.width);
    return s;
}

/* The change of what is live within a point. */
typedef struct change {
    int64_t live[CCT_SOURCES];
} change;

/* The change in numbers of blocks: those that come and those that go. */
typedef struct change_number {
    cost came[CCT_SOURCES], went[CCT_SOURCES];
} change_number;

/* For what is held: what is live for part of the point, and the change of what is live for all of
 * it. */
typedef struct holding {
    cost part;
    int64_t samples, blocks;
} holding;

enum { HELD_IN_ALL = CCT_SOURCES, HELD_KINDS };

typedef struct counting {
    scale scale;
    timeline *result;
    change *changes;             /* by point; the first has what was live before */
    change_number *numbers;      /* like `changes`; NULL: not asked for */
    holding (*held)[HELD_KINDS]; /* by point, and by heap and in all; NULL: not asked for */
    double heaviest;             /* of the blocks so far */
} counting;

/* Returns the point of a time, from 1 on; 0: before all points; n + 1: after all. */
static size_t point_at(const scale *s, uint64_t time) {
    if (time < s->from)
        return 0;
    if (time > s->to)
        return s->n + 1;
    /* A division takes several times as long, and there are three per block. */
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
    unsigned first, last; /* heap at its birth and at its death */
    bool moves;           /* from `first` to `last`, by the end of the last point */
} fate;

static fate fate_of(const scale *s, const block_table *b, size_t row) {
    fate f = {.born = point_at(s, blocks_born(b, row)),
              .promoted = point_at(s, blocks_promoted(b, row)),
              .died = point_at(s, blocks_died(b, row)),
              .first = b->source[row],
              .last = b->source[row]};
    f.moves = blocks_promoted(b, row) <= blocks_died(b, row) && f.promoted <= s->n;
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

/* Counts what happens within points. */
static void count_events(const counting *c, const fate *f, const cost *one) {
    timeline_costs *costs = c->result->costs.items;
    const scale *s = &c->scale;
    if (within(s, f->born))
        cost_add(&costs[f->born - 1].allocated[f->first], one);
    if (f->moves && within(s, f->promoted))
        cost_add(&costs[f->promoted - 1].promoted, one);
    if (within(s, f->died))
        cost_add(&costs[f->died - 1].freed, one);
}

static void count_number(counting *c, const fate *f, const cost *one) {
    c->heaviest = one->heaviest > c->heaviest ? one->heaviest : c->heaviest;
    cost_add(&c->numbers[f->born].came[f->first], one);
    if (f->moves) {
        cost_add(&c->numbers[f->promoted].went[f->first], one);
        cost_add(&c->numbers[f->promoted].came[f->last], one);
    }
    if (f->died <= c->scale.n)
        cost_add(&c->numbers[f->died].went[f->last], one);
}

static uint64_t cut(const scale *s, uint64_t time) {
    return time < s->from ? s->from : time > s->to ? s->to : time;
}

/* Adds samples that are held from `begin` until `end`. */
static void hold(const counting *c, int kind, uint64_t begin, uint64_t end, uint64_t samples) {
    const scale *s = &c->scale;
    begin = cut(s, begin);
    end = cut(s, end);
    if (begin >= end)
        return;
    const size_t first = point_at(s, begin) - 1, last = point_at(s, end - 1) - 1;
    const uint64_t whole = s->from + (first + 1) * s->width; /* start of the first whole point */
    const cost head = cost_of_seconds(samples, (double)((whole < end ? whole : end) - begin) / 1e6);
    cost_add(&c->held[first][kind].part, &head);
    if (first == last)
        return;
    const cost tail = cost_of_seconds(samples, (double)(end - s->from - last * s->width) / 1e6);
    cost_add(&c->held[last][kind].part, &tail);
    c->held[first + 1][kind].samples += (int64_t)samples;
    c->held[first + 1][kind].blocks++;
    c->held[last][kind].samples -= (int64_t)samples;
    c->held[last][kind].blocks--;
}

static void hold_block(const counting *c, const block_table *b, size_t row, const fate *f) {
    const uint64_t samples = blocks_samples(b, row), moved = f->moves ? blocks_promoted(b, row) : 0;
    hold(c, HELD_IN_ALL, blocks_born(b, row), blocks_died(b, row), samples);
    hold(c, (int)f->last, f->moves ? moved : blocks_born(b, row), blocks_died(b, row), samples);
    if (f->moves)
        hold(c, (int)f->first, blocks_born(b, row), moved, samples);
}

static void count_block(counting *c, const profile *p, size_t row) {
    const block_table *b = &p->table;
    const fate f = fate_of(&c->scale, b, row);
    timeline *t = c->result;
    const bool stays = blocks_died(b, row) == BLOCKS_NEVER;
    count_samples(c, &f, blocks_samples(b, row));
    if (stays)
        t->end_samples += blocks_samples(b, row);
    if (t->costs.count == 0)
        return;
    const cost one = c->held ? cost_of_life(p, row) : cost_of_number(p, row);
    count_events(c, &f, &one);
    if (c->held)
        hold_block(c, b, row, &f);
    else
        count_number(c, &f, &one);
    if (stays)
        cost_add(&t->end_cost, &one);
    if (blocks_was_live(b, row, t->peak.at))
        cost_add(&t->peak_cost, &one);
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

static bool make_costs(counting *c, measure m) {
    const size_t n = c->scale.n;
    timeline *t = c->result;
    if (m != MEASURE_BLOCKS && m != MEASURE_BYTESECONDS)
        return true;
    if (m == MEASURE_BLOCKS)
        c->numbers = calloc(n + 2, sizeof *c->numbers);
    else
        c->held = calloc(n + 2, sizeof *c->held);
    if ((!c->numbers && !c->held) || !vec_reserve(&t->costs, n))
        return false;
    memset(t->costs.items, 0, n * sizeof *t->costs.items);
    t->costs.count = n;
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

/* Returns what came and did not go. If nothing is left, rounding errors must not remain. If
 * something is, its heaviest block is unknown, so that of all blocks is taken. */
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
                c->result->costs.items[i - 1].live[heap] =
                    difference(c, &sum.came[heap], &sum.went[heap]);
        }
}

/* Returns what is held in a point. What is held for all of the point counts for its whole
 * length. */
static cost held_at(const holding *h, int64_t samples, int64_t blocks, double seconds) {
    cost sum = h->part;
    cost whole = cost_of_seconds((uint64_t)samples, seconds);
    whole.blocks = (uint64_t)blocks;
    if (blocks > 0)
        cost_add(&sum, &whole);
    return sum;
}

static void sum_up_held(const counting *c) {
    int64_t samples[HELD_KINDS] = {0}, blocks[HELD_KINDS] = {0};
    const double seconds = (double)c->scale.width / 1e6;
    for (size_t i = 0; c->held && i < c->scale.n; i++)
        for (int kind = 0; kind < HELD_KINDS; kind++) {
            const holding *h = &c->held[i][kind];
            timeline_costs *costs = &c->result->costs.items[i];
            samples[kind] += h->samples;
            blocks[kind] += h->blocks;
            *(kind == HELD_IN_ALL ? &costs->held : &costs->live[kind]) =
                held_at(h, samples[kind], blocks[kind], seconds);
        }
}

static bool find_peak(const profile *p, const timeline_spec *spec, timeline *t) {
    if (!blocks_peak_of(&p->table, spec->kept, &t->peak))
        return false;
    t->spread = (blocks_spread){.low = t->peak.samples, .high = t->peak.samples};
    return p->info.sample_rate < 1 ||
           blocks_spread_of_most(&p->table, spec->kept, &t->peak, &t->spread);
}

bool timeline_query(const profile *p, const timeline_spec *spec, timeline *t) {
    const block_table *b = &p->table;
    *t = (timeline){0};
    counting c = {.scale = make_scale(p, spec), .result = t};
    c.changes = calloc(c.scale.n + 2, sizeof *c.changes);
    bool ok = c.changes && make_points(&c.scale, t) && make_costs(&c, spec->measure) &&
              (spec->without_peak || find_peak(p, spec, t));
    for (size_t i = 0; ok && i < b->count; i++)
        if (!spec->kept || spec->kept[i])
            count_block(&c, p, i);
    if (ok) {
        sum_up(&c);
        sum_up_numbers(&c);
        sum_up_held(&c);
    } else {
        timeline_free(t);
    }
    free(c.changes);
    free(c.numbers);
    free(c.held);
    return ok;
}

void timeline_free(timeline *t) {
    vec_free(&t->points);
    vec_free(&t->costs);
    *t = (timeline){0};
}

/* ---- by group ---------------------------------------------------------------------------- */

static int compare_groups(const void *a, const void *b) {
    const timeline_group *x = a, *y = b;
    if (x->cost.weight != y->cost.weight)
        return x->cost.weight > y->cost.weight ? -1 : 1;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return groups_compare(&x->of, &y->of);
}

static void add_live(const profile *p, measure m, size_t row, timeline_group *g) {
    g->samples += blocks_samples(&p->table, row);
    if (m == MEASURE_BLOCKS) {
        const cost one = cost_of_number(p, row);
        cost_add(&g->cost, &one);
    }
}

static void add_held(const profile *p, const scale *s, size_t row, timeline_group *g) {
    const block_table *b = &p->table;
    const uint64_t held = cut(s, blocks_died(b, row)) - cut(s, blocks_born(b, row));
    const cost one = cost_of_seconds(blocks_samples(b, row), (double)held / 1e6);
    cost_add(&g->cost, &one);
}

/* Makes all groups, without their lines yet, and sorts them. */
static bool rank(const profile *p, const groups *all, blocks_moment at, const timeline_spec *spec,
                 timeline_groups *list) {
    const block_table *b = &p->table;
    const scale s = make_scale(p, spec);
    if (!vec_reserve(list, all->items.count))
        return false;
    for (size_t i = 0; i < all->items.count; i++)
        list->items[list->count++] =
            (timeline_group){.of = all->items.items[i], .index = (uint32_t)i};
    for (size_t i = 0; i < b->count; i++) {
        if (all->of_row[i] == SITES_NONE)
            continue;
        timeline_group *g = &list->items[all->of_row[i]];
        if (blocks_was_live(b, i, at))
            add_live(p, spec->measure, i, g);
        if (spec->measure == MEASURE_BYTESECONDS)
            add_held(p, &s, i, g);
    }
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_groups);
    return true;
}

static int compare_numbers(const void *a, const void *b) {
    const timeline_group *x = a, *y = b;
    return groups_compare(&x->of, &y->of);
}

static bool draw(const profile *p, const groups *all, timeline_spec spec, uint8_t *kept,
                 timeline_group *g) {
    for (size_t i = 0; i < p->table.count; i++)
        kept[i] = all->of_row[i] == g->index; /* a group's index is never SITES_NONE */
    spec.kept = kept;
    return timeline_query(p, &spec, &g->line);
}

bool timeline_of_groups(const lens *l, const timeline_spec *spec, groups_by by, blocks_moment at,
                        uint64_t top, timeline_groups *list) {
    const profile *p = l->profile;
    groups all = {0};
    uint8_t *kept = malloc(p->table.count + 1);
    *list = (timeline_groups){0};
    bool ok = kept && groups_find(l, spec->kept, by, &all) && rank(p, &all, at, spec, list);
    if (ok && top < list->count)
        list->count = (size_t)top;
    if (ok && by == GROUPS_BY_LIFE && list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_numbers);
    for (size_t i = 0; ok && i < list->count; i++)
        ok = draw(p, &all, *spec, kept, &list->items[i]);
    groups_free(&all);
    free(kept);
    if (!ok)
        timeline_groups_free(list);
    return ok;
}

void timeline_groups_free(timeline_groups *list) {
    for (size_t i = 0; i < list->count; i++)
        timeline_free(&list->items[i].line);
    vec_free(list);
}
