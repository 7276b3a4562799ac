/* options.h: the command line of the tracer, which is the same in every launcher. Parsing, help and
 * the `options` of the JSON report come from one list. */
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

/* An expectation such as "50000" or "queens.lox:42=50000". */
typedef struct expectation {
    const char *text; /* as given */
    size_t site_size; /* of the site at the start of `text`; 0: all allocations */
    double expected;
} expectation;

typedef struct memtracer_options {
    bool on;     /* value of --memtracer */
    bool given;  /* --memtracer was given, with either value */
    bool stacks; /* .TraceStackTraces; the other options follow in the order of the list */
    uint64_t min_bytes;
    memtracer_form form;
    const char *output_file; /* NULL: standard output */
    uint64_t stack_limit;    /* frames, at least 1 */
    bool roots, statements, calls, internal;
    const char *functions, *files; /* comma-separated patterns; NULL: all */
    double rate;
    VEC(expectation) expect;
    const char *unused; /* first option that was given; NULL: none */
} memtracer_options;

typedef enum memtracer_parsed {
    MEMTRACER_TAKEN,
    MEMTRACER_NOT_MINE, /* not an option of the tracer */
    MEMTRACER_HELP,     /* --help:memtracer */
    MEMTRACER_BAD,      /* wrong; `problem` says why */
} memtracer_parsed;

/* Sets the defaults. The options point into the command line. */
void options_init(memtracer_options *o);
void options_free(memtracer_options *o);

/* Parses one argument of the command line. `problem` is set to a line without a newline. */
memtracer_parsed options_take(memtracer_options *o, const char *argument, char *problem,
                              size_t size);

/* Whether all of `text` is a number that is not negative. */
bool options_parse_whole(const char *text, uint64_t *value);
bool options_parse_real(const char *text, double *value);

/* Checks the options when all are parsed. Returns false if they contradict each other, or the
 * report could not be written. */
bool options_check(const memtracer_options *o, char *problem, size_t size);

/* `launcher` is the name of the command. */
void options_help(FILE *out, const char *launcher);

/* Returns a table of one row: the options and their values. `expectations` are their texts. */
table options_table(const memtracer_options *o, const char *const *expectations);

/* Whether the tracer needs whole stacks; otherwise the innermost frame is enough. */
bool options_want_stacks(const memtracer_options *o);

#endif
