/* options.h: the command line of the tracer, the same in every launcher. One list makes parsing,
 * help and the `options` of the JSON report. */
#ifndef GUEST_OPTIONS_H
#define GUEST_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"
#include "document/table.h"

typedef enum memtracer_form {
    FORM_TABLE,
    FORM_JSON,
    FORM_HISTOGRAM,
    FORM_TYPEHISTOGRAM,
    FORM_CALLTREE,
    N_FORMS
} memtracer_form;

/* "50000" or "queens.lox:42=50000". */
typedef struct expectation {
    const char *text; /* as given */
    size_t site_size; /* of the site, which `text` begins with; 0: all allocations are meant */
    double expected;
} expectation;

typedef struct memtracer_options {
    bool on;     /* --memtracer */
    bool given;  /* … was said, be it true or false */
    bool stacks; /* .TraceStackTraces, and so on, in the order of the list */
    uint64_t min_bytes;
    memtracer_form form;
    const char *output_file; /* NULL: standard output */
    uint64_t stack_limit;    /* frames, at least 1 */
    bool roots, statements, calls, internal;
    const char *functions, *files; /* comma-separated patterns; NULL: all */
    double rate;
    VEC(expectation) expect;
    const char *unused; /* the first option that was given; NULL: none */
} memtracer_options;

typedef enum memtracer_parsed {
    MEMTRACER_TAKEN,
    MEMTRACER_NOT_MINE, /* not an option of the tracer */
    MEMTRACER_HELP,     /* --help:memtracer */
    MEMTRACER_BAD,      /* `problem` says what is wrong */
} memtracer_parsed;

/* The defaults. Strings of the command line are not copied. */
void options_init(memtracer_options *o);
void options_free(memtracer_options *o);

/* Takes one argument of the command line. `problem` is a line without its end. */
memtracer_parsed options_take(memtracer_options *o, const char *argument, char *problem,
                              size_t size);

/* Whether all of `text` is a number as people write them, not negative. */
bool options_parse_whole(const char *text, uint64_t *value);
bool options_parse_real(const char *text, double *value);

/* When all are taken: false if they make no sense together, or the report could not be written. */
bool options_check(const memtracer_options *o, char *problem, size_t size);

/* `launcher`: the name of the command. */
void options_help(FILE *out, const char *launcher);

/* The options and their values as a table of one row; `expectations` are their texts. */
table options_table(const memtracer_options *o, const char *const *expectations);

/* Does the tracer need whole stacks, or is the innermost frame enough? */
bool options_want_stacks(const memtracer_options *o);

#endif
