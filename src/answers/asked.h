/* asked.h: the question that a request's parameters ask, with the results that questions share
 * through the cache. For the endpoints only. */
#ifndef ANSWERS_ASKED_H
#define ANSWERS_ASKED_H

#include "answers/cache.h"
#include "answers/request.h"
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

/* Sets `*kept` to 1 or 0 for each row of the table of blocks, by whether the filter selects it;
 * NULL means all rows. Valid until the question is closed. */
bool asked_rows(request *r, asked *a, const uint8_t **kept);

/* Returns the cache entry whose key is the question's, followed by `key`. */
cache_entry *asked_cached(request *r, const asked *a, const char *key, cache_maker maker);

figure asked_figure(const asked *a, const cost *c);

#endif
