/* gap_log.h: logarithms for gaps, inline, so that loops over them are vectorized. libm is not used
 * because not every recorded program has it. */
#ifndef MEMPROF_GAP_LOG_H
#define MEMPROF_GAP_LOG_H

#include <stdint.h>
#include <string.h>

/* Bounds the relative error of the functions below, and the absolute error of results closer to 0
 * than this. */
#define GAP_LOG_ERROR 2e-12

static inline double gap_double(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static inline uint64_t gap_bits(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

/* log((1 + t) / (1 - t)) for |t| <= 0.1716, by its series. The truncation error is below 4.5e-13,
 * and below 1.4e-12 of the result. */
static inline double gap_log_ratio(double t) {
    double t2 = t * t;
    double sum =
        1 + t2 * (1. / 3 +
                  t2 * (1. / 5 + t2 * (1. / 7 + t2 * (1. / 9 + t2 * (1. / 11 + t2 * (1. / 13))))));
    return 2 * t * sum;
}

/* log(x) for normal x > 0.
 *
 * x = 2^e m with sqrt(1/2) <= m < sqrt(2). Without branches and integer conversions, so that the
 * loop around it is vectorized. The 1024 keeps the shifted exponent positive. */
static inline double gap_log(double x) {
    const uint64_t sqrt_half = UINT64_C(0x3FE6A09E667F3BCD);
    uint64_t bits = gap_bits(x);
    uint64_t exponent = (bits - sqrt_half + (UINT64_C(1024) << 52)) >> 52;
    double m = gap_double(bits - (exponent << 52) + (UINT64_C(1024) << 52));
    double e = gap_double(UINT64_C(0x4330000000000000) | exponent) - (0x1p52 + 1024);
    return e * 0.69314718055994530942 + gap_log_ratio((m - 1) / (m + 1));
}

/* log(1 - p) for 0 < p < 1. */
static inline double gap_log1m(double p) {
    return p < 0.25 ? gap_log_ratio(-p / (2 - p)) : gap_log(1 - p);
}

#endif
