/* timeline.h: the report of `timeline`: live memory and allocation rates over time, together with
 * what the system reported. */
#ifndef REPORTS_TIMELINE_H
#define REPORTS_TIMELINE_H

#include "profile/gauges.h"
#include "query/peaks.h"
#include "query/timeline.h"
#include "reports/report.h"

/* Width in text of all that is beside the points of a row: the minimum, and what numbers of blocks
 * and names of sites add to it. In columns of characters. */
enum { TIMELINE_BESIDE = 46, TIMELINE_OF_BLOCKS = 14, TIMELINE_OF_SITES = 22 };

/* The data of the report's tables. It must outlive the document, as must what it points to. */
typedef struct timeline_report {
    const report *report;
    const timeline *timeline; /* of all blocks, or of one site */
    const gauge_list *gauges;
    groups_by by;                 /* the kind of groups */
    const timeline_group *groups; /* as returned by timeline_of_groups */
    size_t n_groups;
    const struct timeline_report *of_groups; /* owned by the document, like the next four */
    const double *at_points;      /* readings of gauges, sorted by point, then by gauge */
    const double *of_gauges;      /* readings of gauges, sorted by gauge, then by point */
    const double *by_point;       /* live amounts of groups, sorted by point, then by group */
    const char *const *csv_names; /* names of the groups; NULL: no groups are shown */
} timeline_report;

typedef struct timeline_peak {
    uint64_t time; /* microseconds */
    figure live;
} timeline_peak;

void timeline_document(document *d, timeline_report *r);

/* Return single tables, which use the document's memory: the points; the readings of each gauge at
 * the ends of points; the peaks of a timeline; the groups. */
table timeline_points(const timeline_report *r);
table timeline_gauges(document *d, timeline_report *r);
table timeline_peaks(const timeline_peak *rows, size_t n);
table timeline_layers(document *d, timeline_report *r);

/* Return the name of a group that is not a place, and a filter that keeps its blocks. */
const char *timeline_group_name(document *d, groups_by by, const group *g);
const char *timeline_group_filter(document *d, groups_by by, const group *g);

#endif
