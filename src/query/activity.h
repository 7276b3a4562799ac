/* activity.h: what sites are doing: what each holds, and what it allocated and gained in the last
 * seconds. A pure query on the table of blocks, for watching a program. */
#ifndef QUERY_ACTIVITY_H
#define QUERY_ACTIVITY_H

#include "query/query.h"

/* What sites can be sorted by; X(name, text) */
#define ACTIVITY_ORDERS(X)                                                                         \
    X(LIVE, "live")           /* at the end of the window */                                       \
    X(ALLOCATED, "allocated") /* since the recording began */                                      \
    X(RATE, "rate")           /* allocated in the window */                                        \
    X(GROWTH, "growth")       /* of what is live, in the window */

typedef enum activity_order {
#define ACTIVITY_ORDER_NAME(name, text) ACTIVITY_BY_##name,
    ACTIVITY_ORDERS(ACTIVITY_ORDER_NAME)
#undef ACTIVITY_ORDER_NAME
        ACTIVITY_N_ORDERS
} activity_order;

/* A site's activity, in samples. */
typedef struct activity_site {
    const profile_location *place; /* NULL: without backtrace, or the total */
    uint64_t live, allocated;
    uint64_t recent;     /* allocated in the window */
    uint64_t came, went; /* born in the window, live at its end; live at its start, freed in it */
} activity_site;

typedef struct activity {
    /* The window, microseconds since the start. `from` is before `to`; it is not part of the window
     * unless it is the start. */
    uint64_t from, to;
    activity_site total;
    VEC(activity_site) sites; /* sorted by the order that was asked for, largest first */
} activity;

/* Uses the blocks that the query kept; the query must have kept its rows. Fills `*a`, which need
 * not be initialized; false when there is no memory. The result refers to the profile. */
bool activity_query(const query_result *q, uint64_t from, uint64_t to, activity_order order,
                    activity *a);

void activity_free(activity *a);

#endif
