/* output_fixture.h: checks the text written to an output in memory. */
#ifndef OUTPUT_FIXTURE_H
#define OUTPUT_FIXTURE_H

#include "render/output.h"
#include "unit.h"

static inline void check_text(output *o, const char *expected) {
    output_char(o, '\0');
    ck_assert_int_eq(o->error, 0);
    ck_assert_str_eq(o->buffer, expected);
    o->used = 0;
}

#endif
