/* filter_complete.h: filters as they are typed: which terms they have, what could stand at the
 * cursor. Pure functions on text and the names of a profile. */
#ifndef QUERY_FILTER_COMPLETE_H
#define QUERY_FILTER_COMPLETE_H

#include "query/filter.h"

/* A term as it stands in the text. Bytes from its start. */
typedef struct filter_span {
    size_t start, end;
    size_t name, name_size; /* of its kind, without `-` */
    size_t value;           /* where its first value begins; `end`: it has none */
    bool negated;
} filter_span;

typedef VEC(filter_span) filter_spans;

/* Takes a text apart, right or wrong; false when there is no memory. */
bool filter_find_terms(const char *text, filter_spans *spans);

typedef struct filter_completion {
    size_t start, end; /* bytes of the text that an item replaces */
    struct filter_choice {
        char *text; /* as it must be written, with quotes where it needs them */
        const char *detail;
    } * items;
    size_t n;
} filter_completion;

/* At most `most` things that could stand at the cursor, which is a number of bytes: names of terms,
 * or values of the term that it is in. Fills `*c`, which need not be initialised; false when there
 * is no memory. */
bool filter_complete(const char *text, size_t cursor, const profile *p, size_t most,
                     filter_completion *c);

void filter_completion_free(filter_completion *c);

#endif
