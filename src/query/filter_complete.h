/* filter_complete.h: completes filters as they are typed: which terms the text has, and what could
 * be at the cursor. Pure functions on the text and the names of a profile. */
#ifndef QUERY_FILTER_COMPLETE_H
#define QUERY_FILTER_COMPLETE_H

#include "query/filter.h"

/* A term in the text. Offsets are in bytes. */
typedef struct filter_span {
    size_t start, end;
    size_t name, name_size; /* of the name of its kind, without `-` */
    size_t value;           /* start of its first value; `end` if it has none */
    bool negated;
} filter_span;

typedef VEC(filter_span) filter_spans;

/* Splits a text into terms, valid or not; false when there is no memory. */
bool filter_find_terms(const char *text, filter_spans *spans);

typedef struct filter_choice {
    char *text; /* with quotes if it needs them */
    const char *detail;
} filter_choice;

typedef struct filter_completion {
    size_t start, end; /* bytes of the text that a choice replaces */
    VEC(filter_choice) choices;
} filter_completion;

/* Lists at most `most` completions at the cursor, a byte offset: names of terms, or values of the
 * term that the cursor is in. Fills `*c`, which need not be initialized; false when there is no
 * memory. */
bool filter_complete(const char *text, size_t cursor, const profile *p, size_t most,
                     filter_completion *c);

void filter_completion_free(filter_completion *c);

#endif
