/* column.h: an array of JSON that is written number by number. */
#ifndef RENDER_COLUMN_H
#define RENDER_COLUMN_H

#include "render/output.h"

/* `"NAME":[…]`, with a comma before it unless it is the first of its object. */
typedef struct json_column {
    output *o;
    bool started;
} json_column;
void column_start(json_column *c, output *o, const char *name, bool first);
void column_integer(json_column *c, int64_t value);
void column_number(json_column *c, double value); /* rounded to whole ones */
void column_exact(json_column *c, double value);
void column_null(json_column *c);
void column_raw(json_column *c, const char *text); /* of JSON */
void column_end(json_column *c);

#endif
