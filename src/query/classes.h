/* classes.h: sums up blocks that have the same stack, heap, thread name, scope, size class and
 * lifetime class. */
#ifndef QUERY_CLASSES_H
#define QUERY_CLASSES_H

#include "profile/profile.h"
#include "query/estimate.h"

/* Classes of the time from allocation to death; X(name, text, upper limit in microseconds,
 * excluded) */
#define LIFETIME_CLASSES(X)                                                                        \
    X(1MS, "<1ms", UINT64_C(1000))                                                                 \
    X(10MS, "1ms..10ms", UINT64_C(10000))                                                          \
    X(100MS, "10ms..100ms", UINT64_C(100000))                                                      \
    X(1S, "100ms..1s", UINT64_C(1000000))                                                          \
    X(10S, "1s..10s", UINT64_C(10000000))                                                          \
    X(LONG, ">=10s", UINT64_MAX)                                                                   \
    X(ALIVE, "alive at the end", 0) /* whatever its age */

typedef enum lifetime_class {
#define LIFETIME_CLASS_NAME(name, text, below) LIFETIME_##name,
    LIFETIME_CLASSES(LIFETIME_CLASS_NAME)
#undef LIFETIME_CLASS_NAME
} lifetime_class;

const char *lifetime_class_text(lifetime_class c);
lifetime_class lifetime_class_of(uint64_t born, uint64_t died);

typedef struct classes_group {
    uint32_t node; /* of the profile's tree */
    memtrace_source source;
    const char *thread, *scope; /* NULL: no name; no scope */
    unsigned size;              /* in bytes: from 2^(size-1) on and below 2^size; 0: empty blocks */
    lifetime_class lifetime;
    uint64_t samples;
    estimate_blocks blocks;
} classes_group;

/* Calls `take` for each group of the rows for which `kept` is not 0; NULL: all rows. Stacks come in
 * the order of the tree's nodes. False when there is no memory, or if `take` returned false. */
bool classes_query(const profile *p, const uint8_t *kept,
                   bool (*take)(void *context, const classes_group *g), void *context);

#endif
