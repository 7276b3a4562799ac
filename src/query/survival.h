/* survival.h: how long things last if some are not seen to their end: the Kaplan-Meier curve, for
 * units with different weights. docs/lifetimes.md derives its error. */
#ifndef QUERY_SURVIVAL_H
#define QUERY_SURVIVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "query/estimate.h"

/* Lives of the same length. */
typedef struct survival_lives {
    uint64_t time;   /* how long they lasted, or were seen */
    double weight;   /* sum of their weights; > 0 */
    double variance; /* of `weight`, as sampling makes it: the sum of each life's variance */
    double squares;  /* sum of the squares of each life's weight; >= variance */
    uint64_t n;
    bool ended; /* else they were last seen alive */
} survival_lives;

typedef struct survival_point {
    uint64_t time;
    estimate alive;   /* share that lasts longer; 0 … 1 */
    uint64_t at_risk; /* number of lives that lasted at least this long */
} survival_point;

/* A time before which a given share has ended; SURVIVAL_NEVER: later than anything seen. */
#define SURVIVAL_NEVER UINT64_MAX

typedef struct survival_quantile {
    double ended; /* the share, 0 … 1 */
    uint64_t value, low, high;
} survival_quantile;

typedef VEC(survival_point) survival_curve; /* one point at each time at which something ended */

/* The share that has ended by some time. */
typedef struct survival_ended {
    double share;
    double size; /* as certain as a share of so many units; INFINITY: exact, except for `hidden` */
    double hidden; /* due to vanished lives, so much more may have ended, or less if all did */
} survival_ended;

/* Computes the curve of `n` lives, and reorders these. Fills `*curve`, which need not be
 * initialized; false when there is no memory. */
bool survival_estimate(survival_lives *lives, size_t n, survival_curve *curve);

/* Returns the share that lasts longer than `time`; exactly all before the first point. */
estimate survival_at(const survival_curve *curve, uint64_t time);

/* Finds what has ended by the last time of `n` lives, and reorders these; false when there is no
 * memory. */
bool survival_find_ended(survival_lives *lives, size_t n, survival_ended *ended);

survival_quantile survival_find_quantile(const survival_curve *curve, double ended);

#endif
