/* compare.h: did an amount change, and by how much? Two sides, each of one run or several, each run
 * sampled at its own rate. docs/estimator.md derives every formula. Pure functions on numbers. */
#ifndef QUERY_COMPARE_H
#define QUERY_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/estimate.h"

/* How the samples of a run become an amount. */
typedef struct compare_run {
    double rate; /* 0 < rate <= 1 */
    double unit; /* the amount that a sampled word is, normalisation included, before / rate */
} compare_run;

/* What a run amounts to if its samples do not count alike, such as a number of blocks. */
typedef struct compare_weighted {
    estimate amount; /* in units of the comparison */
    estimate seen;   /* the same if nothing weighs more than what was seen on either side */
    double scatter;  /* the variance of its value at a low rate, times that rate */
} compare_weighted;

typedef struct compare_side {
    const compare_run *runs;
    const uint64_t *samples;          /* by run */
    const compare_weighted *weighted; /* by run; both sides have it or none; NULL: amounts are
                                       * samples times unit / rate */
    size_t n_runs;                    /* at least 1 */
} compare_side;

typedef struct comparison {
    estimate before, after; /* the mean amount of a run */
    estimate change;        /* after - before */
    estimate ratio;         /* after / before; `high` may be infinite, all are NaN if both are 0, or
                             * there are so few samples that it says nothing */
    uint64_t before_samples, after_samples; /* of all runs */
    double p;                               /* the chance of such a difference by accident */
    double least_p; /* the smallest p that so many samples could give; 0 with several runs */
} comparison;

comparison compare_sides(const compare_side *before, const compare_side *after);

/* The same but for the ratio, which is NaN: its limits cost a hundred times as much as the rest. */
comparison compare_change(const compare_side *before, const compare_side *after);

#define COMPARE_FALSE_DISCOVERIES 0.05 /* the rate of those that is accepted */

/* Benjamini and Hochberg: q[i] is the smallest false discovery rate at which p[i] is called a
 * discovery. Tests that could not be significant at `level` (their least p is above it) do not
 * count and get 1. False when there is no memory. */
bool compare_q_values(const double *p, const double *least_p, size_t n, double level, double *q);

/* P(|T| >= t) of Student's law with `df` degrees of freedom, and the t at which it is `p`. */
double compare_student_tails(double t, double df);
double compare_student_quantile(double p, double df);

#endif
