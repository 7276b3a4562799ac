/* stats.h: sizes and lifetimes of the sampled blocks as text, JSON, CSV, and as raw vectors. */
#ifndef PRESENT_STATS_H
#define PRESENT_STATS_H

#include "present/report.h"
#include "query/stats.h"

void stats_text(output *o, const report *r, const stats *s, const stats_spec *spec);
void stats_json(output *o, const report *r, const stats *s, const stats_spec *spec);
void stats_csv(output *o, const stats *s, const stats_spec *spec);

/* A row a block, in the order of their births, as CSV. */
void stats_vectors(output *o, const profile *p, const stats *s);

#endif
