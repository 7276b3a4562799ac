/* estimate.h: from samples to numbers with their error. docs/estimator.md derives every formula.
 * Each word that the program allocated is sampled independently with probability `rate`; all
 * intervals are 95% confidence intervals. Pure functions on numbers. */
#ifndef QUERY_ESTIMATE_H
#define QUERY_ESTIMATE_H

#include <stdint.h>

#define ESTIMATE_TAIL   0.025             /* on each side of a 95% interval */
#define ESTIMATE_NORMAL 1.959963984540054 /* its quantile of the standard normal distribution */

typedef struct estimate {
    double value;     /* unbiased */
    double low, high; /* low <= value <= high; all equal if the value is exact */
} estimate;

/* Returns a value that is exact. */
static inline estimate estimate_exact(double value) {
    return (estimate){.value = value, .low = value, .high = value};
}

/* Returns the estimate in another unit; `factor` is not negative. */
static inline estimate estimate_times(estimate e, double factor) {
    return (estimate){.value = e.value * factor, .low = e.low * factor, .high = e.high * factor};
}

/* Estimates the words allocated, headers included, from the `samples` among them, 0 < rate <= 1.
 * The interval is exact: it covers the truth with a probability of at least 95% (up to 10,000
 * samples; above, of 95% to within a thousandth). */
estimate estimate_words(uint64_t samples, double rate);

/* Estimates `a` - `b`, which must be independent. */
estimate estimate_difference(estimate a, estimate b);

/* Returns half the width of the interval, which is printed after "±". */
double estimate_margin(estimate e);

/* Returns 1.96 standard errors, a margin without the asymmetry. For many samples it equals
 * estimate_margin. It is for tables in which the squares of ± must add up. */
double estimate_normal_margin(uint64_t samples, double rate);

/* A number of blocks. Legal when zeroed. */
typedef struct estimate_blocks {
    double count;    /* sum of 1 / π over the tracked blocks; π: a block's chance to be tracked */
    double variance; /* its estimated variance: sum of (1 - π) / π² */
    double heaviest; /* the largest 1 / π; without blocks, the most that is possible, or 0 */
    uint64_t tracked;
} estimate_blocks;

/* These add one tracked block of `words` words, header included; one with a given chance to be
 * tracked; `n` with the same chance; or other blocks. */
void estimate_blocks_add(estimate_blocks *blocks, uint64_t words, double rate);
void estimate_blocks_add_chance(estimate_blocks *blocks, double chance);
void estimate_blocks_add_alike(estimate_blocks *blocks, double chance, uint64_t n);
void estimate_blocks_join(estimate_blocks *blocks, const estimate_blocks *others);

/* Estimates the number of blocks, given that `heaviest` is the most that a block may weigh, seen or
 * not. */
estimate estimate_blocks_total(const estimate_blocks *blocks);

/* Estimates the number of blocks that may have any size, or any from `least` words on, header
 * included. While fewer than ESTIMATE_FEW_BLOCKS are tracked, smaller blocks than any of these may
 * have been missed. Without tracked blocks, `heaviest` is as above. */
enum { ESTIMATE_FEW_BLOCKS = 50, ESTIMATE_LEAST_WORDS = 2 };

estimate estimate_blocks_number(const estimate_blocks *blocks, uint64_t least, double rate);

/* Returns `blocks` with the heaviest weight that a missed block may have. */
estimate_blocks estimate_blocks_possible(const estimate_blocks *blocks, uint64_t least,
                                         double rate);

/* Estimates the share of the blocks `within` among both, 0 … 1. */
estimate estimate_share(const estimate_blocks *within, const estimate_blocks *without);

/* Estimates a share from two amounts that are independent estimates. */
estimate estimate_share_of(estimate within, estimate without);

/* Estimates the share of words of which `part` were sampled, if `of` were sampled in all; 0 … 1. */
estimate estimate_proportion(uint64_t part, uint64_t of, double rate);

/* Gives a share the error of so many independent units, which need not be a whole number; INFINITY:
 * no error. */
estimate estimate_proportion_of(double share, double units);

/* The mean over blocks of a quantity y >= 0: sums over the tracked blocks, with c = (1 - π) / π².
 * Legal when zeroed. */
typedef struct estimate_mean {
    double count, sum; /* of 1 / π and y / π */
    double c, cy, cyy;
} estimate_mean;

/* Adds `n` equal blocks, each tracked with that chance. */
void estimate_mean_add(estimate_mean *m, double y, double chance, uint64_t n);
estimate estimate_mean_value(const estimate_mean *m);

/* Estimates a sum over samples with weights, such as how long their blocks lived: `sum` of the
 * weights, `squares` of their squares, `heaviest` the largest; without samples, the most that one
 * could weigh, or 0. */
estimate estimate_weighted(double sum, double squares, double heaviest, double rate);

/* Returns the heaviest weight to expect if samples of so many blocks were seen and a block weighs
 * at most `most`: at least `most` while there are no or few of them, as for numbers of blocks. */
double estimate_weight_possible(double heaviest, uint64_t tracked, double most);

/* Estimates a weighted sum over tracked blocks: `sum` of y / π, `variance` of y² (1 - π) / π²;
 * `most` and `heaviest` are the largest y and 1 / π that a block may have, seen or not. */
estimate estimate_weighted_blocks(double sum, double variance, double most, double heaviest);

/* Returns words: a site that allocated more has a sample with a probability of 95%. 0 at rate 1,
 * where nothing is missed. */
double estimate_invisible(double rate);

/* Returns 1 - (1 - rate)^words, the chance of a block to be tracked. */
double estimate_inclusion(uint64_t words, double rate);

/* The same chance, for callers that need it for all blocks of a trace. Most blocks are small, so
 * the chances of small sizes are computed once. */
enum { ESTIMATE_FEW_WORDS = 512 };

typedef struct estimate_chances {
    double rate, of_few[ESTIMATE_FEW_WORDS];
} estimate_chances;

void estimate_chances_init(estimate_chances *c, double rate);

static inline double estimate_chance(const estimate_chances *c, uint64_t words) {
    return words < ESTIMATE_FEW_WORDS ? c->of_few[words] : estimate_inclusion(words, c->rate);
}

/* The distributions used: P(a, x), the regularized lower incomplete gamma function, and its inverse
 * in x; I_x(a, b), the regularized incomplete beta function. a, b > 0, 0 <= p < 1. */
double estimate_gamma_p(double a, double x);
double estimate_gamma_quantile(double a, double p);
double estimate_beta_i(double a, double b, double x);

#endif
