/* endpoints.h: the endpoints that answer requests, and the parameters that each takes. */
#ifndef ANSWERS_ENDPOINTS_H
#define ANSWERS_ENDPOINTS_H

#include "answers/request.h"

#define ASK_PARAMETERS  "trace filter measure at wrappers "
#define VIEW_PARAMETERS "by mode focus focus_ids root width min share rows collapse search "

/* X(path, kind, function, parameters, parameters that the path implies…)
 * `/api/live` and `/api/open` are not here, as no function answers them (api.c).
 * Tools and scrapers of pprof send `debug` and `gc`, which mean nothing here. One of the two
 * profiles shows live memory first, the other allocated memory. */
#define API_ENDPOINTS(X)                                                                           \
    X("/api/info", API_DOCUMENT, answer_info, "")                                                  \
    X("/api/tree", API_DOCUMENT, answer_tree, ASK_PARAMETERS VIEW_PARAMETERS)                      \
    X("/api/table", API_DOCUMENT, answer_table,                                                    \
      ASK_PARAMETERS "kind by focus focus_ids root collapse search sort order offset limit share " \
                     "warm_up ")                                                                   \
    X("/api/graph", API_DOCUMENT, answer_graph, ASK_PARAMETERS "nodes share ")                     \
    X("/api/timeline", API_DOCUMENT, answer_timeline, ASK_PARAMETERS "buckets from to by top ")    \
    X("/api/timepaths", API_DOCUMENT, answer_timepaths, ASK_PARAMETERS "by from to width rows ")   \
    X("/api/peaks", API_DOCUMENT, answer_peaks, ASK_PARAMETERS "n ")                               \
    X("/api/lifetimes", API_DOCUMENT, answer_lifetimes, ASK_PARAMETERS)                            \
    X("/api/filter", API_DOCUMENT, answer_filter, "trace text cursor ")                            \
    X("/api/advice", API_DOCUMENT, answer_advice, ASK_PARAMETERS "share ")                         \
    X("/api/difftree", API_DOCUMENT, answer_difftree,                                              \
      ASK_PARAMETERS VIEW_PARAMETERS "from to of before after ")                                   \
    X("/api/diff", API_DOCUMENT, answer_diff,                                                      \
      ASK_PARAMETERS "from to of before after by normalise sort order offset limit search ")       \
    X("/api/source", API_DOCUMENT, answer_source, ASK_PARAMETERS "place from to ")                 \
    X("/api/explain", API_DOCUMENT, answer_explain,                                                \
      "trace measure value low high samples blocks ")                                              \
    X("/api/export", API_FILE, answer_export, ASK_PARAMETERS "seconds to ")                        \
    X("/debug/pprof/allocs", API_FILE, answer_export, ASK_PARAMETERS "seconds debug gc ",          \
      {"to", "pprof"})                                                                             \
    X("/debug/pprof/heap", API_FILE, answer_export, "trace filter at wrappers seconds debug gc ",  \
      {"to", "pprof"}, {"measure", "live"})

/* Each writes the answer to `r->reply`, or returns false. */
#define API_DECLARE(path, kind, answer, ...) bool answer(request *r);
API_ENDPOINTS(API_DECLARE)
#undef API_DECLARE

#endif
