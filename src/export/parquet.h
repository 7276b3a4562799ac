/* parquet.h: writes a Parquet file with flat columns. Rows are added value by value and written in
 * groups of PARQUET_GROUP.
 *
 * Each column of a group is one page, compressed with zstd, after its dictionary if it has one. It
 * states its smallest and largest value and the number of nulls, which allows engines to skip
 * groups. The encoding of a column is the one that takes the fewest bytes: a dictionary, or
 * otherwise differences for integers and separate lengths for texts. */
#ifndef EXPORT_PARQUET_H
#define EXPORT_PARQUET_H

#include "render/output.h"

typedef enum parquet_kind {
    PARQUET_I32,
    PARQUET_I64,
    PARQUET_TIME, /* microseconds since the epoch, UTC */
    PARQUET_DOUBLE,
    PARQUET_TEXT /* in UTF-8; invalid bytes become U+FFFD */
} parquet_kind;

typedef struct parquet_column {
    const char *name;
    parquet_kind kind;
    bool optional; /* may be null */
} parquet_column;

enum { PARQUET_GROUP = 1 << 17 /* rows */ };

typedef struct parquet parquet;

/* Begins a file at the start of `o`. The columns remain the caller's and must stay valid. Returns
 * NULL when out of memory. */
parquet *parquet_begin(output *o, const parquet_column *columns, size_t n_columns);

/* Set the next value of a column. Each row needs one in every column. */
void parquet_null(parquet *p, size_t column);
void parquet_int(parquet *p, size_t column, int64_t value); /* for integers and times */
void parquet_double(parquet *p, size_t column, double value);
void parquet_text(parquet *p, size_t column, const char *value); /* NULL is null */

/* Ends a row. Returns false when out of memory, or if the output has an error. */
bool parquet_row(parquet *p);

/* Writes the remaining rows and the footer, and frees `p`. Returns false like parquet_row. */
bool parquet_end(parquet *p);

/* Frees `p` without ending the file. */
void parquet_drop(parquet *p);

#endif
