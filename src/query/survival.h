/* survival.h: how long things last if some are not seen to the end: Kaplan and Meier's curve, for
 * units that stand for different amounts. docs/lifetimes.md derives its error. */
#ifndef QUERY_SURVIVAL_H
#define QUERY_SURVIVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "query/estimate.h"

/* Lives that are as long. */
typedef struct survival_lives {
    uint64_t time;   /* how long they lasted, or were seen */
    double weight;   /* what they stand for together; > 0 */
    double variance; /* of that, as they are a sample: the sum of each one's */
    double squares;  /* the sum of the squares of each one's weight; >= variance */
    uint64_t n;
    bool ended; /* else they were seen no longer */
} survival_lives;

typedef struct survival_point {
    uint64_t time;
    estimate alive;   /* the share that lasts longer; 0 … 1 */
    uint64_t at_risk; /* lives that lasted until then */
} survival_point;

/* A time before which a given share has ended; SURVIVAL_NEVER: after more than was seen. */
#define SURVIVAL_NEVER UINT64_MAX

typedef struct survival_quantile {
    double ended; /* the share, 0 … 1 */
    uint64_t value, low, high;
} survival_quantile;

typedef VEC(survival_point) survival_curve; /* at each time at which something ended */

/* The share that has ended by some time. */
typedef struct survival_ended {
    double share;
    double size;   /* it is as sure as a share of so many units; INFINITY: exact, but for … */
    double hidden; /* … those out of sight: so much more may have ended, or if all did, less */
} survival_ended;

/* Changes the order of the `n` lives. Fills `*curve`, which need not be initialised; false when
 * there is no memory. */
bool survival_estimate(survival_lives *lives, size_t n, survival_curve *curve);

/* The share that lasts longer than `time`; all, exactly, before the first point. */
estimate survival_at(const survival_curve *curve, uint64_t time);

/* What has ended by the last of the `n` times. Changes their order; false when there is no memory.
 */
bool survival_find_ended(survival_lives *lives, size_t n, survival_ended *ended);

survival_quantile survival_find_quantile(const survival_curve *curve, double ended);

#endif
