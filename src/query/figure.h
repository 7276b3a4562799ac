/* figure.h: what a number of samples stands for, with its interval, and how all reports write
 * numbers. Texts are returned by value, so that a format can have several. */
#ifndef QUERY_FIGURE_H
#define QUERY_FIGURE_H

#include "profile/blocks_spread.h"
#include "query/query.h"

/* What samples estimate, with the 95% interval; at rate 1 all three are equal. */
typedef struct figure {
    uint64_t samples;
    double value, low, high;
    double margin; /* 1.96 standard errors, printed after ± if the interval is nearly symmetric */
    bool has_ends; /* the truth is anywhere between `low` and `high`, so both are shown */
} figure;

/* Estimates bytes, with an exact interval. */
figure figure_of(const profile *p, uint64_t samples);

/* Estimates bytes; at rate 1, of an amount that is only known to be within these bounds. */
figure figure_between(const profile *p, uint64_t samples, blocks_spread spread);

/* A cache of intervals, by number of samples, because computing them takes time and the same small
 * numbers are asked for often. Legal when zeroed. It belongs to one profile, and any number of
 * threads may use it. */
enum { FIGURES_KEPT = 10001 };
typedef struct figure_cache {
    _Atomic double low[FIGURES_KEPT], high[FIGURES_KEPT];
} figure_cache;

figure figure_of_cached(figure_cache *cache, const profile *p, uint64_t samples);

/* Returns a figure in the unit of the query's measure; `may` is what is known of the blocks, such
 * as by its filter. */
figure figure_of_cost_within(const query_result *q, filter_bounds may, const cost *c);

/* Returns the figure of an estimate that is not a number of samples times a constant. */
figure figure_of_estimate(estimate e, uint64_t samples);

/* Returns the sum of independent figures, as of two traces. */
figure figure_sum(figure a, figure b);

/* Returns the part of the query's total, 0 … 1; 0 if there is no total. */
double figure_share(const query_result *q, const cost *c);

typedef struct figure_text {
    char text[40];
} figure_text;

/* Two numbers as text and what stands between them. */
typedef struct figure_range {
    char text[100];
} figure_range;

figure_text figure_bytes(double bytes);            /* 76.3 MB, where 1 MB is 2^20 bytes */
figure_text figure_count(uint64_t n);              /* 1,000 */
figure_text figure_decimal(double x, int digits);  /* 3,830.0 */
figure_text figure_rate(double rate);              /* 1e-4 */
double figure_rate_up(double rate);                /* to two digits, not above 1 */
figure_text figure_duration(uint64_t micros);      /* 1.25 s, 3 min 20 s */
figure_text figure_date(uint64_t micros);          /* since the epoch: 2026-11-20 12:30:05 UTC */
const char *figure_unit(measure_unit unit);        /* as in JSON: B, blocks, B·s */
figure_range figure_margin(const figure *f);       /* ± 4.7 MB; 94.6 KB … 2.8 MB; exact */
double figure_percent(uint64_t part, uint64_t of); /* 0 if `of` is 0 */

/* 76.3 MB, 1,200 blocks, 3.1 MB·s; and the error in that unit. */
figure_text figure_amount(measure_unit unit, double value);
figure_range figure_margin_in(measure_unit unit, const figure *f);

/* Says how far the truth may be from a figure: by the margin; by both ends of the interval if these
 * are not about equally far away, as with fewer than ten samples; or `exact`. For figures in other
 * units, the caller passes the texts. */
figure_range figure_error(const figure *f, const char *margin, const char *low, const char *high);

/* Formats the error to follow the value, with a blank: in parentheses if it has two ends; empty if
 * exact. */
figure_range figure_beside(figure_range error);

#endif
