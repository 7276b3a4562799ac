/* timeline_amounts.h: what the timeline shows at a point, whatever shows it: one number of a
 * series, as a cost or as a figure. For the timeline's own files. */
#ifndef REPORTS_TIMELINE_AMOUNTS_H
#define REPORTS_TIMELINE_AMOUNTS_H

#include "reports/timeline.h"

/* What a row or column shows: one number a point. LIVE_HEAP is of one heap, a memtrace_source, of
 * which the others take no notice. */
typedef enum timeline_series { LIVE, LIVE_HEAP, ALLOCATED, PROMOTED, FREED } timeline_series;

/* In what the report counts: bytes; or blocks, or bytes times seconds. */
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

/* Whether groups are places in the program. */
static inline bool timeline_by_place(const timeline_report *r) {
    return r->by == GROUPS_BY_LINE || r->by == GROUPS_BY_FUNCTION;
}

/* Whether a series is of byte-seconds that are held within a point. */
bool timeline_is_held(const timeline_report *r, timeline_series s);

/* By how much what is in a point is divided: of a rate, its length, as the last one may be shorter
 * than the others. */
double timeline_seconds(const timeline_point *p, timeline_series s);

/* What is known at point `i`. */
cost timeline_cost_at(const timeline_report *r, size_t i, timeline_series s, int heap);

/* The same with what may have been missed, divided by `seconds`. */
figure timeline_figure_at(const timeline_report *r, size_t i, timeline_series s, int heap,
                          double seconds);

/* The most that was live. Of memory, the order of events may leave open how much that was. */
cost timeline_peak_of(const timeline_report *r);
figure timeline_peak_figure(const timeline_report *r);

figure timeline_end_figure(const timeline_report *r);

/* What is said of it in words and lines; `sampled`: the trace has samples. */
void timeline_text(document *d, const timeline_report *r, bool sampled);

#endif
