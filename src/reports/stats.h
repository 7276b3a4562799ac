/* stats.h: the report of `stats`: sizes and lifetimes of the sampled blocks and of the program's
 * blocks. */
#ifndef REPORTS_STATS_H
#define REPORTS_STATS_H

#include "query/stats.h"
#include "reports/report.h"

/* A part of the blocks, and its name. */
typedef struct stats_row {
    const stats_part *part;
    char name[24], blocks[48];
} stats_row;

/* A row of a histogram. */
typedef struct stats_bin {
    uint64_t blocks, of;
    char name[48];
} stats_bin;

/* An estimate as text, because the rows of its table have different units. */
typedef struct stats_line {
    char value[48], ends[96], name[64];
} stats_line;

/* The data of the report's tables. It must outlive the document, as must what it points to. */
typedef struct stats_report {
    const report *report;
    const stats *stats;
    const stats_spec *spec;
    stats_bin sizes[STATS_N_SIZES], events[STATS_DECADES], micros[STATS_DECADES];
    stats_line program[STATS_N_SIZES + 3], held[STATS_N_SIZES];
} stats_report;

void stats_document(document *d, stats_report *r);

#endif
