/* parquet.h: a Parquet file of flat columns: rows go in, a value a column, and are written in
 * groups of PARQUET_GROUP.
 *
 * Each column of a group is one page, compressed by zstd, behind its dictionary where it has one,
 * and has the smallest and largest value and the number of nulls, by which engines skip groups. How
 * a column is encoded is decided by what takes the fewest bytes: a dictionary, or else of whole
 * numbers their differences, of texts their lengths apart. */
#ifndef EXPORT_PARQUET_H
#define EXPORT_PARQUET_H

#include "render/output.h"

typedef enum parquet_kind {
    PARQUET_I32,
    PARQUET_I64,
    PARQUET_TIME, /* microseconds since the epoch, UTC */
    PARQUET_DOUBLE,
    PARQUET_TEXT /* in UTF-8; what is none becomes U+FFFD */
} parquet_kind;

typedef struct parquet_column {
    const char *name;
    parquet_kind kind;
    bool optional; /* may be null */
} parquet_column;

enum { PARQUET_GROUP = 1 << 17 /* rows */ };

typedef struct parquet parquet;

/* Writes to `o`, at whose beginning the file is. The columns stay the caller's. NULL when there is
 * no memory. */
parquet *parquet_begin(output *o, const parquet_column *columns, size_t n_columns);

/* The next value of a column: each row has one in every column. */
void parquet_null(parquet *p, size_t column);
void parquet_int(parquet *p, size_t column, int64_t value); /* of whole numbers and times */
void parquet_double(parquet *p, size_t column, double value);
void parquet_text(parquet *p, size_t column, const char *value); /* NULL is null */

/* Ends a row. False when there is no memory, or the output has an error. */
bool parquet_row(parquet *p);

/* Writes what is left and the footer, and frees `p`; false as above. */
bool parquet_end(parquet *p);

/* Frees what will not be ended. */
void parquet_drop(parquet *p);

#endif
