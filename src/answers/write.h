/* write.h: the parts of which answers are made, as JSON: the head, figures, columns.
 * docs/viewer-api.md is the contract. */
#ifndef ANSWERS_WRITE_H
#define ANSWERS_WRITE_H

#include "answers/asked.h"
#include "render/column.h"
#include "render/page.h"

/* Writes what every answer begins with: HEAD in docs/viewer-api.md, without the brace. */
void write_head(output *o, const asked *a);

/* `"value":…,"low":…,"high":…,"samples":…,"blocks":…` */
void write_figure(output *o, const figure *f, uint64_t blocks);
void write_cost(output *o, const asked *a, const cost *c);

/* An array of `n` things of `size` bytes each, of which columns are written. */
typedef struct write_things {
    const void *first;
    size_t size, n;
} write_things;

#define WRITE_THINGS(vec) ((write_things){(vec).items, sizeof *(vec).items, (vec).count})

/* Writes `"NAME":[…]`, with the number that an expression makes of each `thing` in a vector. */
#define WRITE_COLUMN(o, name, vec, thing, number)                                                  \
    do {                                                                                           \
        json_column column_;                                                                       \
        column_start(&column_, o, name, false);                                                    \
        for (size_t i_ = 0; i_ < (vec).count; i_++) {                                              \
            const __typeof__(*(vec).items) *thing = &(vec).items[i_];                              \
            column_integer(&column_, number);                                                      \
        }                                                                                          \
        column_end(&column_);                                                                      \
    } while (0)

/* Writes the five columns of figures, of the cost `at` bytes into each thing. */
void write_figures(output *o, const asked *a, write_things all, size_t at, bool first);

/* Like write_figures, with bounds for each cost that may be tighter than the filter's. */
void write_figures_within(output *o, const asked *a, const filter_bounds *may, write_things all,
                          size_t at, bool first);

/* Writes the column `self`, of the cost `at` bytes into each thing. */
void write_selves(output *o, const asked *a, write_things all, size_t at);

/* Writes rows as columns of the object `name`, after the names of their places, if `p` is not NULL.
 * Returns false when there is no memory. */
bool write_table_rows(output *o, const char *name, const page_rows *rows, const profile *p,
                      bool by_line);

/* Returns the place of a thing; NULL: it has none. */
typedef const profile_location *write_place(const profile *names, const void *thing);

/* Writes the names of all things, and begins the object `nodes` with their column `place`. Returns
 * false when there is no memory. */
bool write_node_places(output *o, const profile *names, bool by_line, const uint8_t *matches,
                       write_things all, write_place *place_of);

#endif
