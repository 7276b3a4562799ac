/* write.h: what answers are made of, as JSON: the head, figures, columns. docs/viewer-api.md is the
 * contract. */
#ifndef SERVE_WRITE_H
#define SERVE_WRITE_H

#include "render/column.h"
#include "render/page.h"
#include "serve/asked.h"

/* What every answer begins with: HEAD in the document, without the brace. */
void write_head(output *o, const asked *a);

/* `"value":…,"low":…,"high":…,"samples":…,"blocks":…` */
void write_figure(output *o, const figure *f, uint64_t blocks);
void write_cost(output *o, const asked *a, const cost *c);

/* `"NAME":[…]` of what `number` says of each of `n` things. */
typedef int64_t column_of(const void *thing);
void write_column(output *o, const char *name, const void *things, size_t size, size_t n,
                  column_of *number);

/* The five columns of a figure. */
void write_figures(output *o, const asked *a, const cost *const *costs, size_t n, bool first);

/* Where more is known of what each may have missed than the filter says. */
void write_figures_within(output *o, const asked *a, const filter_bounds *may,
                          const cost *const *costs, size_t n, bool first);

#endif
