/* asked.h: a question that a request's parameters ask, and what is known of it: shared with others
 * that ask the same, by the cache. For the endpoints alone. */
#ifndef SERVE_ASKED_H
#define SERVE_ASKED_H

#include "paths/callpaths.h"
#include "reports/report.h"
#include "serve/cache.h"
#include "serve/request.h"

/* A question that parameters ask, answered as far as all endpoints share it. */
typedef struct asked {
    bool needs_blocks; /* set before asking: the endpoint scans the table of blocks itself */
    bool alone;        /* no other question is compared with it; asked_open sets it */
    bool of_allocated; /* whatever the measure that is asked for */
    bool needs_rows; /* … and the query the selection of its rows, also where all are kept … */
    bool needs_counted;      /* … and of these, those that the measure counts */
    const uint64_t *live_at; /* what is live then, whatever the measure */
    const char *also;        /* terms that are added to the filter; NULL: none */
    bool collapses, by_line; /* whole stacks will be looked at with recursion collapsed: the tree of
                                that takes much memory while it is made, and comes first */
    reading *reading;
    size_t trace;
    cache_entry *entry; /* keeps `query` */
    cache_entry *tree;  /* keeps that tree; NULL: there is none yet */
    cache_entry *rows;  /* keeps what asked_rows says; NULL: not asked for */
    filter *filter;
    const query_result *query; /* shared with others */
    report report;
    bool hides; /* the filter drops frames */
    char *text; /* of the filter with the terms that were added; NULL: none were */
    char *key;  /* what else is cached about it adds to this */
} asked;

/* `trace`, `filter`, `measure`, `at`, `wrappers`. `*a` is zeroed but for what it needs, and to be
 * closed in any case. */
bool asked_open(request *r, asked *a);
bool asked_open_of(request *r, asked *a, const char *trace, uint64_t otherwise);

/* What was asked for is right, and what it cost is of no use: that is the next one's. */
void asked_let_go(request *r, asked *a);
void asked_close(request *r, asked *a);

/* `of`: what is live at a moment, or what was allocated until then. */
enum { MOMENTS_LIVE, MOMENTS_ALLOCATED };

/* Two moments of one trace, `from` and `to`, to be compared instead of two traces. */
typedef struct asked_moments {
    bool given;
    int of; /* what is compared: MOMENTS_… */
    uint64_t from, to;
    char went[72], came[72];    /* terms of filters: in the one state and not in the other */
    char before[32], after[32]; /* of MOMENTS_ALLOCATED: terms for the states themselves */
} asked_moments;

bool asked_moments_read(request *r, asked_moments *m);

/* The two states of `trace`: their `also` or `live_at` points into `m`. */
bool asked_open_states(request *r, const asked_moments *m, asked *before, asked *after);

/* What went and what came between them, of `trace`. */
bool asked_open_moments(request *r, const asked_moments *m, asked *went, asked *came);

/* For those who scan the table of blocks: which rows the filter selects, by row 1 or 0; NULL: all.
 * They stay until the question is closed. */
bool asked_rows(request *r, asked *a, const uint8_t **kept);

/* An entry of the cache below the key of a question. */
cache_entry *asked_cached(request *r, const asked *a, const char *key, cache_maker maker);

figure asked_figure(const asked *a, const cost *c);

/* A view of call paths, made of entries of the cache: of a question, or of one that is compared
 * `against` another. The focus is that of the parameters. */
typedef struct asked_paths {
    callpaths view;
    cache_entry *entries[2 * PATH_SIDES + 1];
    unsigned n_entries;
} asked_paths;

/* To be released in any case; false, and refused, when there is no memory. */
bool asked_paths_of(request *r, const asked *a, const asked *against, const callpaths_spec *spec,
                    asked_paths *p);

/* The same of one question, without what it cost. */
bool asked_paths_tree(request *r, const asked *a, const callpaths_spec *spec, asked_paths *p);
void asked_paths_release(request *r, asked_paths *p);

#endif
