/* figures.h: numbers in JSON, bars, and the width of text in a terminal. */
#ifndef RENDER_FIGURES_H
#define RENDER_FIGURES_H

#include "query/figure.h"
#include "render/output.h"

/* Returns the width of a text, in columns of a terminal. */
size_t figure_columns(const char *text);

/* Writes the shortest number that reads back as `x`, with all digits if it is whole; null for
 * infinity and NaN. */
void figure_json_number(output *o, double x);

/* Writes a bar that fills `share` of `width` columns, in eighths of a character and without
 * trailing blanks. A share above 0 gets at least an eighth. */
void figure_bar(output *o, double share, unsigned width);

/* Writes one character of a sparkline, whose height is `share` of the maximum. */
void figure_spark(output *o, double share);

/* Writes `"value":…,"low":…,"high":…,"samples":…`, the form of every estimate in JSON. */
void figure_json(output *o, const figure *f);

#endif
