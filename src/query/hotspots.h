/* hotspots.h: which places allocate most, and who calls them. A pure query on costs. */
#ifndef QUERY_HOTSPOTS_H
#define QUERY_HOTSPOTS_H

#include "profile/spans.h"
#include "query/query.h"

#define HOTSPOTS_GROUPINGS(X)                                                                      \
    X(LINE, "line")         /* of the source */                                                    \
    X(FUNCTION, "function") /* with all its lines */                                               \
    X(TYPE, "type")         /* of what was allocated; its callers are the sites */                 \
    X(THREAD, "thread")     /* all that are called so; its callers are the sites */                \
    X(SCOPE, "scope")       /* the same */                                                         \
    X(TRACE, "trace")       /* of distributed tracing: the same, by its id */                      \
    X(SPAN, "span")         /* the same */

typedef enum hotspots_by {
#define HOTSPOTS_GROUPING_NAME(name, text) HOTSPOTS_BY_##name,
    HOTSPOTS_GROUPINGS(HOTSPOTS_GROUPING_NAME)
#undef HOTSPOTS_GROUPING_NAME
} hotspots_by;

/* Whether rows have names that hold for stretches of domains: threads, scopes and so on. */
static inline bool hotspots_by_span(hotspots_by by) {
    return by >= HOTSPOTS_BY_THREAD;
}

extern const char *const hotspots_groupings[]; /* their names, by hotspots_by; NULL at the end */
extern const char *const hotspots_stack_groupings[]; /* those that look at stacks alone */

typedef struct hotspots_entry {
    /* What names it: a place (without line if grouped by function), a type, or the name of threads,
     * of a scope, or the id of a trace or span. All NULL: the trace does not say. */
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
    VEC(hotspots_entry) wrappers;  /* the functions that were skipped, largest first */
    char (*unnamed)[SPAN_UNNAMED]; /* what threads without a name are called; NULL: there is none */
} hotspots;

/* Fills `*result`, which need not be initialised; false when there is no memory. The result refers
 * to the profile, to the query no longer. By such names, the query must have kept the rows that its
 * measure counts. */
bool hotspots_query(const query_result *q, hotspots_by by, hotspots *result);

void hotspots_free(hotspots *h);

#endif
