/* compare.h: whether an amount changed, and by how much. Each of two sides has one run or several,
 * and each run has its own sampling rate. docs/estimator.md derives every formula. Pure functions
 * on numbers. */
#ifndef QUERY_COMPARE_H
#define QUERY_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/estimate.h"

/* Converts the samples of a run to an amount. */
typedef struct compare_run {
    double rate; /* 0 < rate <= 1 */
    double unit; /* the amount per sampled word, with normalization, before / rate */
} compare_run;

/* The amount of a run whose samples count differently, such as a number of blocks. */
typedef struct compare_weighted {
    estimate amount; /* in units of the comparison */
    estimate seen;   /* the same if nothing weighs more than what was seen on either side */
    double scatter;  /* variance of the value at a low rate, times that rate */
} compare_weighted;

typedef struct compare_side {
    const compare_run *runs;
    const uint64_t *samples; /* by run */
    /* By run; either both sides have it or neither. NULL: amounts are samples times unit / rate. */
    const compare_weighted *weighted;
    size_t n_runs; /* at least 1 */
} compare_side;

typedef struct comparison {
    estimate before, after; /* mean amount per run */
    estimate change;        /* after - before */
    /* After / before. `high` may be infinite. All are NaN if both amounts are 0, or if so few
     * samples say nothing about the ratio. */
    estimate ratio;
    uint64_t before_samples, after_samples; /* of all runs */
    double p;                               /* chance of such a difference by accident */
    double least_p; /* smallest p that so many samples can have; 0 with several runs */
} comparison;

comparison compare_sides(const compare_side *before, const compare_side *after);

/* Compares without the ratio, which is NaN: its limits cost a hundred times as much as the rest. */
comparison compare_change(const compare_side *before, const compare_side *after);

#define COMPARE_FALSE_DISCOVERIES 0.05 /* the accepted rate of false discoveries */

/* One of many tests: see comparison for `p` and `least_p`. */
typedef struct compare_test {
    double p, least_p;
    double q; /* the smallest false discovery rate at which `p` is a discovery */
} compare_test;

/* Computes all `q` by Benjamini and Hochberg's method. Tests that cannot be significant at
 * COMPARE_FALSE_DISCOVERIES, because their least p is above it, are left out and get 1. False when
 * there is no memory. */
bool compare_q_values(compare_test *tests, size_t n);

/* P(|T| >= t) of Student's t distribution with `df` degrees of freedom, and the t at which it is
 * `p`. */
double compare_student_tails(double t, double df);
double compare_student_quantile(double p, double df);

#endif
