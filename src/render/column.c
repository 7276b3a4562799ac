/* column.c: writes columns of answers as JSON. Most numbers are small enough to be written as
 * integers, which is fast. */
#include "render/column.h"

#include <math.h>

#include "render/figures.h"

void column_start(json_column *c, output *o, const char *name, bool first) {
    *c = (json_column){.o = o};
    output_text(o, first ? "\"" : ",\n\"");
    output_text(o, name);
    output_text(o, "\":[");
}

static void column_next(json_column *c) {
    if (c->started)
        output_char(c->o, ',');
    c->started = true;
}

void column_integer(json_column *c, int64_t value) {
    column_next(c);
    if (value < 0)
        output_char(c->o, '-');
    output_u64(c->o, value < 0 ? (uint64_t)-value : (uint64_t)value, 0, ' ');
}

void column_number(json_column *c, double value) {
    double whole = nearbyint(value);
    if (!isfinite(value)) {
        column_null(c);
        return;
    }
    if (fabs(whole) < 0x1p62) {
        column_integer(c, (int64_t)whole);
        return;
    }
    column_next(c);
    output_format(c->o, "%.0f", value);
}

void column_exact(json_column *c, double value) {
    column_next(c);
    figure_json_number(c->o, value);
}

void column_null(json_column *c) {
    column_next(c);
    output_text(c->o, "null");
}

void column_raw(json_column *c, const char *text) {
    column_next(c);
    output_text(c->o, text);
}

void column_end(json_column *c) {
    output_char(c->o, ']');
}
