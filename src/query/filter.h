/* filter.h: the filter language: one line that says which blocks a query is about.
 *
 *     alloc:10s..20s live:@peak size:>=1K fn:/Lwt/ -fn:Stdlib heap:major hide:/^caml_/
 *
 * Terms are ANDed, a leading `-` negates one, commas in a term are OR. docs/filter.md is its
 * reference. Parsing needs no trace; evaluation scans the columns of the table of blocks, term by
 * term. */
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

/* On success `*f` is the caller's to free. On failure it is NULL; column 0: no memory. */
bool filter_parse(const char *text, filter **f, filter_error *error);
void filter_free(filter *f); /* NULL is allowed */

/* A time as filters write it, such as 1.5s or 20ms, in microseconds. */
bool filter_parse_time(const char *text, uint64_t *micros, filter_error *error);

/* Whether it removes blocks at all, so that the table is needed. NULL: no. */
bool filter_selects(const filter *f);

/* What a block must be like for the terms on sizes and lifetimes to keep it. Zeroed: nothing is
 * known of it. */
typedef struct filter_bounds {
    uint64_t least_words; /* header included: it is no smaller; 0: it may be of any size */
    uint64_t life_below;  /* microseconds: it lived for less; 0: maybe as long as the trace */
} filter_bounds;

/* NULL: any block. */
filter_bounds filter_bounds_of(const filter *f, const profile *p);

/* Whether no range of times ends before it begins, now that it is known when the trace's moments
 * were; one up to @end may. If not, `*error` says which; column 0: no memory. NULL is allowed. */
bool filter_fits(const filter *f, const profile *p, filter_error *error);

/* The columns of the table that its terms look at: a set of BLOCKS_HAS. */
unsigned filter_columns(const filter *f);

/* Whether it drops frames of functions, or cuts or folds stacks. NULL: no. */
bool filter_hides_any(const filter *f);

/* How many of its terms, from the first on, there are up to the last that cuts or folds stacks, as
 * shape.h has it; 0: none does. NULL is allowed. */
size_t filter_shape_terms(const filter *f);

/* Whether a function's frames are to be dropped; those of a file, be it one of a library; and
 * whether any file's may be. NULL: no. */
bool filter_hides(const filter *f, const char *function);
bool filter_hides_file(const filter *f, const char *file);
bool filter_hides_files(const filter *f);

/* The same of all functions of a module (module.h). */
bool filter_hides_module(const filter *f, const char *module);
bool filter_hides_modules(const filter *f);

/* A name that blocks must have: no wildcard, no regular expression, nothing that is taken away. */
typedef enum filter_name_of {
    FILTER_NAME_FUNCTION,
    FILTER_NAME_FILE,
    FILTER_NAME_TYPE
} filter_name_of;

typedef struct filter_name {
    filter_name_of of;
    const char *text; /* lives as long as the filter */
    bool whole;       /* else a part of a name is enough */
} filter_name;

/* The one with number `i`, from 0 on; false if there are not so many. */
bool filter_plain_name(const filter *f, size_t i, filter_name *name);

/* A function, or a sequence of functions each of which calls the next: `f`, `f > g`. Each step is a
 * pattern as in filters, without quotes; or a line, FILE:LINE, the file as its path ends. */
typedef struct call_site call_site;

/* As filter_parse. A plain word is the name of a function where `p` has one, else a part of names.
 */
bool call_site_parse(const char *text, const profile *p, call_site **s, filter_error *error);

/* The sequence of functions with exactly these names, at least one; false when there is no memory.
 */
bool call_site_of(const char *const *functions, size_t n, call_site **s);

/* One step, for searching: the whole text is one pattern, a plain word a part of names. */
bool call_site_search(const char *text, call_site **s, filter_error *error);

void call_site_free(call_site *s); /* NULL is allowed */
size_t call_site_steps(const call_site *s);
bool call_site_match(const call_site *s, size_t step, const char *function);

/* The same with the place, of which a step may name the line. */
bool call_site_match_place(const call_site *s, size_t step, const profile_location *place);
bool call_site_has_lines(const call_site *s);

/* The blocks that a filter kept. */
typedef struct selection {
    uint8_t *kept; /* by row of the table: 1 or 0 */
    size_t n_kept, n_of;
    /* If none is left, the term that removed the last: where its name stands in the filter, or all
     * of it where there are others of that name, or it is negated; and how many it removed. */
    size_t term_at, term_size, n_removed;
} selection;

/* `kept`, or NULL if all rows are, which takes less work where all are meant by that. */
const uint8_t *selection_rows(const selection *s);

/* NULL keeps all. False when there is no memory. */
bool filter_select(const filter *f, const profile *p, selection *s);

enum { FILTER_PIECE = 4096 /* rows */ };

/* What was selected in a piece of the table: the rows `at + list[i]`, upwards. */
typedef struct filter_piece {
    size_t at, n;
    const uint16_t *list;
} filter_piece;

typedef void filter_visit(void *context, size_t part, filter_piece piece);

/* The same for those who look at each piece once, while the processor has it at hand: `s->kept` is
 * NULL. The table is scanned in `parts`, as of parallel_parts, at the same time. */
bool filter_scan(const filter *f, const profile *p, size_t parts, filter_visit *visit,
                 void *context, selection *s);

void selection_free(selection *s);

/* Whether it looks at stacks alone, so that of the blocks with one all are kept or none is. */
bool filter_is_of_stacks(const filter *f);

/* Then the same as filter_select without a look at blocks: `*kept` is by index of the tree's
 * totals, to be freed. `s` has no rows. */
bool filter_select_stacks(const filter *f, const profile *p, uint8_t **kept, selection *s);

#endif
