/* groups.h: assigns each block to a group, for reports by site, thread, scope, trace or span of
 * distributed tracing, or lifetime. */
#ifndef QUERY_GROUPS_H
#define QUERY_GROUPS_H

#include "query/sites.h"

/* X(NAME, text): what rows are grouped by. */
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

/* By groups_by; NULL at the end. */
extern const char *const groups_by_names[];

/* Classes of lifetimes: below 1 ms, then one per decade, and blocks that were never freed. */
enum { GROUPS_LIVES = 9, GROUPS_NEVER_FREED = GROUPS_LIVES - 1 };

/* Returns the least lifetime of a class, in microseconds; UINT64_MAX for GROUPS_NEVER_FREED. */
uint64_t groups_life(uint32_t class);

typedef struct group {
    const profile_location *place; /* by line or function; NULL: blocks without backtrace */
    /* By thread, scope, trace or span: the name, which a group has in common; NULL: no name. */
    const char *name;
    uint32_t number; /* by thread without a name: its domain; by life: the class */
} group;

typedef struct groups {
    VEC(group) items; /* those that have a block, in no particular order */
    uint32_t *of_row; /* index into `items`; SITES_NONE: the row is not kept */
} groups;

/* Groups the rows for which `kept` is not 0; NULL: all rows. False when there is no memory. */
bool groups_find(const lens *l, const uint8_t *kept, groups_by by, groups *g);

/* Groups rows by names of one kind. */
bool groups_find_spans(const profile *p, const uint8_t *kept, span_kind kind, groups *g);

void groups_free(groups *g);

/* Orders groups of equal cost. */
int groups_compare(const group *a, const group *b);

#endif
