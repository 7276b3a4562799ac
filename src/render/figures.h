/* figures.h: figures as they are written: in JSON, as bars, as columns of a terminal. */
#ifndef RENDER_FIGURES_H
#define RENDER_FIGURES_H

#include "query/figure.h"
#include "render/output.h"

/* The columns of a terminal that a text takes. */
size_t figure_columns(const char *text);

/* As few digits as give the same number back, and all of a whole one; null of what is no number, or
 * infinite. */
void figure_json_number(output *o, double x);

/* `share` of `width` characters as a bar of blocks, in eighths of a character; at least the
 * thinnest one if it is not 0. Without trailing blanks. */
void figure_bar(output *o, double share, unsigned width);

/* One character of a row of them, as high as `share` of 1. */
void figure_spark(output *o, double share);

/* `"value":…,"low":…,"high":…,"samples":…`, the same wherever an estimate stands in JSON. */
void figure_json(output *o, const figure *f);

#endif
