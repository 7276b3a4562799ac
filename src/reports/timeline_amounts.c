/* timeline_amounts.c: a number at a point comes from the counted samples, or, if the measure does
 * not count samples, from costs. */
#include "reports/timeline_amounts.h"

uint64_t timeline_samples(const timeline_point *p, timeline_series s, int heap) {
    switch (s) {
    case LIVE:
        return cct_sum(p->live);
    case LIVE_HEAP:
        return p->live[heap];
    case ALLOCATED:
        return cct_sum(p->allocated);
    case PROMOTED:
        return p->promoted;
    default:
        return p->freed;
    }
}

static cost sum_of(const cost *heaps) {
    cost sum = {0};
    for (int i = 0; i < CCT_SOURCES; i++)
        cost_add(&sum, &heaps[i]);
    return sum;
}

static cost cost_of_series(const timeline_costs *c, timeline_series s, int heap, bool held) {
    switch (s) {
    case LIVE:
        return held ? c->held : sum_of(c->live);
    case LIVE_HEAP:
        return c->live[heap];
    case ALLOCATED:
        return sum_of(c->allocated);
    case PROMOTED:
        return c->promoted;
    default:
        return c->freed;
    }
}

static cost of_samples(uint64_t samples) {
    return (cost){.samples = samples, .weight = (double)samples};
}

bool timeline_is_held(const timeline_report *r, timeline_series s) {
    return s < ALLOCATED && timeline_has_costs(r->timeline) &&
           r->report->query->measure == MEASURE_BYTESECONDS;
}

static bool is_rate(timeline_series s) {
    return s >= ALLOCATED;
}

double timeline_seconds(const timeline_point *p, timeline_series s) {
    return is_rate(s) ? timeline_length(p) : 1;
}

static cost or_missed(const timeline_report *r, cost c) {
    const query_result *q = r->report->query;
    return cost_or_missed(q->profile, q->measure, q->may, c);
}

cost timeline_cost_at(const timeline_report *r, size_t i, timeline_series s, int heap) {
    return timeline_has_costs(r->timeline)
               ? cost_of_series(&r->timeline->costs.items[i], s, heap, timeline_is_held(r, s))
               : of_samples(timeline_samples(timeline_point_at(r, i), s, heap));
}

/* Returns the cost at a point, with blocks that were missed. A missed block cannot be held for
 * longer than the point lasts. */
static cost cost_at(const timeline_report *r, size_t i, timeline_series s, int heap) {
    cost c = timeline_cost_at(r, i, s, heap);
    if (timeline_has_costs(r->timeline) && c.blocks == 0)
        c = or_missed(r, c);
    if (timeline_is_held(r, s) && c.blocks == 0)
        c.heaviest = timeline_length(timeline_point_at(r, i));
    return c;
}

/* Returns the limits for blocks that were missed at a point. */
static filter_bounds may_at(const timeline_report *r, size_t i, timeline_series s) {
    const timeline_point *point = timeline_point_at(r, i);
    const uint64_t length = point->end - point->begin + 1;
    filter_bounds may = r->report->query->may;
    if (timeline_is_held(r, s) && (may.life_below == 0 || length < may.life_below))
        may.life_below = length;
    return may;
}

static figure figure_of_samples(const report *r, uint64_t samples) {
    return figure_of_cached(r->figures, r->query->profile, samples);
}

figure timeline_figure_at(const timeline_report *r, size_t i, timeline_series s, int heap,
                          double seconds) {
    const cost c = cost_at(r, i, s, heap);
    figure f = timeline_has_costs(r->timeline)
                   ? report_figure_within(r->report, may_at(r, i, s), &c)
                   : figure_of_samples(r->report, c.samples);
    f.value /= seconds;
    f.low /= seconds;
    f.high /= seconds;
    f.margin /= seconds;
    return f;
}

cost timeline_peak_of(const timeline_report *r) {
    const timeline *t = r->timeline;
    return timeline_has_costs(t) ? or_missed(r, t->peak_cost) : of_samples(t->peak.samples);
}

figure timeline_peak_figure(const timeline_report *r) {
    const cost c = timeline_peak_of(r);
    return timeline_has_costs(r->timeline)
               ? report_figure(r->report, &c)
               : figure_between(r->report->query->profile, r->timeline->peak.samples,
                                r->timeline->spread);
}

figure timeline_end_figure(const timeline_report *r) {
    const timeline *t = r->timeline;
    const cost c = timeline_has_costs(t) ? or_missed(r, t->end_cost) : of_samples(t->end_samples);
    return report_figure(r->report, &c);
}
