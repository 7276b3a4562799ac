/* table.h: what a report consists of: tables, in a document (document.h) with sentences about them.
 *
 * A report is a function from a profile and a question to a document. It says what there is, never
 * how it looks: src/render makes terminal text, JSON, CSV and the page's answers from any document.
 *
 * A table is a list of columns over rows. The rows are an array that the report has anyway, such as
 * the sites of hotspots_query; nothing is copied. A column has a name, a kind, and a function that
 * returns the cell of a row. The kind decides how text aligns a cell, how JSON names its parts, how
 * CSV flattens it, and how the page receives it:
 *
 *     kind      a cell                        text            JSON, CSV
 *     AMOUNT    an estimate in the unit       3.1 MB ± 0.2    value, low, high, samples
 *     RATE      an estimate per second        3.1 MB/s        value, low, high, samples
 *     SHARE     0 … 1                         12.5% and bar   a number
 *     PART      an estimate of a share        62% (60 … 64)   value, low, high, samples, of_samples
 *     COUNT     a whole number                1,234           a number
 *     NUMBER    any number                    0.05            a number
 *     DURATION  microseconds                  1.25 s          a number
 *     TEXT      words                         as it is        a string
 *     PLACE     a place in the program        FILE:LINE NAME  function, file, line
 *     FLAG      yes or no                     yes             true
 *     LINE      numbers at equal steps        sparks          an array; in CSV nothing, or columns
 *     TEXTS     several texts                 with commas     an array
 *     ROWS      a table of its own            rows below      an array of objects
 *     OBJECT    a table of one row            not shown       an object
 *
 * In a table of records each row has too much for one line. Text shows such a row as a head, and
 * below it each field as a line or paragraph that begins with the field's title.
 *
 * The amount named "" is the main amount of the row: its parts are among the row's own fields. The
 * parts of any other amount are in an object of its name in JSON, and are NAME, NAME_low, … in CSV
 * and columns. If the only column of a table below a row is a TEXT named "", its rows are strings
 * in JSON.
 *
 * Why not a grid of cells, as in many libraries. A trace has millions of sites with ten columns
 * each, and a terminal shows twenty of them. Columns over rows cost nothing until a cell is shown,
 * and sorting by any column needs no other code.
 *
 * What must hold. Names of columns are unique in a table, and never change their meaning. A cell
 * depends only on its table and row. */
#ifndef DOCUMENT_TABLE_H
#define DOCUMENT_TABLE_H

#include "query/cost.h"
#include "query/figure.h"

typedef struct table table;

typedef enum column_kind {
    COLUMN_AMOUNT,
    COLUMN_RATE,
    COLUMN_SHARE,
    COLUMN_PART,
    COLUMN_COUNT,
    COLUMN_NUMBER,
    COLUMN_DURATION,
    COLUMN_TEXT,
    COLUMN_PLACE,
    COLUMN_FLAG,
    COLUMN_LINE,
    COLUMN_TEXTS,
    COLUMN_ROWS,
    COLUMN_OBJECT,
} column_kind;

/* Who shows a column, or a part of a document. */
typedef enum shown_in {
    IN_TEXT = 1,
    IN_JSON = 2,
    IN_CSV = 4,
    IN_PAGE = 8,
    IN_DATA = IN_JSON | IN_CSV | IN_PAGE,
    IN_ALL = IN_TEXT | IN_DATA
} shown_in;

/* The meaning of a cell for readers. Text may color the cell, or, for TONE_DOUBT, the whole row. */
typedef enum cell_tone { TONE_NONE, TONE_GOOD, TONE_BAD, TONE_DOUBT } cell_tone;

/* What the amounts of a table are, besides their unit. */
typedef enum amount_form {
    AMOUNTS_WHOLE,    /* totals: data have them as whole numbers */
    AMOUNTS_DIVIDED,  /* means, or amounts per request: data have fractions */
    AMOUNTS_A_SECOND, /* amounts per second */
    AMOUNTS_SHARES,   /* 0 … 1 instead of the unit; text has percent */
} amount_form;

typedef struct cell {
    bool none;   /* null in JSON, empty elsewhere */
    bool absent; /* implies `none`: the row has no such field, and JSON omits it */
    cell_tone tone;
    const char *remark; /* text after an object's amount or a row's name; NULL: none */
    union {
        figure amount;
        struct {
            estimate share;
            uint64_t samples, of_samples;
        } part;
        double number;  /* SHARE, NUMBER */
        uint64_t count; /* COUNT, DURATION */
        const char *text;
        const profile_location *place; /* NULL: no backtrace */
        bool flag;
        struct {
            const double *items; /* NAN: unknown */
            size_t n;
            double unit; /* 0: items are shown as is; else times this, as whole numbers */
        } line;
        struct {
            const char *const *items;
            size_t n;
        } texts;
    };
} cell;

static inline double cell_line_point(cell x, size_t i) {
    return x.line.unit > 0 ? (double)(int64_t)(x.line.items[i] * x.line.unit + 0.5)
                           : x.line.items[i];
}

static inline cell cell_none(void) {
    return (cell){.none = true};
}

static inline cell cell_absent(void) {
    return (cell){.none = true, .absent = true};
}

typedef struct table_column table_column;

struct table_column {
    const char *name;  /* in JSON, CSV and columns; see above for "" */
    const char *title; /* in text; NULL: the name */
    column_kind kind;
    unsigned in;   /* set of shown_in; 0: IN_ALL */
    bool bar;      /* for a PART: text also draws a bar */
    bool exact;    /* for a NUMBER: text has all its digits, in an object */
    bool is_id;    /* for a COUNT: it is a name, so text does not group its digits */
    bool to_right; /* a text that begins with a number, aligned to the right */
    /* For an AMOUNT: */
    bool has_sign;  /* text shows the sign, for a change */
    bool no_error;  /* text omits the error, for lack of room */
    bool unsampled; /* derived from other amounts: CSV and columns omit its samples */
    bool field;     /* in a record: shown below the row's head; a title of "" is not shown */
    bool prose;     /* a text that continues on the lines below, instead of being shortened */
    bool spare;     /* text drops it if the terminal is narrow; for an AMOUNT only its error */
    bool whole;     /* a faint text to be copied: neither shortened nor wrapped */
    /* Unit of an amount, if not that of its table. */
    const char *unit;
    cell (*get)(const table *t, const void *row);
    /* For ROWS and OBJECT, instead of `get`: the columns of the table below the row
     * (TABLE_COLUMNS). For an OBJECT, `of` returns the object for these columns; NULL: the row
     * itself. */
    const table_column *columns;
    size_t n_columns;
    const void *(*of)(const void *row);
    /* For ROWS, and for an OBJECT that needs more than `of`: fills the table below the row, which
     * has the columns above and is otherwise zeroed. False: there is none. If there is also a
     * `get`, it tells for which rows the field is absent. */
    bool (*below)(const table *t, const void *row, table *rows);
    /* For a LINE: the name of a point, NULL after the last one. CSV then has one column for each
     * point. */
    const char *(*point)(const table *t, size_t i);
    bool (*has)(const table *t); /* whether this table has the column; NULL: always */
    const char *help;            /* a clause in lower case without full stop: see render/fields.h */
};

struct table {
    const char *name; /* name of the rows: "hotspots" */
    const table_column *columns;
    size_t n_columns;
    const void *rows;
    size_t stride, n;
    /* Returns row `i`, if `rows` is not an array of rows; NULL: it is. */
    const void *(*row)(const table *t, size_t i);
    const void *context; /* further data for the columns */
    measure_unit unit;   /* unit of its amounts */
    amount_form form;    /* form of its amounts */
    bool one_unit;       /* text shows all amounts in multiples of one unit */
    /* Text shows this above the first of consecutive rows with the same group; NULL: no groups. */
    const char *(*group)(const table *t, const void *row);
    bool by_line;        /* places are lines; else functions with all their lines */
    size_t depth;        /* number of tables that it is nested in */
    bool in_line;        /* text does not indent its rows under the row that they belong to */
    bool hides_empty;    /* text omits rows whose own amount is 0 */
    bool is_records;     /* each row is a record */
    const char *no_name; /* for rows whose last column is empty; NULL: nothing */
    size_t omitted;      /* further rows that are not in the table */
};

/* Makes the table below a row, by value: nothing is allocated. False: there is none. */
static inline bool table_below(const table *t, const table_column *c, const void *row,
                               table *below) {
    *below = (table){.columns = c->columns,
                     .n_columns = c->n_columns,
                     .by_line = t->by_line,
                     .unit = t->unit,
                     .depth = t->depth + 1};
    if (c->below)
        return c->below(t, row, below);
    below->rows = c->of ? c->of(row) : row;
    below->n = 1;
    below->context = t->context;
    return c->columns;
}

/* Returns NULL if the table has no array of rows, because its columns read none. */
static inline const void *table_row(const table *t, size_t i) {
    if (t->row)
        return t->row(t, i);
    return t->rows ? (const char *)t->rows + i * t->stride : NULL;
}

static inline bool table_column_is_in(const table_column *c, const table *t, shown_in in) {
    return ((c->in ? c->in : (unsigned)IN_ALL) & in) && (!c->has || c->has(t));
}

/* Whether a column's cells are amounts; and whether they are estimates, of an amount or of a
 * share. */
static inline bool table_column_is_amount(const table_column *c) {
    return c->kind == COLUMN_AMOUNT || c->kind == COLUMN_RATE;
}

static inline bool table_column_is_estimate(const table_column *c) {
    return table_column_is_amount(c) || c->kind == COLUMN_PART;
}

/* Returns the estimate in a cell of a column of estimates. */
static inline estimate table_cell_estimate(const table_column *c, cell x) {
    return c->kind == COLUMN_PART ? x.part.share
                                  : (estimate){x.amount.value, x.amount.low, x.amount.high};
}

/* Returns a column's title in text. */
static inline const char *table_title(const table_column *c) {
    return c->title ? c->title : c->name;
}

/* Returns the column of that name; NULL: none. */
const table_column *table_find(const table *t, const char *name);

/* Returns the number by which a column sorts. For texts and places, use table_compare. */
double table_key(const table *t, const table_column *c, const void *row);

/* Returns a number below, equal to or above 0 if row `a` sorts before, with or after `b` by that
 * column, in ascending order. */
int table_compare(const table *t, const table_column *c, const void *a, const void *b);

/* The name of what was recorded without a call stack. */
#define TABLE_NO_STACK      "(no call stack)"
#define TABLE_ALL_HIDDEN    "(all code hidden; shown without hide:)" /* or no stack */
#define TABLE_ALL_LIBRARIES "(library code only)" /* the same with hide:@library */

/* Defines a column's function as one expression of the table `t` and the row `row`:
 * TABLE_CELL(node_share, (cell){.number = node_of(row)->share}). */
#define TABLE_CELL(name, ...)                                                                      \
    static cell name(const table *t, const void *row) {                                            \
        (void)t;                                                                                   \
        (void)row;                                                                                 \
        return __VA_ARGS__;                                                                        \
    }

/* For the initializer of a table, or of a column that is an object. */
#define TABLE_COLUMNS(list) .columns = (list), .n_columns = sizeof(list) / sizeof *(list)

#endif
