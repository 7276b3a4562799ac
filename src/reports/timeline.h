/* timeline.h: the report of `timeline`: what was live and how fast was allocated as time went by,
 * and beside it what the system saw. */
#ifndef REPORTS_TIMELINE_H
#define REPORTS_TIMELINE_H

#include "profile/gauges.h"
#include "query/peaks.h"
#include "query/timeline.h"
#include "reports/report.h"

/* Columns of text beside the points of a row: the least; how much longer numbers of blocks, and
 * names of sites are. */
enum { TIMELINE_BESIDE = 46, TIMELINE_OF_BLOCKS = 14, TIMELINE_OF_SITES = 22 };

/* What its tables refer to; it must outlive the document, as must what it points to. */
typedef struct timeline_report {
    const report *report;
    const timeline *timeline; /* of all, or of one site */
    const gauge_list *gauges;
    groups_by by;                 /* what groups are */
    const timeline_group *groups; /* as timeline_of_groups has them */
    size_t n_groups;
    const struct timeline_report *of_groups; /* of the document, as the next two: */
    const double *at_points;                 /* readings of gauges: by point, and in it by gauge */
    const double *of_gauges;                 /* the same, by gauge */
    const double *by_point;                  /* what is live of groups, by point */
    const char *const *csv_names;            /* of groups; NULL: none are shown */
} timeline_report;

typedef struct timeline_peak {
    uint64_t time; /* microseconds */
    figure live;
} timeline_peak;

void timeline_document(document *d, timeline_report *r);

/* A table alone, which uses the document's memory: the points; what was read of each gauge at their
 * ends; the peaks of such a timeline. */
table timeline_points(const timeline_report *r);
table timeline_gauges(document *d, timeline_report *r);
table timeline_peaks(const timeline_peak *rows, size_t n);
table timeline_layers(document *d, timeline_report *r); /* the groups */

/* What groups by thread and by life are called, and a filter that keeps their blocks. */
const char *timeline_group_name(document *d, groups_by by, const group *g);
const char *timeline_group_filter(document *d, groups_by by, const group *g);

#endif
