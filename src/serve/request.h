/* request.h: one request to the API while it is answered: its parameters, what is wrong with them,
 * and the answers to queries that it uses. For the endpoints alone. */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include "paths/callpaths.h"
#include "render/page.h"
#include "reports/report.h"
#include "serve/api.h"

enum {
    HTTP_OK = 200,
    HTTP_BAD_REQUEST = 400,
    HTTP_NOT_FOUND = 404,
    HTTP_UNAVAILABLE = 503,
};

typedef struct request {
    viewer *viewer;
    const api_parameter *parameters;
    size_t n_parameters;
    const api_client *client; /* NULL: it stays */
    output *o;  /* of the answer; whatever is in it when `status` is an error is dropped */
    int status; /* HTTP_OK until something is wrong: the first complaint stays */
    const char *parameter; /* that is wrong; NULL: none */
    size_t column;
    char reason[200];
} request;

/* All return false, so that they can end a function. */
__attribute__((format(printf, 4, 5))) bool request_refuse(request *r, const char *parameter,
                                                          size_t column, const char *format, ...);
bool request_no_memory(request *r);
bool request_no_answer(request *r); /* nobody waits any more; else for want of memory */
__attribute__((format(printf, 3, 4))) bool request_fail(request *r, int status, const char *format,
                                                        ...);

/* ---- parameters -------------------------------------------------------------------------- */

/* NULL if it is absent or empty. */
const char *request_text(const request *r, const char *name);

/* Set `*value` where the parameter is there; false if it is none, or not within the limits. */
bool request_integer(request *r, const char *name, uint64_t low, uint64_t high, uint64_t *value);
bool request_number(request *r, const char *name, double low, double high, double *value);
bool request_flag(request *r, const char *name, bool *value);
bool request_time(request *r, const char *name, uint64_t *micros);

/* The same, or a moment of the trace that `trace` names: @start, @peak, @end. */
bool request_moment(request *r, const char *name, uint64_t *micros);

/* `choices` ends with NULL. */
bool request_choice(request *r, const char *name, const char *const *choices, int *value);

/* Numbers separated by dots, which the caller frees. */
typedef VEC(uint32_t) id_list;
bool request_ids(request *r, const char *name, id_list *ids);

/* `focus`, or `focus_ids`: one of them must be there. */
bool request_focus(request *r, const profile *p, call_site **focus);

/* `search`: which locations it matches, by function or file; NULL if nothing is searched for. To be
 * freed. */
bool request_search(request *r, const profile *p, uint8_t **matches);

/* ---- questions --------------------------------------------------------------------------- */

/* A question that parameters ask, answered as far as all endpoints share it. */
typedef struct asked {
    bool needs_blocks; /* set before asking: the endpoint scans the table of blocks itself */
    bool of_allocated; /* whatever the measure that is asked for */
    bool needs_rows;   /* … and the query the selection of its rows, also where all are kept */
    const uint64_t *live_at; /* what is live then, whatever the measure */
    const char *also;        /* terms that are added to the filter; NULL: none */
    reading *reading;
    size_t trace;
    cache_entry *entry; /* keeps `query` */
    cache_entry *rows;  /* keeps what asked_rows says; NULL: not asked for */
    filter *filter;
    const query_result *query; /* shared with others */
    report report;
    bool hides; /* the filter drops frames */
    char *text; /* of the filter with the terms that were added; NULL: none were */
    char *key;  /* what else is cached about it adds to this */
} asked;

/* Takes the trace that a parameter names, as far as it is read, or with `blocks` once it has them.
 */
bool request_reading(request *r, const char *parameter, uint64_t otherwise, bool blocks,
                     size_t *trace, reading **now);

/* `trace`, `filter`, `measure`, `at`, `wrappers`. `*a` is zeroed but for what it needs, and to be
 * closed in any case. */
bool request_ask(request *r, asked *a);
bool request_ask_of(request *r, asked *a, const char *trace, uint64_t otherwise);
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

bool request_moments(request *r, asked_moments *m);

/* The two states of `trace`: their `also` or `live_at` points into `m`. */
bool request_ask_states(request *r, const asked_moments *m, asked *before, asked *after);

/* What went and what came between them, of `trace`. */
bool request_ask_moments(request *r, const asked_moments *m, asked *went, asked *came);

/* For those who scan the table of blocks: which rows the filter selects, by row 1 or 0; NULL: all.
 * They stay until the question is closed. */
bool asked_rows(request *r, asked *a, const uint8_t **kept);

/* An entry of the cache below the key of a question. */
cache_entry *asked_cached(request *r, const asked *a, const char *key,
                          bool (*make)(void *context, cache_value *value), void *context);

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
void asked_paths_release(request *r, asked_paths *p);

/* ---- writing ----------------------------------------------------------------------------- */

/* What every answer begins with: HEAD in the document, without the brace. */
void write_head(output *o, const asked *a);

figure asked_figure(const asked *a, const cost *c);

/* `"value":…,"low":…,"high":…,"samples":…,"blocks":…` */
void write_figure(output *o, const figure *f, uint64_t blocks);
void write_cost(output *o, const asked *a, const cost *c);

/* `"NAME":[…]` of what `number` says of each of `n` things. */
typedef int64_t column_of(const void *thing);
void write_column(output *o, const char *name, const void *things, size_t size, size_t n,
                  column_of *number);

/* The five columns of a figure; and without `blocks`. */
void write_amounts(output *o, const asked *a, const cost *const *costs, size_t n, bool first);
void write_figures(output *o, const asked *a, const cost *const *costs, size_t n, bool first);

/* Where more is known of what each may have missed than the filter says. */
void write_figures_within(output *o, const asked *a, const filter_bounds *may,
                          const cost *const *costs, size_t n, bool first);

/* ---- the endpoints ----------------------------------------------------------------------- */

/* X(name, function, parameters) */
#define ASK_PARAMETERS "trace filter measure at wrappers "
#define API_ENDPOINTS(X)                                                                           \
    X("info", answer_info, "")                                                                     \
    X("tree", answer_tree,                                                                         \
      ASK_PARAMETERS "by mode focus focus_ids root width min share rows collapse search ")         \
    X("table", answer_table,                                                                       \
      ASK_PARAMETERS "kind by focus focus_ids root collapse search sort order offset limit share " \
                     "warm_up ")                                                                   \
    X("timeline", answer_timeline, ASK_PARAMETERS "buckets from to by top ")                       \
    X("peaks", answer_peaks, ASK_PARAMETERS "n ")                                                  \
    X("lifetimes", answer_lifetimes, ASK_PARAMETERS)                                               \
    X("filter", answer_filter, "trace text cursor ")                                               \
    X("advice", answer_advice, ASK_PARAMETERS "share ")                                            \
    X("difftree", answer_difftree,                                                                 \
      ASK_PARAMETERS                                                                               \
      "from to of before after by mode focus focus_ids root width min share rows collapse "        \
      "search ")                                                                                   \
    X("diff", answer_diff,                                                                         \
      "trace from to of before after filter measure at wrappers by normalise sort order offset "   \
      "limit "                                                                                     \
      "search ")                                                                                   \
    X("source", answer_source, ASK_PARAMETERS "place from to ")                                    \
    X("explain", answer_explain, "trace measure value low high samples blocks ")

#define API_DECLARE(name, function, parameters) bool function(request *r);
API_ENDPOINTS(API_DECLARE)
#undef API_DECLARE

#endif
