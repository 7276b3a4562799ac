/* hotspots.h: which places allocate most, and who calls them. A pure query on costs. */
#ifndef QUERY_HOTSPOTS_H
#define QUERY_HOTSPOTS_H

#include "profile/spans.h"
#include "query/query.h"

#define HOTSPOTS_GROUPINGS(X)                                                                      \
    X(LINE, "line")         /* of the source */                                                    \
    X(FUNCTION, "function") /* with all its lines */                                               \
    X(TYPE, "type")         /* of what was allocated; its callers are the sites */                 \
    X(THREAD, "thread")     /* all threads of one name; its callers are the sites */               \
    X(SCOPE, "scope")       /* its callers are the sites */                                        \
    X(TRACE, "trace")       /* id in distributed tracing; its callers are the sites */             \
    X(SPAN, "span")         /* id in distributed tracing; its callers are the sites */

typedef enum hotspots_by {
#define HOTSPOTS_GROUPING_NAME(name, text) HOTSPOTS_BY_##name,
    HOTSPOTS_GROUPINGS(HOTSPOTS_GROUPING_NAME)
#undef HOTSPOTS_GROUPING_NAME
} hotspots_by;

/* Whether rows are grouped by names of spans of domains: threads, scopes and so on. */
static inline bool hotspots_by_span(hotspots_by by) {
    return by >= HOTSPOTS_BY_THREAD;
}

extern const char *const hotspots_groupings[];       /* by hotspots_by; NULL at the end */
extern const char *const hotspots_stack_groupings[]; /* those that only need stacks */

typedef struct hotspots_entry {
    /* The name: a place (without line if grouped by function), a type, the name of a thread or
     * scope, or the id of a trace or span. All NULL: unknown. */
    const profile_location *place;
    const char *type, *span;
    cost cost;
} hotspots_entry;

typedef struct hotspots_site {
    hotspots_entry entry;
    uint32_t first_caller; /* in `callers`, largest first */
    uint32_t n_callers;
} hotspots_site;

typedef struct hotspots {
    hotspots_by by;
    cost total;               /* of all sites */
    VEC(hotspots_site) sites; /* largest first */
    VEC(hotspots_entry) callers;
    VEC(hotspots_entry) wrappers;  /* functions that were skipped, largest first */
    char (*unnamed)[SPAN_UNNAMED]; /* names for threads without one; NULL: none */
} hotspots;

/* Fills `*result`, which need not be initialized; false when there is no memory. The result refers
 * to the profile, but not to the query. If rows are names of spans, the query must have kept the
 * rows that its measure counts. */
bool hotspots_query(const query_result *q, hotspots_by by, hotspots *result);

void hotspots_free(hotspots *h);

#endif
