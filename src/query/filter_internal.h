/* filter_internal.h: a parsed filter, between its parser and its evaluation. */
#ifndef QUERY_FILTER_INTERNAL_H
#define QUERY_FILTER_INTERNAL_H

#include "base/arena.h"
#include "query/filter.h"
#include "query/regex_nfa.h"

typedef enum filter_kind {
#define FILTER_KIND(name, text, values) FILTER_##name,
    FILTER_TERMS(FILTER_KIND)
#undef FILTER_KIND
        FILTER_N_KINDS
} filter_kind;

typedef enum filter_values {
    VALUES_NONE,
    VALUES_TIME,     /* ranges of microseconds, with names for moments */
    VALUES_DURATION, /* ranges of microseconds */
    VALUES_SIZE,     /* ranges of bytes or words */
    VALUES_NUMBER,   /* ranges of whole numbers */
    VALUES_HEAP,
    VALUES_PATTERN,
    VALUES_ID, /* the hexadecimal digits with which an id begins; a pattern, too */
} filter_values;

/* What a bound is relative to, or its unit. */
typedef enum filter_anchor { ANCHOR_NONE, ANCHOR_WORDS, ANCHOR_PEAK, ANCHOR_END } filter_anchor;

typedef struct filter_bound {
    bool set;    /* else no limit on this side */
    bool strict; /* the value itself is excluded */
    filter_anchor anchor;
    double value; /* microseconds, bytes, words or a plain number; 0 for moments */
} filter_bound;

typedef enum match_kind {
    MATCH_PART,
    MATCH_NAME,
    MATCH_WILDCARD,
    MATCH_REGEX,
    MATCH_LIBRARY, /* only for `hide`: whatever belongs to a language's library */
    MATCH_LINE,    /* only for sites: `text` is the end of the file's path */
    MATCH_BEGIN,   /* only for ids, and only where there is one */
} match_kind;

typedef struct filter_pattern {
    match_kind how;
    const char *text; /* unless it is a regex */
    uint32_t line;    /* of MATCH_LINE */
    regex_nfa *regex; /* of MATCH_REGEX */
} filter_pattern;

/* One of the values of a term, of which one must apply. The term's values tell which member is
 * used. */
typedef struct filter_value {
    filter_bound low, high;
    memtrace_source heap;
    filter_pattern pattern;
} filter_value;

typedef struct filter_term {
    filter_kind kind;
    bool negated;
    size_t at, size;             /* in the text: its name, without `-` and values */
    size_t whole_at, whole_size; /* in the text: with them */
    size_t column;               /* of its name, in characters, from 1 */
    VEC(filter_value) values;
} filter_term;

struct filter {
    VEC(filter_term) terms;
    arena strings;
};

extern const filter_values filter_values_of[FILTER_N_KINDS];
extern const char *const filter_kind_names[FILTER_N_KINDS];

/* Returns the kind of that name; FILTER_N_KINDS: none. */
filter_kind filter_kind_named(const char *name, size_t size);

/* What terms of a kind do to stacks instead of selecting blocks: cut or fold them; do so or hide
 * functions; and cut them, which also drops stacks that cannot be cut. */
static inline bool filter_kind_folds(filter_kind k) {
    return k == FILTER_BELOW || k == FILTER_ABOVE || k == FILTER_PATH || k == FILTER_RECURSION ||
           k == FILTER_REPEATS;
}

static inline bool filter_kind_looks(filter_kind k) {
    return k == FILTER_HIDE || k == FILTER_HIDE_FILE || k == FILTER_HIDE_MODULE ||
           filter_kind_folds(k);
}

static inline bool filter_kind_cuts(filter_kind k) {
    return k == FILTER_BELOW || k == FILTER_ABOVE || k == FILTER_PATH;
}

static inline bool filter_kind_has_patterns(filter_kind k) {
    return filter_values_of[k] == VALUES_PATTERN || filter_values_of[k] == VALUES_ID;
}

/* Returns the kind of the spans' names (profile/spans.h) that a term of this kind is about;
 * SPAN_N_KINDS: it is not about spans. */
static inline span_kind filter_kind_spans(filter_kind k) {
    return k == FILTER_THREAD  ? SPAN_THREAD
           : k == FILTER_SCOPE ? SPAN_SCOPE
           : k == FILTER_TRACE ? SPAN_TRACE_ID
           : k == FILTER_SPAN  ? SPAN_SPAN_ID
                               : SPAN_N_KINDS;
}

bool filter_match(const filter_pattern *p, const char *text);

#endif
