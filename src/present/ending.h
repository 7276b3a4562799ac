/* ending.h: that a trace ends before what it records, in words and as JSON. Whether it does is
 * decided by the reader of traces alone (trace/reader_end.c). */
#ifndef PRESENT_ENDING_H
#define PRESENT_ENDING_H

#include "present/figures.h"

/* A line, if there is something to say. */
void ending_text(output *o, const profile *p);

/* `,"ends_early":{"time":…,"how":"early","lost_allocations":…,"reason":…}`, likewise. */
void ending_json(output *o, const profile *p);

/* Of an error: `exact` is no more than `exact up to 1.20 s`. */
figure_range ending_error(const profile *p, figure_range error);

#endif
