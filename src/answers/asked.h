/* asked.h: the question that a request's parameters ask, with the results that questions share
 * through the cache. For the endpoints only. */
#ifndef ANSWERS_ASKED_H
#define ANSWERS_ASKED_H

#include "answers/cache.h"
#include "answers/request.h"
#include "paths/callpaths.h"
#include "reports/report.h"

/* A question. The fields up to `by_line` are set by the endpoint before it is opened. */
typedef struct asked {
    bool needs_blocks;       /* the endpoint scans the table of blocks itself */
    bool alone;              /* no other question is compared with it; asked_open sets this */
    bool of_allocated;       /* measure what was allocated, whatever `measure` says */
    bool needs_rows;         /* the query keeps which rows it selects, even if it selects all */
    bool needs_counted;      /* the query keeps which of these rows the measure counts */
    const uint64_t *live_at; /* measure what is live then, whatever `measure` says */
    const char *also;        /* terms added to the filter; NULL: none */
    bool collapses, by_line; /* whole stacks will be viewed with recursion collapsed; that tree
                                takes much memory while it is made, so it is made first */
    reading *reading;
    size_t trace;
    cache_entry *entry; /* owns `query` */
    cache_entry *tree;  /* owns the collapsed tree; NULL: not made */
    cache_entry *rows;  /* owns the result of asked_rows; NULL: not made */
    filter *filter;
    const query_result *query; /* shared with other questions */
    report report;
    bool hides; /* the filter hides frames */
    char *text; /* the filter with `also`; NULL: there is no `also` */
    char *key;  /* prefix of the keys of everything cached for this question */
} asked;

/* Opens the question of the parameters `trace`, `filter`, `measure`, `at` and `wrappers`. `*a` must
 * be zero except for the fields that the endpoint sets. It must be closed even after a failure. */
bool asked_open(request *r, asked *a);
bool asked_open_of(request *r, asked *a, const char *trace, uint64_t otherwise);

/* Releases the query result of a question whose parameters were right, to make room for the query
 * that will be run instead. */
void asked_release_query(request *r, asked *a);
void asked_close(request *r, asked *a);

/* Values of `of`: what is live at a moment, or what was allocated up to it. */
enum { MOMENTS_LIVE, MOMENTS_ALLOCATED };

/* Two moments of one trace, `from` and `to`, that are compared as two traces would be. */
typedef struct asked_moments {
    bool given;
    int of; /* MOMENTS_…: what is compared */
    uint64_t from, to;
    char went[72], came[72]; /* filter terms: in the first state only, in the second state only */
    char before[32], after[32]; /* filter terms of the states themselves, for MOMENTS_ALLOCATED */
} asked_moments;

bool asked_moments_read(request *r, asked_moments *m);

/* Opens a question for each state of `trace`. Their `also` or `live_at` points into `m`. */
bool asked_open_states(request *r, const asked_moments *m, asked *before, asked *after);

/* Opens a question for what went and one for what came between the moments, in `trace`. */
bool asked_open_moments(request *r, const asked_moments *m, asked *went, asked *came);

/* Sets `*kept` to 1 or 0 for each row of the table of blocks, by whether the filter selects it;
 * NULL means all rows. Valid until the question is closed. */
bool asked_rows(request *r, asked *a, const uint8_t **kept);

/* Returns the cache entry whose key is the question's, followed by `key`. */
cache_entry *asked_cached(request *r, const asked *a, const char *key, cache_maker maker);

figure asked_figure(const asked *a, const cost *c);

/* A view of call paths, made of cache entries: of one question, or of one compared `against`
 * another. Its focus comes from the parameters. */
typedef struct asked_paths {
    callpaths view;
    cache_entry *entries[2 * PATH_SIDES + 1];
    unsigned n_entries;
} asked_paths;

/* Makes a view with its sums. It must be released in any case. Returns false, with the request
 * refused, when there is no memory. */
bool asked_paths_of(request *r, const asked *a, const asked *against, const callpaths_spec *spec,
                    asked_paths *p);

/* Makes a view of one question, without sums. */
bool asked_paths_tree(request *r, const asked *a, const callpaths_spec *spec, asked_paths *p);
void asked_paths_release(request *r, asked_paths *p);

#endif
