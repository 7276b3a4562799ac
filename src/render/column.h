/* column.h: a JSON array that is written element by element. */
#ifndef RENDER_COLUMN_H
#define RENDER_COLUMN_H

#include "render/output.h"

/* The array `"NAME":[…]`, preceded by a comma unless it is the first member of its object. */
typedef struct json_column {
    output *o;
    bool started;
} json_column;
void column_start(json_column *c, output *o, const char *name, bool first);
void column_integer(json_column *c, int64_t value);
void column_number(json_column *c, double value); /* rounded to an integer */
void column_exact(json_column *c, double value);
void column_null(json_column *c);
void column_raw(json_column *c, const char *text); /* `text` is JSON */
void column_end(json_column *c);

#endif
