/* table.h: what a report consists of: tables, in a document (document.h) with sentences about them.
 *
 * A report is a function from a profile and a question to a document. It says what there is, never
 * how it looks: src/render makes terminal text, JSON, CSV and the page's answers from any document.
 *
 * A table is columns over rows. The rows are an array that the report has anyway, such as the sites
 * of hotspots_query; nothing is copied. A column has a name, a kind and a function that gives the
 * cell of a row. The kind decides how text aligns a cell, what JSON calls its parts, how CSV
 * flattens it and how the page gets it:
 *
 *     kind      a cell                        text            JSON, CSV
 *     AMOUNT    an estimate in the unit       3.1 MB ± 0.2    value, low, high, samples
 *     RATE      the same each second          3.1 MB/s        value, low, high, samples
 *     SHARE     0 … 1                         12.5% and bar   a number
 *     PART      an estimate of a share        62% (60 … 64)   value, low, high, samples, of_samples
 *     COUNT     a whole number                1,234           a number
 *     NUMBER    any number                    0.05            a number
 *     DURATION  microseconds                  1.25 s          a number
 *     TEXT      words                         as it is        a string
 *     PLACE     where in the program          FILE:LINE NAME  function, file, line
 *     FLAG      yes or no                     yes             true
 *     LINE      numbers at equal steps        sparks          an array; in CSV nothing, or columns
 *     TEXTS     several texts                 with commas     an array
 *     ROWS      a table of its own            rows below      an array of objects
 *     OBJECT    its single row                not shown       an object
 *
 * A table of records has rows that say much each: text gives a row several lines, its head, and
 * below that a field a line or paragraph, with its title before it.
 *
 * The amount named "" is what the row is about: its parts stand among the row's own fields. Parts
 * of other amounts stand in an object of that name in JSON, and as NAME, NAME_low, … in CSV and
 * columns. Rows below a row whose only column is a TEXT of that name are strings in JSON.
 *
 * Why not cells in a grid, as many libraries have them: a trace has millions of sites, each with
 * ten columns, of which a terminal shows twenty. Columns over rows cost nothing until a cell is
 * shown, and sorting by any column needs no other code.
 *
 * What must hold: names of columns are unique in a table, and never change their meaning; a cell
 * depends on its table and row alone. */
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

/* What a cell means to people: text may paint it, and of what is in doubt, the whole row. */
typedef enum cell_tone { TONE_NONE, TONE_GOOD, TONE_BAD, TONE_DOUBT } cell_tone;

/* What the amounts of a table are, beside their unit. */
typedef enum amount_form {
    AMOUNTS_WHOLE,    /* data have no fractions of them */
    AMOUNTS_DIVIDED,  /* means, or amounts a request: data do */
    AMOUNTS_A_SECOND, /* the same each second */
    AMOUNTS_SHARES,   /* 0 … 1, in text in percent, instead of the unit */
} amount_form;

typedef struct cell {
    bool none;   /* null in JSON, empty elsewhere */
    bool absent; /* `none`, and JSON leaves the field out: the row has no such thing */
    cell_tone tone;
    const char *remark; /* of an object's amount, or a row's name: text adds it; NULL: nothing */
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
            const double *items; /* NAN: not known */
            size_t n;
            double unit; /* 0: what they are; else, what one of them is of what is shown, in whole
                            ones */
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
    unsigned in;   /* a set of shown_in; 0: IN_ALL */
    bool bar;      /* of a PART: text draws it, too */
    bool exact;    /* of a NUMBER: text has all its digits, in an object */
    bool is_id;    /* of a COUNT: it names something, and text does not group its digits */
    bool to_right; /* text that begins with a number */
    /* Of an AMOUNT: */
    bool has_sign;  /* text shows its sign, as of a change */
    bool no_error;  /* text has no room for its error */
    bool unsampled; /* CSV and columns leave out its samples: it is made of other amounts */
    bool field;     /* of a record: it stands below the row's head; a title of "" is not shown */
    bool prose;     /* a text that is not shortened, but goes on in lines below */
    bool spare;     /* text does without it where it is narrow, of an amount without its error */
    bool whole;     /* a text to be copied, faint: neither shortened nor laid out in lines */
    /* What an amount is in, if not in the unit of its table. */
    const char *unit;
    cell (*get)(const table *t, const void *row);
    /* Of ROWS and OBJECT instead, the columns of what is below the row (TABLE_COLUMNS), and of an
     * OBJECT what they are of; NULL: the row itself. */
    const table_column *columns;
    size_t n_columns;
    const void *(*of)(const void *row);
    /* Of ROWS, and of an OBJECT of which that would not say enough: fills the table below the row,
     * which has these columns and is zeroed else; false: none. A `get` beside it says of what row
     * it is absent. */
    bool (*below)(const table *t, const void *row, table *rows);
    /* Of a LINE: the name of a point, NULL behind the last one; CSV has a column for each then. */
    const char *(*point)(const table *t, size_t i);
    bool (*has)(const table *t); /* whether this table has it; NULL: always */
    const char
        *help; /* what it is, a clause in lower case without full stop: see render/fields.h */
};

struct table {
    const char *name; /* of its rows: "hotspots" */
    const table_column *columns;
    size_t n_columns;
    const void *rows;
    size_t stride, n;
    /* The row of a number, where rows are no array of rows; NULL: they are. */
    const void *(*row)(const table *t, size_t i);
    const void *context; /* for the columns: what they need beside the row */
    measure_unit unit;   /* of its amounts */
    amount_form form;    /* the same */
    bool one_unit;       /* text has all its amounts as multiples of one unit */
    /* Text writes it above the first of the rows for which it is the same; NULL: nothing. */
    const char *(*group)(const table *t, const void *row);
    bool by_line;        /* places are lines, not functions with all their lines */
    size_t depth;        /* how many tables it is below */
    bool in_line;        /* text does not indent its rows below the row that they belong to */
    bool hides_empty;    /* text leaves out rows whose own amount is 0 */
    bool is_records;     /* each row is a record */
    const char *no_name; /* of rows whose last column is empty; NULL: nothing */
    size_t omitted;      /* there are so many more rows than these */
};

/* The table below a row, by value: nothing is allocated. False: there is none. */
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

/* A record (see document_record) that reads no row has none. */
static inline const void *table_row(const table *t, size_t i) {
    if (t->row)
        return t->row(t, i);
    return t->rows ? (const char *)t->rows + i * t->stride : NULL;
}

static inline bool table_column_is_in(const table_column *c, const table *t, shown_in in) {
    return ((c->in ? c->in : (unsigned)IN_ALL) & in) && (!c->has || c->has(t));
}

/* Of a column, in text. */
static inline const char *table_title(const table_column *c) {
    return c->title ? c->title : c->name;
}

/* NULL if the table has none of this name. */
const table_column *table_find(const table *t, const char *name);

/* The number by which a column sorts; of text and places, table_compare does. */
double table_key(const table *t, const table_column *c, const void *row);

/* Below, at or above 0, as row `a` stands before, with or behind `b` by that column, rising. */
int table_compare(const table *t, const table_column *c, const void *a, const void *b);

/* The name of what was recorded without a call stack. */
#define TABLE_NO_STACK   "(no call stack)"
#define TABLE_ALL_HIDDEN "(only hidden code)" /* or no stack */

/* A column's function that is one expression, of the table `t` and its row `row`:
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
