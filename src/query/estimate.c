/* estimate.c: the estimators and their intervals. The incomplete gamma and beta functions are
 * computed by a series (DLMF 8.11.4) and by continued fractions (8.9.2 and 8.17.22, evaluated by
 * Lentz's method). They are inverted by secants from a guess near the root. Without one they are
 * inverted by bisection, then by the Illinois method. An inversion is needed for each printed
 * number, and pictures have thousands. */
#include "query/estimate.h"

#include <math.h>
#include <stdbool.h>

#define NORMAL_DENSITY 0.05844507 /* of the standard normal distribution at that quantile */
#define EPSILON        1e-15
#define TINY           1e-300

enum {
    EXACT_SAMPLES = 10000, /* above, the normal approximation is as good */
    NEARLY_NORMAL = 4,     /* from so many samples on, distributions are nearly normal */
    MAX_TERMS = 20000,     /* of series and fractions, which need about 10 sqrt(a) */
};
#define NORMAL_UNITS 1e6  /* above, MAX_TERMS would not suffice, and logarithms are too coarse */
#define POISSON_RATE 1e-3 /* below, binomial and Poisson intervals differ by less than 0.05% */

/* ---- special functions ----------------------------------------------------------------------- */

/* These return the log of x^a e^-x / Γ(a), and of x^a (1-x)^b / B(a, b). */
static double log_gamma_front(double a, double x) {
    return a * log(x) - x - lgamma(a);
}

static double log_beta_front(double a, double b, double x) {
    return lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x);
}

/* Returns P(a, x) for x < a + 1. */
static double gamma_series(double a, double x) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < MAX_TERMS && term > sum * EPSILON; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * exp(log_gamma_front(a, x));
}

static double not_zero(double x) {
    return fabs(x) < TINY ? TINY : x;
}

/* Returns 1 - P(a, x) for x >= a + 1. */
static double gamma_fraction(double a, double x) {
    double b = x + 1 - a, c = 1 / TINY, d = 1 / b, f = d;
    for (int n = 1; n < MAX_TERMS; n++) {
        double numerator = -n * (n - a);
        b += 2;
        d = 1 / not_zero(numerator * d + b);
        c = not_zero(b + numerator / c);
        f *= c * d;
        if (fabs(c * d - 1) < EPSILON)
            break;
    }
    return f * exp(log_gamma_front(a, x));
}

/* Wilson and Hilferty: the cube root of the variable divided by `a` is nearly normal. */
static double root_mean(double a) {
    return 1 - 1 / (9 * a);
}

static double root_deviation(double a) {
    return 1 / (3 * sqrt(a));
}

double estimate_gamma_p(double a, double x) {
    if (x <= 0)
        return 0;
    if (a > NORMAL_UNITS)
        return erfc((root_mean(a) - cbrt(x / a)) / (root_deviation(a) * M_SQRT2)) / 2;
    return x < a + 1 ? gamma_series(a, x) : 1 - gamma_fraction(a, x);
}

/* Returns I_x(a, b) for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x) {
    double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), f = d;
    for (int m = 1; m < MAX_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        f *= c * d;
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        f *= c * d;
        if (fabs(c * d - 1) < EPSILON)
            break;
    }
    return f / a * exp(log_beta_front(a, b, x));
}

double estimate_beta_i(double a, double b, double x) {
    if (x <= 0 || x >= 1)
        return x >= 1;
    if (x < (a + 1) / (a + b + 2))
        return beta_fraction(a, b, x);
    return 1 - beta_fraction(b, a, 1 - x);
}

/* ---- inversion ------------------------------------------------------------------------------- */

typedef double increasing(double x, double a, double b);

/* A bracket around the root x. */
typedef struct bracket {
    double low, high, below, above; /* `f` at the ends, less the target */
    int side;                       /* the end that moved last: -1 or 1 */
} bracket;

/* Returns the middle as long as the function is nearly flat at an end; then the point where a
 * straight line between the ends reaches the target. */
static double next_guess(const bracket *k, double target) {
    bool is_flat = k->below < -0.99 * target || k->above > 0.99 * (1 - target);
    double x = (k->low * k->above - k->high * k->below) / (k->above - k->below);
    return is_flat || !(x > k->low && x < k->high) ? (k->low + k->high) / 2 : x;
}

/* The Illinois method: the value at an end that stays a second time is halved. */
static void narrow(bracket *k, double x, double value) {
    int side = value < 0 ? -1 : 1;
    if (side < 0) {
        k->low = x;
        k->below = value;
        k->above /= k->side == side ? 2 : 1;
    } else {
        k->high = x;
        k->above = value;
        k->below /= k->side == side ? 2 : 1;
    }
    k->side = side;
}

/* Returns the x >= low at which `f` reaches `target`. */
static double invert(increasing *f, double a, double b, double target, double low) {
    bracket k = {.low = low, .high = 2 * low + 1, .below = -target};
    while ((k.above = f(k.high, a, b) - target) < 0)
        k.high *= 2;
    double last = k.low;
    for (int i = 0; i < 200 && k.high - k.low > EPSILON * k.high; i++) {
        double x = next_guess(&k, target);
        narrow(&k, x, f(x, a, b) - target);
        if (fabs(x - last) <= EPSILON * x)
            return x;
        last = x;
    }
    return (k.low + k.high) / 2;
}

/* Does the same from a guess near the root. `f` must be about a normal distribution with this
 * deviation, and the target one of its two quantiles. Secants approach the root until rounding
 * stops them; NAN if they do not. */
static double invert_near(increasing *f, double a, double b, double target, double guess,
                          double deviation) {
    double last = guess, error = f(guess, a, b) - target;
    double x = guess - error * deviation / NORMAL_DENSITY;
    for (int i = 0; i < 12 && x > 0; i++) {
        const double step = x - last, old_error = error;
        error = f(x, a, b) - target;
        const double next = x - error * step / (error - old_error);
        const bool is_near = fabs(step) <= 1e-10 * x;
        if (error == 0 || (is_near && !(fabs(next - x) < fabs(step))))
            return x;
        if (!(fabs(next - x) < fabs(step)))
            return NAN;
        last = x;
        x = next;
    }
    return NAN;
}

static double gamma_in_x(double x, double a, double unused) {
    (void)unused;
    return estimate_gamma_p(a, x);
}

/* Starts from the quantile of the cube root, which is exact where P is computed from that. */
static double gamma_quantile_near(double a, double p) {
    if (a < NEARLY_NORMAL || (p != ESTIMATE_TAIL && p != 1 - ESTIMATE_TAIL))
        return NAN;
    const double z = p < 0.5 ? -ESTIMATE_NORMAL : ESTIMATE_NORMAL;
    const double root = root_mean(a) + z * root_deviation(a), guess = a * root * root * root;
    return a > NORMAL_UNITS ? guess : invert_near(gamma_in_x, a, 0, p, guess, sqrt(a));
}

double estimate_gamma_quantile(double a, double p) {
    const double near = gamma_quantile_near(a, p);
    return near > 0 ? near : invert(gamma_in_x, a, 0, p, 0);
}

/* Returns P(at least n of `words` are sampled), for words > n - 1. */
static double at_least(double words, double n, double rate) {
    return words <= n - 1 ? 0 : estimate_beta_i(n, words - n + 1, rate);
}

/* ---- words ------------------------------------------------------------------------------------
 */

/* Garwood's interval: the Poisson means at which so few, or so many, samples have a probability of
 * ESTIMATE_TAIL. */
static estimate poisson_interval(double n, double rate) {
    return (estimate){.value = n / rate,
                      .low = n > 0 ? estimate_gamma_quantile(n, ESTIMATE_TAIL) / rate : 0,
                      .high = estimate_gamma_quantile(n + 1, 1 - ESTIMATE_TAIL) / rate};
}

/* Returns the expected number μ of samples at which n differs from μ by 1.96 standard deviations.
 * This is a root of (n - μ)² = z² μ (1 - rate), with n moved outward by half a sample, and
 * corrected for skewness by the first term of the Cornish-Fisher expansion. */
static double score_root(double n, double rate, double sign) {
    double v = ESTIMATE_NORMAL * ESTIMATE_NORMAL * (1 - rate) / 2, m = n + sign / 2;
    double skew = (1 - 2 * rate) * (ESTIMATE_NORMAL * ESTIMATE_NORMAL - 1) / 6;
    return m + v + sign * sqrt(v * (2 * m + v)) - skew;
}

static estimate normal_interval(double n, double rate) {
    return (estimate){.value = n / rate,
                      .low = score_root(n, rate, -1) / rate,
                      .high = score_root(n, rate, 1) / rate};
}

/* Returns the number of words at which `n` samples or more have the probability `target`. */
static double words_at(double n, double rate, double target, double near) {
    const double deviation = sqrt(n * (1 - rate)) / rate;
    const double x =
        n < NEARLY_NORMAL ? NAN : invert_near(at_least, n, rate, target, near, deviation);
    return x > n - 1 ? x : invert(at_least, n, rate, target, n - 1);
}

/* Like poisson_interval with the binomial distribution, for rates that are not small (Clopper and
 * Pearson's construction, for the number of trials). */
static estimate binomial_interval(double n, double rate) {
    const double high = score_root(n, rate, 1) / rate;
    return (estimate){
        .value = n / rate,
        .low = n > 0 ? words_at(n, rate, ESTIMATE_TAIL, score_root(n, rate, -1) / rate) : 0,
        .high = words_at(n + 1, rate, 1 - ESTIMATE_TAIL, high)};
}

estimate estimate_words(uint64_t samples, double rate) {
    double n = (double)samples;
    if (rate >= 1)
        return estimate_exact(n);
    estimate e = samples > EXACT_SAMPLES ? normal_interval(n, rate)
                 : rate < POISSON_RATE   ? poisson_interval(n, rate)
                                         : binomial_interval(n, rate);
    e.low = fmax(e.low, n); /* the sampled words exist */
    e.high = fmax(e.high, e.value);
    return e;
}

/* Zou and Donner: the squares of the distances between value and limit add up, for each side. */
estimate estimate_difference(estimate a, estimate b) {
    const double value = a.value - b.value;
    return (estimate){.value = value,
                      .low = value - hypot(a.value - a.low, b.high - b.value),
                      .high = value + hypot(a.high - a.value, b.value - b.low)};
}

double estimate_margin(estimate e) {
    return (e.high - e.low) / 2;
}

double estimate_normal_margin(uint64_t samples, double rate) {
    return ESTIMATE_NORMAL * sqrt((double)samples * (1 - rate)) / rate;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

double estimate_inclusion(uint64_t words, double rate) {
    return rate >= 1 ? 1 : -expm1((double)words * log1p(-rate));
}

void estimate_chances_init(estimate_chances *c, double rate) {
    c->rate = rate;
    for (uint64_t words = 0; words < ESTIMATE_FEW_WORDS; words++)
        c->of_few[words] = estimate_inclusion(words, rate);
}

void estimate_blocks_add(estimate_blocks *blocks, uint64_t words, double rate) {
    estimate_blocks_add_chance(blocks, estimate_inclusion(words, rate));
}

void estimate_blocks_add_chance(estimate_blocks *blocks, double chance) {
    const double weight = 1 / chance;
    blocks->count += weight;
    blocks->variance += weight * weight * (1 - chance);
    blocks->heaviest = fmax(blocks->heaviest, weight);
    blocks->tracked++;
}

void estimate_blocks_add_alike(estimate_blocks *blocks, double chance, uint64_t n) {
    estimate_blocks one = {0};
    if (n == 0)
        return;
    estimate_blocks_add_chance(&one, chance);
    const estimate_blocks all = {.count = (double)n * one.count,
                                 .variance = (double)n * one.variance,
                                 .heaviest = one.heaviest,
                                 .tracked = n};
    estimate_blocks_join(blocks, &all);
}

void estimate_blocks_join(estimate_blocks *blocks, const estimate_blocks *others) {
    blocks->count += others->count;
    blocks->variance += others->variance;
    blocks->heaviest = fmax(blocks->heaviest, others->heaviest);
    blocks->tracked += others->tracked;
}

/* Fay and Feuer: a weighted sum is treated as a scaled Poisson variable with the same mean and
 * variance. For the upper end, one more block of the heaviest kind might have been tracked. */
estimate estimate_blocks_total(const estimate_blocks *blocks) {
    double y = blocks->count, v = blocks->variance, w = blocks->heaviest;
    if (v <= 0 && w <= 1)
        return estimate_exact(y);
    double y1 = y + w, v1 = v + w * (w - 1);
    estimate e = {.value = y,
                  .low = v > 0 ? estimate_gamma_quantile(y * y / v, ESTIMATE_TAIL) * v / y : 0,
                  .high = estimate_gamma_quantile(y1 * y1 / v1, 1 - ESTIMATE_TAIL) * v1 / y1};
    e.low = fmax(e.low, (double)blocks->tracked);
    e.high = fmax(e.high, y);
    return e;
}

/* With a probability of 97.5%, 50 tracked blocks contain one of any kind that makes up 7% of the
 * words. With fewer, the smallest block that was seen does not say how small others may be. */
estimate_blocks estimate_blocks_possible(const estimate_blocks *blocks, uint64_t least,
                                         double rate) {
    const uint64_t words = least > ESTIMATE_LEAST_WORDS ? least : ESTIMATE_LEAST_WORDS;
    estimate_blocks b = *blocks;
    if (b.tracked > 0 && b.tracked < ESTIMATE_FEW_BLOCKS)
        b.heaviest = fmax(b.heaviest, 1 / estimate_inclusion(words, rate));
    return b;
}

estimate estimate_blocks_number(const estimate_blocks *blocks, uint64_t least, double rate) {
    const estimate_blocks b = estimate_blocks_possible(blocks, least, rate);
    return estimate_blocks_total(&b);
}

/* Returns the lower limit of A / B from the limits of A and B, by Zou and Donner's method on a
 * logarithmic scale. If B is 0, only its upper limit is known. */
static double ratio_low(estimate a, estimate b) {
    if (a.value <= 0)
        return 0;
    if (b.value <= 0)
        return b.high > 0 ? a.low / b.high : INFINITY;
    return a.value / b.value * exp(-hypot(log(a.value / a.low), log(b.high / b.value)));
}

static double share_of_ratio(double ratio) {
    return isinf(ratio) ? 1 : ratio / (1 + ratio);
}

estimate estimate_share(const estimate_blocks *within, const estimate_blocks *without) {
    return estimate_share_of(estimate_blocks_total(within), estimate_blocks_total(without));
}

estimate estimate_share_of(estimate a, estimate b) {
    if (a.value + b.value <= 0)
        return (estimate){.value = 0, .low = 0, .high = 1};
    double share = a.value / (a.value + b.value);
    if (a.low == a.high && b.low == b.high)
        return estimate_exact(share);
    return (estimate){.value = share,
                      .low = fmin(share, share_of_ratio(ratio_low(a, b))),
                      .high = fmax(share, 1 - share_of_ratio(ratio_low(b, a)))};
}

/* Returns the share s at which P(at least `part` of `of`) is `target`. */
static double share_at(double part, double of, double target) {
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(estimate_beta_i(part, of - part + 1, middle) < target ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

/* Clopper and Pearson's limits. */
estimate estimate_proportion_of(double share, double units) {
    const double part = share * units, others = (1 - share) * units;
    if (isinf(units))
        return estimate_exact(share);
    if (part > NORMAL_UNITS && others > NORMAL_UNITS) {
        const double margin = ESTIMATE_NORMAL * sqrt(share * (1 - share) / units);
        return (estimate){.value = share, .low = share - margin, .high = share + margin};
    }
    return (estimate){.value = share,
                      .low = part > 0 ? share_at(part, units, ESTIMATE_TAIL) : 0,
                      .high = others > 0 ? share_at(part + 1, units, 1 - ESTIMATE_TAIL) : 1};
}

/* If the rate is not small, the number of units is increased so that the variance is right. */
estimate estimate_proportion(uint64_t part, uint64_t of, double rate) {
    if (of == 0)
        return (estimate){.value = 0, .low = 0, .high = 1};
    return estimate_proportion_of((double)part / (double)of,
                                  rate < 1 ? (double)of / (1 - rate) : INFINITY);
}

void estimate_mean_add(estimate_mean *m, double y, double chance, uint64_t n) {
    if (n == 0)
        return;
    const double blocks = (double)n, c = blocks * (1 - chance) / (chance * chance);
    m->count += blocks / chance;
    m->sum += blocks * y / chance;
    m->c += c;
    m->cy += c * y;
    m->cyy += c * y * y;
}

/* Linearizes the error of the ratio, on a logarithmic scale because it is never negative. */
estimate estimate_mean_value(const estimate_mean *m) {
    if (m->count <= 0)
        return (estimate){0};
    double mean = m->sum / m->count;
    double variance = fmax(0, m->cyy - 2 * mean * m->cy + mean * mean * m->c);
    if (mean <= 0)
        return (estimate){0};
    double factor = exp(ESTIMATE_NORMAL * sqrt(variance) / m->count / mean);
    return (estimate){.value = mean, .low = mean / factor, .high = mean * factor};
}

double estimate_weight_possible(double heaviest, uint64_t tracked, double most) {
    return tracked == 0 ? most : tracked < ESTIMATE_FEW_BLOCKS ? fmax(heaviest, most) : heaviest;
}

estimate estimate_weighted(double sum, double squares, double heaviest, double rate) {
    double y = sum / rate;
    if (rate >= 1 || heaviest <= 0)
        return estimate_exact(y);
    double y1 = sum + heaviest, v1 = squares + heaviest * heaviest;
    return (estimate){
        .value = y,
        .low = sum > 0 ? estimate_gamma_quantile(sum * sum / squares, ESTIMATE_TAIL) * squares /
                             sum / rate
                       : 0,
        .high = estimate_gamma_quantile(y1 * y1 / v1, 1 - ESTIMATE_TAIL) * v1 / y1 / rate,
    };
}

/* Fay and Feuer, as above; one more block has the variance y² (1 - π) / π² = (y / π)² - y² / π. */
estimate estimate_weighted_blocks(double sum, double variance, double most, double heaviest) {
    if (heaviest <= 1 || most <= 0)
        return estimate_exact(sum);
    double y1 = sum + most * heaviest, v1 = variance + most * most * heaviest * (heaviest - 1);
    return (estimate){
        .value = sum,
        .low = variance > 0
                   ? estimate_gamma_quantile(sum * sum / variance, ESTIMATE_TAIL) * variance / sum
                   : sum,
        .high = estimate_gamma_quantile(y1 * y1 / v1, 1 - ESTIMATE_TAIL) * v1 / y1,
    };
}

double estimate_invisible(double rate) {
    return rate >= 1 ? 0 : log(1 - 0.95) / log1p(-rate);
}
