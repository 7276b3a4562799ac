/* write.h: the parts of which answers are made, as JSON: the head, figures, columns.
 * docs/viewer-api.md is the contract. */
#ifndef SERVE_WRITE_H
#define SERVE_WRITE_H

#include "render/column.h"
#include "render/page.h"
#include "serve/asked.h"

/* Writes what every answer begins with: HEAD in docs/viewer-api.md, without the brace. */
void write_head(output *o, const asked *a);

/* `"value":…,"low":…,"high":…,"samples":…,"blocks":…` */
void write_figure(output *o, const figure *f, uint64_t blocks);
void write_cost(output *o, const asked *a, const cost *c);

/* Writes `"NAME":[…]`, with the `number` of each of `n` things. */
typedef int64_t column_of(const void *thing);
void write_column(output *o, const char *name, const void *things, size_t size, size_t n,
                  column_of *number);

/* Writes the five columns of figures. */
void write_figures(output *o, const asked *a, const cost *const *costs, size_t n, bool first);

/* Like write_figures, with bounds for each cost that may be tighter than the filter's. */
void write_figures_within(output *o, const asked *a, const filter_bounds *may,
                          const cost *const *costs, size_t n, bool first);

#endif
