/* timeline_amounts.h: the numbers of the timeline at a point, however they are shown: one number of
 * a series, as a cost or as a figure. Only for the timeline's own files. */
#ifndef REPORTS_TIMELINE_AMOUNTS_H
#define REPORTS_TIMELINE_AMOUNTS_H

#include "reports/timeline.h"

/* A series has one number per point, and is shown as a row or column. LIVE_HEAP is about one heap,
 * a memtrace_source; the other series ignore the argument `heap`. */
typedef enum timeline_series { LIVE, LIVE_HEAP, ALLOCATED, PROMOTED, FREED } timeline_series;

/* Returns whether the report counts blocks, or bytes times seconds, instead of bytes. */
static inline bool timeline_has_costs(const timeline *t) {
    return t->costs.count > 0;
}

static inline double timeline_length(const timeline_point *p) {
    return (double)(p->end - p->begin) / 1e6;
}

static inline const timeline_point *timeline_point_at(const timeline_report *r, size_t i) {
    return &r->timeline->points.items[i];
}

uint64_t timeline_samples(const timeline_point *p, timeline_series s, int heap);

/* Returns whether groups are places in the program. */
static inline bool timeline_by_place(const timeline_report *r) {
    return r->by == GROUPS_BY_LINE || r->by == GROUPS_BY_FUNCTION;
}

/* Returns whether the numbers of a series are byte-seconds held within a point. */
bool timeline_is_held(const timeline_report *r, timeline_series s);

/* Returns the divisor of a point's amount. For a rate, that is the point's length in seconds; the
 * last point may be shorter than the others. */
double timeline_seconds(const timeline_point *p, timeline_series s);

/* Returns the cost that was recorded at point `i`. */
cost timeline_cost_at(const timeline_report *r, size_t i, timeline_series s, int heap);

/* Returns the estimate for that cost, which includes blocks that were missed, divided by
 * `seconds`. */
figure timeline_figure_at(const timeline_report *r, size_t i, timeline_series s, int heap,
                          double seconds);

/* Return the most that was live. For memory, an unknown order of events may make this uncertain. */
cost timeline_peak_of(const timeline_report *r);
figure timeline_peak_figure(const timeline_report *r);

figure timeline_end_figure(const timeline_report *r);

/* Adds the sentences and rows for text. `sampled`: the trace has samples. */
void timeline_text(document *d, const timeline_report *r, bool sampled);

#endif
