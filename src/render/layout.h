/* layout.h: a table as cells of text, which is what text and Markdown write: columns that share a
 * unit, amounts with their errors, rows below rows, names. */
#ifndef RENDER_LAYOUT_H
#define RENDER_LAYOUT_H

#include "render/render.h"

enum { MOST_CELLS = 40 /* of a row */ };

/* A column of the terminal; an amount has two, its value and its error. */
typedef struct lane {
    const table_column *column;
    bool is_error;
    bool is_left;
    size_t width;
    double unit;   /* of amounts: what its numbers are multiples of */
    bool is_whole; /* of single things, without decimals */
    bool is_fine;  /* of more than single things, with one more decimal */
    char title[48];
    bool any; /* some cell is not blank */
} lane;

typedef struct line {
    const char *cells[MOST_CELLS]; /* by lane; of the arena */
    cell_tone tones[MOST_CELLS];
    const profile_location *place;
    const char *name, *prefix;
    const char *remark; /* behind the name; NULL: none */
    const char *group;  /* what the rows are called from here on; NULL: nothing */
    size_t depth;
    bool by_line;
    bool faint; /* it explains the row above */
    bool noise; /* its amount is smaller than its error, or in doubt */
    bool more;  /* others behind it are not shown */
} line;

typedef struct layout {
    const table *table;
    const text_style *style;
    lane lanes[MOST_CELLS];
    size_t n_lanes;
    const table_column *name; /* the last column: names */
    bool has_unit;            /* one is named, which is that of all amounts where they have one */
    VEC(line) lines;
    arena texts;
    bool failed;
} layout;

/* All rows of a table; to be freed in any case, which tells `o` if there was no memory. */
void layout_rows(layout *l, const table *t, const text_style *style);

/* A table of one row, whose fields are asked for one by one. */
void layout_record(layout *l, const table *t, const text_style *style);

void layout_free(layout *l, output *o);

/* Whether text has the column, in a line or as a field; whether it has names of rows. */
bool layout_shows(const table *t, const table_column *c);
bool layout_names(const table_column *c);

/* What stands above the line of that number, as its group begins there; NULL: nothing. */
const char *layout_group(const layout *l, size_t i);

const char *layout_field(layout *l, const lane *n, cell x);

#endif
