/* groups.h: which group each block belongs to, where a report is by site, by thread, by scope, by
 * trace or span of distributed tracing, or by how long blocks live. */
#ifndef QUERY_GROUPS_H
#define QUERY_GROUPS_H

#include "query/sites.h"

/* X(NAME, text): what rows are by. */
#define GROUPS_BY(X)                                                                               \
    X(LINE, "line")                                                                                \
    X(FUNCTION, "function")                                                                        \
    X(THREAD, "thread")                                                                            \
    X(SCOPE, "scope")                                                                              \
    X(TRACE, "trace")                                                                              \
    X(SPAN, "span")                                                                                \
    X(LIFE, "life")

typedef enum groups_by {
#define GROUPS_BY_NUMBER(name, text) GROUPS_BY_##name,
    GROUPS_BY(GROUPS_BY_NUMBER)
#undef GROUPS_BY_NUMBER
        N_GROUPS_BY
} groups_by;

/* By the above; NULL behind the last one. */
extern const char *const groups_by_names[];

/* Classes of life: below 1 ms, then one a decade, and blocks that were never freed. */
enum { GROUPS_LIVES = 9, GROUPS_NEVER_FREED = GROUPS_LIVES - 1 };

/* The least of a class, in microseconds; that of GROUPS_NEVER_FREED is UINT64_MAX. */
uint64_t groups_life(uint32_t class);

typedef struct group {
    const profile_location *place; /* by line or function; NULL: blocks without backtrace */
    const char *name; /* by thread, scope, trace or span: of all that are called so; NULL: they have
                         no name */
    uint32_t number;  /* by thread without a name: that of the trace; by life: the class */
} group;

typedef struct groups {
    VEC(group) items; /* those with a block. In no special order */
    uint32_t *of_row; /* index into `items`; SITES_NONE: the row is not kept */
} groups;

/* `kept` is by row of the table; NULL: all. False when there is no memory. */
bool groups_find(const lens *l, const uint8_t *kept, groups_by by, groups *g);

/* The same by names of one kind. */
bool groups_find_spans(const profile *p, const uint8_t *kept, span_kind kind, groups *g);

void groups_free(groups *g);

/* An order in which equal costs are shown. */
int groups_compare(const group *a, const group *b);

#endif
