/* timeline.h: what was live and how fast was allocated as time went by, and beside it what the
 * system saw: as sparklines, JSON, CSV. */
#ifndef PRESENT_TIMELINE_H
#define PRESENT_TIMELINE_H

#include "present/report.h"
#include "profile/gauges.h"
#include "query/timeline.h"

enum { TIMELINE_BESIDE = 14 }; /* columns of text before the points of a row */

typedef struct timeline_view {
    const timeline *all;
    const gauge_list *gauges;
    const timeline_site *sites; /* largest first */
    size_t n_sites;
    bool by_function;
} timeline_view;

void timeline_text(output *o, const report *r, const timeline_view *view);
void timeline_json(output *o, const report *r, const timeline_view *view);
void timeline_csv(output *o, const report *r, const timeline_view *view);

#endif
