/* filter.h: the filter language: one line that says which blocks a query is about.
 *
 *   alloc:10s..20s live:@peak size:>=1K fn:/Lwt/ -fn:Stdlib heap:major hide:/^caml_/
 *
 * Terms are ANDed, a leading `-` negates one, and the values of a term, separated by commas, are
 * ORed. docs/filter.md is the reference. Parsing needs no trace. Evaluation scans the columns of
 * the table of blocks. */
#ifndef QUERY_FILTER_H
#define QUERY_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/* X(name, text, kind of its values) */
#define FILTER_TERMS(X)                                                                            \
    X(ALLOC, "alloc", TIME)                                                                        \
    X(LIVE, "live", TIME)                                                                          \
    X(SIZE, "size", SIZE)                                                                          \
    X(LIFE, "life", DURATION)                                                                      \
    X(HEAP, "heap", HEAP)                                                                          \
    X(FN, "fn", PATTERN)                                                                           \
    X(FILE, "file", PATTERN)                                                                       \
    X(MODULE, "module", PATTERN)                                                                   \
    X(TYPE, "type", PATTERN)                                                                       \
    X(THREAD, "thread", PATTERN)                                                                   \
    X(SCOPE, "scope", PATTERN)                                                                     \
    X(TRACE, "trace", ID)                                                                          \
    X(SPAN, "span", ID)                                                                            \
    X(DOMAIN, "domain", NUMBER)                                                                    \
    X(PROMOTED, "promoted", NONE)                                                                  \
    X(SURVIVED, "survived", NONE)                                                                  \
    X(HIDE, "hide", PATTERN)                                                                       \
    X(HIDE_FILE, "hide-file", PATTERN)                                                             \
    X(HIDE_MODULE, "hide-module", PATTERN)                                                         \
    X(BELOW, "below", PATTERN)                                                                     \
    X(ABOVE, "above", PATTERN)                                                                     \
    X(PATH, "path", PATTERN)                                                                       \
    X(RECURSION, "recursion", PATTERN)                                                             \
    X(REPEATS, "repeats", PATTERN)

typedef struct filter filter;

typedef struct filter_error {
    size_t column; /* characters, from 1 */
    char reason[256];
} filter_error;

/* On success the caller frees `*f`. On failure it is NULL; column 0 means no memory. */
bool filter_parse(const char *text, filter **f, filter_error *error);
void filter_free(filter *f); /* NULL is allowed */

/* Parses a time in the syntax of filters, such as 1.5s or 20ms, to microseconds. */
bool filter_parse_time(const char *text, uint64_t *micros, filter_error *error);

/* Whether the filter removes blocks at all, so that the table is needed. NULL: no. */
bool filter_selects(const filter *f);

/* What is known of the sizes and lifetimes of all blocks that a filter keeps. All zeros:
 * nothing. */
typedef struct filter_bounds {
    uint64_t least_words; /* header included; no block is smaller. 0: blocks may have any size */
    uint64_t life_below;  /* microseconds; each lived for less. 0: maybe to the end */
} filter_bounds;

/* NULL stands for all blocks. */
filter_bounds filter_bounds_of(const filter *f, const profile *p);

/* Checks that no range of times ends before it begins, once the moments of the trace are known; a
 * range up to @end may. Otherwise `*error` says which range does; column 0 means no memory. NULL is
 * allowed. */
bool filter_fits(const filter *f, const profile *p, filter_error *error);

/* Returns the columns of the table that the terms read, a set of BLOCKS_HAS. */
unsigned filter_columns(const filter *f);

/* Whether the filter hides functions, or cuts or folds stacks. NULL: no. */
bool filter_hides_any(const filter *f);

/* Returns the number of terms up to the last one that cuts or folds stacks (see shape.h); 0: none
 * does. NULL is allowed. */
size_t filter_shape_terms(const filter *f);

/* Whether a function is hidden; whether all functions of a file are, by name or as part of a
 * library; and whether any file is hidden. NULL: no. */
bool filter_hides(const filter *f, const char *function);
bool filter_hides_file(const filter *f, const char *file);
bool filter_hides_files(const filter *f);

/* Whether all functions of a module are hidden (module.h), and whether any module is. */
bool filter_hides_module(const filter *f, const char *module);
bool filter_hides_modules(const filter *f);

/* Kinds of names that blocks must have by a plain word: no wildcard, no regular expression, and not
 * negated. */
typedef enum filter_name_of {
    FILTER_NAME_FUNCTION,
    FILTER_NAME_FILE,
    FILTER_NAME_TYPE
} filter_name_of;

typedef struct filter_name {
    filter_name_of of;
    const char *text; /* lives as long as the filter */
    bool whole;       /* else part of a name is enough */
} filter_name;

/* Returns the `i`-th such name, from 0 on; false if there are fewer. */
bool filter_plain_name(const filter *f, size_t i, filter_name *name);

/* A function, or a sequence of functions each of which calls the next: `f`, `f > g`. Each step is a
 * pattern as in filters, without quotes, or a line FILE:LINE, where FILE is the end of a path. */
typedef struct call_site call_site;

/* Like filter_parse. A plain word is the name of a function if `p` has one of that name, else part
 * of names. */
bool call_site_parse(const char *text, const profile *p, call_site **s, filter_error *error);

/* Makes the sequence of functions with exactly these names, at least one; false when there is no
 * memory. */
bool call_site_of(const char *const *functions, size_t n, call_site **s);

/* Makes a single step for searching: the whole text is one pattern, and a plain word is part of
 * names. */
bool call_site_search(const char *text, call_site **s, filter_error *error);

void call_site_free(call_site *s); /* NULL is allowed */
size_t call_site_steps(const call_site *s);
bool call_site_match(const call_site *s, size_t step, const char *function);

/* Matches a place instead of a function, as a step may name a line. */
bool call_site_match_place(const call_site *s, size_t step, const profile_location *place);
bool call_site_has_lines(const call_site *s);

/* The blocks that a filter keeps. */
typedef struct selection {
    uint8_t *kept; /* by row of the table: 1 or 0 */
    size_t n_kept, n_of;
    /* If no block is left: the term that removed the last, and how many it removed. The term is its
     * name in the text, or all of it if it is negated or other terms have that name. */
    size_t term_at, term_size, n_removed;
} selection;

/* Returns `kept`, or NULL if all rows are kept, which is less work for functions that take NULL for
 * all. */
const uint8_t *selection_rows(const selection *s);

/* Selects blocks; NULL keeps all. False when there is no memory. */
bool filter_select(const filter *f, const profile *p, selection *s);

enum { FILTER_PIECE = 4096 /* rows */ };

/* What was selected of a piece of the table: the rows `at + list[i]`, in ascending order. */
typedef struct filter_piece {
    size_t at, n;
    const uint16_t *list;
} filter_piece;

typedef void filter_visit(void *context, size_t part, filter_piece piece);

/* Selects blocks and visits each piece once, while it is in the cache; `s->kept` is NULL. The table
 * is scanned in `parts` (see parallel_parts), each in a thread. */
bool filter_scan(const filter *f, const profile *p, size_t parts, filter_visit *visit,
                 void *context, selection *s);

void selection_free(selection *s);

/* Whether the filter only looks at stacks, so that all blocks of a stack are kept or none is. */
bool filter_is_of_stacks(const filter *f);

/* For such a filter, does the same as filter_select without reading blocks. `*kept` is by index of
 * the tree's totals, and the caller frees it. `s` has no rows. */
bool filter_select_stacks(const filter *f, const profile *p, uint8_t **kept, selection *s);

#endif
