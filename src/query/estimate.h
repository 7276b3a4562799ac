/* estimate.h: from samples to numbers with their error. docs/estimator.md derives every formula.
 * What a program did is estimated from which of its words were sampled, each independently with
 * probability `rate`; all intervals are 95% confidence intervals. Pure functions on numbers. */
#ifndef QUERY_ESTIMATE_H
#define QUERY_ESTIMATE_H

#include <stdint.h>

#define ESTIMATE_TAIL   0.025             /* on each side of a 95% interval */
#define ESTIMATE_NORMAL 1.959963984540054 /* its quantile of the standard normal law */

typedef struct estimate {
    double value;     /* unbiased */
    double low, high; /* low <= value <= high; all equal if the value is exact */
} estimate;

/* Words allocated, headers included, where `samples` of them were sampled, 0 < rate <= 1. The
 * interval is exact: it covers the truth with a probability of at least 95% (up to 10,000 samples;
 * beyond, of 95% to within a thousandth). */
estimate estimate_words(uint64_t samples, double rate);

/* `a` - `b` of independent estimates. */
estimate estimate_difference(estimate a, estimate b);

/* Half the width of the interval: what is printed behind "±". */
double estimate_margin(estimate e);

/* The same without the asymmetry: 1.96 standard errors. For large sample numbers it equals the
 * margin; for tables in which ± shall add up in squares. */
double estimate_normal_margin(uint64_t samples, double rate);

/* Number of blocks. Legal when zeroed. */
typedef struct estimate_blocks {
    double count;    /* sum of 1 / π over the tracked blocks; π: a block's chance to be tracked */
    double variance; /* its estimated variance: sum of (1 - π) / π² */
    double heaviest; /* the largest 1 / π; of none, the most that one could be, or 0 */
    uint64_t tracked;
} estimate_blocks;

/* Adds a tracked block of `words` words, header included; or one with that chance to be tracked; or
 * `n` of these; or others. */
void estimate_blocks_add(estimate_blocks *blocks, uint64_t words, double rate);
void estimate_blocks_add_chance(estimate_blocks *blocks, double chance);
void estimate_blocks_add_alike(estimate_blocks *blocks, double chance, uint64_t n);
void estimate_blocks_join(estimate_blocks *blocks, const estimate_blocks *others);

/* Where `heaviest` is the most that a block may weigh, seen or not. */
estimate estimate_blocks_total(const estimate_blocks *blocks);

/* The same of blocks of any size, or of any from `least` words on, header included: as long as few
 * of them are tracked, smaller ones than all of these may have been missed. Of none, as above. */
enum { ESTIMATE_FEW_BLOCKS = 50, ESTIMATE_LEAST_WORDS = 2 };

estimate estimate_blocks_number(const estimate_blocks *blocks, uint64_t least, double rate);

/* With what may have been missed as the heaviest. */
estimate_blocks estimate_blocks_possible(const estimate_blocks *blocks, uint64_t least,
                                         double rate);

/* The share of the blocks `within` in those and the others together, 0 … 1. */
estimate estimate_share(const estimate_blocks *within, const estimate_blocks *without);

/* The same of two amounts that are estimated independently of each other. */
estimate estimate_share_of(estimate within, estimate without);

/* The share of words of which `part` were sampled, where `of` were in all; 0 … 1. */
estimate estimate_proportion(uint64_t part, uint64_t of, double rate);

/* A share that has the error of one of so many independent units, of any number; INFINITY: none. */
estimate estimate_proportion_of(double share, double units);

/* The mean over blocks of a quantity y >= 0. Legal when zeroed; sums over the tracked blocks, with
 * c = (1 - π) / π². */
typedef struct estimate_mean {
    double count, sum; /* of 1 / π and y / π */
    double c, cy, cyy;
} estimate_mean;

/* Of `n` blocks that are alike, each tracked by that chance. */
void estimate_mean_add(estimate_mean *m, double y, double chance, uint64_t n);
estimate estimate_mean_value(const estimate_mean *m);

/* A sum over samples in which they count differently, such as by how long their blocks lived: `sum`
 * of the samples' weights, `squares` of the weights' squares, `heaviest` the largest; of no
 * samples, the most that one could weigh, or 0. */
estimate estimate_weighted(double sum, double squares, double heaviest, double rate);

/* The heaviest to be expected where samples of so many blocks were seen, and one weighs at most
 * `most`: as long as they are few, as with numbers of blocks, and of none, that much. */
double estimate_weight_possible(double heaviest, uint64_t tracked, double most);

/* The same over tracked blocks: `sum` of y / π, `variance` of y² (1 - π) / π²; `most` and
 * `heaviest` are the largest y and 1 / π that a block may have had, whether it was seen or not. */
estimate estimate_weighted_blocks(double sum, double variance, double most, double heaviest);

/* Words: a site that allocated more shows at least one sample with a probability of 95%. 0 at rate
 * 1, where nothing is missed. */
double estimate_invisible(double rate);

/* 1 - (1 - rate)^words: the chance of a block to be tracked. */
double estimate_inclusion(uint64_t words, double rate);

/* The same for those who ask it of all blocks of a trace: most are small, and what holds for these
 * is computed once. */
enum { ESTIMATE_FEW_WORDS = 512 };

typedef struct estimate_chances {
    double rate, of_few[ESTIMATE_FEW_WORDS];
} estimate_chances;

void estimate_chances_init(estimate_chances *c, double rate);

static inline double estimate_chance(const estimate_chances *c, uint64_t words) {
    return words < ESTIMATE_FEW_WORDS ? c->of_few[words] : estimate_inclusion(words, c->rate);
}

/* The distributions behind it: P(a, x), the regularised lower incomplete gamma function, and its
 * inverse in x; I_x(a, b), the regularised incomplete beta function. a, b > 0, 0 <= p < 1. */
double estimate_gamma_p(double a, double x);
double estimate_gamma_quantile(double a, double p);
double estimate_beta_i(double a, double b, double x);

#endif
