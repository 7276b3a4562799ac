/* gap.c: the generator is xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", ACM TOMS 47, 2021), seeded by SplitMix64. Geometric gaps are drawn by inversion.
 * Binomial counts are drawn by inversion if they are small, and otherwise by Hörmann's transformed
 * rejection BTRS ("The generation of binomial random variates", J. Stat. Comput. Simul. 46,
 * 1993). */
#include "memprof/gap.h"

#include "base/hash.h"
#include "base/hot.h"
#include "memprof/gap_log.h"

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15)

void gap_seed(gap_source *source, uint64_t seed, uint64_t stream) {
    uint64_t x = hash_u64(seed + GOLDEN) ^ hash_u64(~stream);
    for (int lane = 0; lane < GAP_LANES; lane++)
        for (int word = 0; word < 4; word++)
            source->s[word][lane] = hash_u64(x += GOLDEN);
    source->left = 0;
}

void gap_set_rate(gap_source *source, double rate) {
    source->rate = rate;
    source->scale = 1 / gap_log1m(rate);
    source->left = 0;
}

static inline uint64_t rotate(uint64_t x, int by) {
    return x << by | x >> (64 - by);
}

/* Advances every lane by one step. */
static inline void step(gap_source *source, uint64_t out[GAP_LANES]) {
    uint64_t(*s)[GAP_LANES] = source->s;
    for (int i = 0; i < GAP_LANES; i++) {
        out[i] = rotate(s[0][i] + s[3][i], 23) + s[0][i];
        uint64_t t = s[1][i] << 17;
        s[2][i] ^= s[0][i];
        s[3][i] ^= s[1][i];
        s[1][i] ^= s[2][i];
        s[0][i] ^= s[3][i];
        s[2][i] ^= t;
        s[3][i] = rotate(s[3][i], 45);
    }
}

/* Returns the middle of one of 2^52 equal parts of (0, 1): never 0 or 1. */
static inline double uniform(uint64_t random) {
    return gap_double(UINT64_C(0x3FF0000000000000) | random >> 12) - (1 - 0x1p-53);
}

/* P(gap >= n) = P(log(u) / log(1 - rate) >= n) = P(u <= (1 - rate)^n) = (1 - rate)^n. */
void gap_refill(gap_source *source) {
    double gap[GAP_BATCH];
    for (int i = 0; i < GAP_BATCH; i += GAP_LANES)
        step(source, (uint64_t *)source->gaps + i); /* the stack may be small */
    for (int i = 0; i < GAP_BATCH; i++)
        gap[i] = gap_log(uniform((uint64_t)source->gaps[i])) * source->scale;
    for (int i = 0; i < GAP_BATCH; i++)
        source->gaps[i] = gap[i] < (double)GAP_MAX ? (int64_t)gap[i] : GAP_MAX;
    source->left = GAP_BATCH;
}

HOT_CODE int64_t gap_single(double rate, uint64_t random) {
    double gap = rate < 1 ? gap_log(uniform(random)) / gap_log1m(rate) : 0;
    return gap < (double)GAP_MAX ? (int64_t)gap : GAP_MAX;
}

/* Draws a binomial count by walking from success to success; `scale` is 1 / log(1 - p). Takes n p +
 * 1 steps. */
static uint64_t walk(gap_source *source, uint64_t n, double scale) {
    uint64_t random[GAP_LANES], successes = 0;
    for (;;) {
        step(source, random);
        for (int i = 0; i < GAP_LANES; i++) {
            double gap = gap_log(uniform(random[i])) * scale;
            if (gap >= (double)n || (uint64_t)gap >= n)
                return successes;
            successes++;
            n -= (uint64_t)gap + 1;
        }
    }
}

/* Returns log(k!) minus the main term of Stirling's formula for k + 1. */
static double stirling_tail(double k) {
    static const double small[] = {0.08106146679532726, 0.04134069595540929, 0.02767792568499834,
                                   0.02079067210376509, 0.01664469118982119, 0.01387612882307075,
                                   0.01189670994589177, 0.01041126526197209, 0.009255462182712733,
                                   0.008330563433362871};
    if (k < 10)
        return small[(int)k];
    double x = 1 / (k + 1), x2 = x * x;
    return (1. / 12 - (1. / 360 - 1. / 1260 * x2) * x2) * x;
}

/* Returns log(P(k) / P(m)) for the binomial distribution (n, p), where r = p / (1 - p). */
static double log_binomial_ratio(double n, double r, double m, double k) {
    return (m + 0.5) * gap_log((m + 1) / (r * (n - m + 1))) +
           (n + 1) * gap_log((n - m + 1) / (n - k + 1)) +
           (k + 0.5) * gap_log(r * (n - k + 1) / (k + 1)) + stirling_tail(m) +
           stirling_tail(n - m) - stirling_tail(k) - stirling_tail(n - k);
}

/* BTRS, for p <= 1/2 and n p >= 10: a point (u, v) under a simple hat function is accepted at once
 * in most cases (the squeeze), otherwise by the exact ratio. The constants are the paper's. */
static uint64_t transformed_rejection(gap_source *source, double n, double p) {
    double sd = __builtin_sqrt(n * p * (1 - p));
    double b = 1.15 + 2.53 * sd, a = -0.0873 + 0.0248 * b + 0.01 * p;
    double alpha = (2.83 + 5.1 / b) * sd, squeeze = 0.92 - 4.2 / b;
    double r = p / (1 - p), mode = (double)(uint64_t)((n + 1) * p);
    for (;;) {
        uint64_t random[GAP_LANES];
        step(source, random);
        double u = uniform(random[0]) - 0.5, v = uniform(random[1]);
        double us = 0.5 - (u < 0 ? -u : u);
        double k = (2 * a / us + b) * u + n * p + 0.5;
        if (!(k >= 0 && k < n + 1))
            continue;
        k = (double)(uint64_t)k;
        if (us >= 0.07 && v <= squeeze)
            return (uint64_t)k;
        if (gap_log(v * alpha / (a / (us * us) + b)) <= log_binomial_ratio(n, r, mode, k))
            return (uint64_t)k;
    }
}

uint64_t gap_binomial(gap_source *source, uint64_t n) {
    double p = source->rate;
    double rare = p <= 0.5 ? p : 1 - p; /* count the rarer outcome */
    uint64_t k;
    if ((double)n * rare < 16)
        k = walk(source, n, p <= 0.5 ? source->scale : 1 / gap_log1m(rare));
    else
        k = transformed_rejection(source, (double)n, rare);
    if (k > n)
        k = n; /* only by rounding, where n exceeds 2^53 */
    return p <= 0.5 ? k : n - k;
}
