/* layout.h: a table as cells of text, for text and Markdown: columns that share a unit, amounts
 * with their errors, rows below rows, names. */
#ifndef RENDER_LAYOUT_H
#define RENDER_LAYOUT_H

#include "render/render.h"

enum { MOST_CELLS = 40 /* in a row */ };

/* A column of the text. An amount has two lanes: its value and its error. */
typedef struct lane {
    const table_column *column;
    bool is_error;
    bool is_left;
    size_t width;
    double unit;   /* of amounts: what 1 stands for */
    bool is_whole; /* with a unit of 1: no decimals */
    bool is_fine;  /* with a unit above 1: one more decimal */
    char title[48];
    bool any; /* some cell is not empty */
} lane;

typedef struct line {
    const char *cells[MOST_CELLS]; /* by lane; owned by the arena */
    cell_tone tones[MOST_CELLS];
    const profile_location *place;
    const char *name, *prefix;
    const char *remark; /* after the name; NULL: none */
    const char *group;  /* heading of the rows from here on; NULL: none */
    size_t depth;
    bool by_line;
    bool faint; /* explains the row above */
    bool noise; /* the amount is smaller than its error, or in doubt */
    bool more;  /* further rows are not shown */
} line;

typedef struct layout {
    const table *table;
    const text_style *style;
    lane lanes[MOST_CELLS];
    size_t n_lanes;
    const table_column *name; /* the column with names, which is last */
    bool has_unit;            /* some title names the unit */
    VEC(line) lines;
    arena texts;
    bool failed;
} layout;

/* Lays out all rows of a table. It must be freed in any case. layout_free sets an error in `o` if
 * there was no memory. */
void layout_rows(layout *l, const table *t, const text_style *style);

/* Lays out a table of one row, whose fields are then read with layout_field. */
void layout_record(layout *l, const table *t, const text_style *style);

void layout_free(layout *l, output *o);

/* Whether text shows the column, in a line or as a field; whether the column names rows. */
bool layout_shows(const table *t, const table_column *c);
bool layout_names(const table_column *c);

/* Returns the heading above line `i`, if a group begins there; NULL: none. */
const char *layout_group(const layout *l, size_t i);

const char *layout_field(layout *l, const lane *n, cell x);

#endif
