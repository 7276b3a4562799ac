/* compare.c: sampling errors are those of (scaled) Poisson counts, compared by the conditional
 * binomial test. With several runs, Welch's t test of their differences is done as well, and the
 * less certain of the two results counts. */
#include "query/compare.h"

#include <math.h>
#include <stdlib.h>

/* The least factor (1 - rate) of a variance, so that one formula serves all rates. */
#define LEAST_VARIANCE 1e-9

/* Counts above which the normal distribution is as good as the exact ones. */
#define MANY 1e5

/* All runs of a side as one Poisson count with an exposure: amount = count / exposure. For weighted
 * amounts, the count is that of a Poisson variable with the same mean and variance. */
typedef struct pooled {
    double count, exposure;
    bool exact; /* every run is at rate 1 */
} pooled;

static double run_amount(const compare_side *side, size_t run) {
    const compare_run *r = &side->runs[run];
    return side->weighted ? side->weighted[run].amount.value
                          : (double)side->samples[run] * r->unit / r->rate;
}

/* Returns the factor (1 - rate) of the variance at a run's rate. */
static double rest_of(const compare_run *run) {
    return fmax(1 - run->rate, LEAST_VARIANCE);
}

/* Adds up a side's runs, or only those that are exact. */
static void add_scatter(const compare_side *side, bool exact_alone, double *scatter,
                        double *amounts) {
    for (size_t i = 0; i < side->n_runs; i++) {
        const compare_run *r = &side->runs[i];
        const double weight = exact_alone ? r->rate >= 1 : rest_of(r) / r->rate;
        *scatter += weight * side->weighted[i].scatter;
        *amounts += weight * run_amount(side, i);
    }
}

/* Returns the unit of a weighted amount from both sides: variance = amount · unit · rest / rate. If
 * nothing changed, it is the same on both. Exact runs know it; otherwise noisy runs weigh more, so
 * that sums of variances are compared. */
static double common_unit(const compare_side *b, const compare_side *a) {
    for (int exact_alone = 1; exact_alone >= 0; exact_alone--) {
        double scatter = 0, amounts = 0;
        add_scatter(b, exact_alone, &scatter, &amounts);
        add_scatter(a, exact_alone, &scatter, &amounts);
        if (scatter > 0 && amounts > 0)
            return scatter / amounts;
    }
    return 1;
}

static pooled pool_weighted(const compare_side *side, double unit) {
    pooled sum = {.exact = true};
    for (size_t i = 0; i < side->n_runs; i++) {
        double exposure = side->runs[i].rate / (unit * rest_of(&side->runs[i]));
        sum.count += run_amount(side, i) * exposure;
        sum.exposure += exposure;
        sum.exact = sum.exact && side->runs[i].rate >= 1;
    }
    return sum;
}

static pooled pool(const compare_side *side) {
    pooled sum = {.exact = true};
    for (size_t i = 0; i < side->n_runs; i++) {
        const compare_run *r = &side->runs[i];
        double rest = rest_of(r);
        sum.count += (double)side->samples[i] / rest;
        sum.exposure += r->rate / (r->unit * rest);
        sum.exact = sum.exact && r->rate >= 1;
    }
    return sum;
}

static uint64_t samples_of(const compare_side *side) {
    uint64_t sum = 0;
    for (size_t i = 0; i < side->n_runs; i++)
        sum += side->samples[i];
    return sum;
}

/* ---- one side ----------------------------------------------------------------------------- */

/* Garwood's limits of a Poisson mean. */
static double poisson_limit(double count, double sign) {
    if (sign < 0 && count <= 0)
        return 0;
    return sign < 0 ? estimate_gamma_quantile(count, ESTIMATE_TAIL)
                    : estimate_gamma_quantile(count + 1, 1 - ESTIMATE_TAIL);
}

static estimate side_amount(const compare_side *side, const pooled *p) {
    if (side->n_runs == 1 && side->weighted)
        return side->weighted[0].amount;
    if (side->n_runs == 1) { /* the same numbers as in all other reports */
        estimate e = estimate_words(side->samples[0], side->runs[0].rate);
        double unit = side->runs[0].unit;
        return estimate_times(e, unit);
    }
    double value = p->count / p->exposure;
    if (p->exact)
        return estimate_exact(value);
    return (estimate){.value = value,
                      .low = poisson_limit(p->count, -1) / p->exposure,
                      .high = poisson_limit(p->count, 1) / p->exposure};
}

/* Returns the amount for the change: what was seen on one side is assumed possible on the other. */
static estimate seen_amount(const compare_side *side, const estimate *amount) {
    return side->n_runs == 1 && side->weighted ? side->weighted[0].seen : *amount;
}

/* ---- sampling error ------------------------------------------------------------------------ */

static double doubled(double lower, double upper) {
    return fmin(1, 2 * fmin(lower, upper));
}

/* Tail probability of a Poisson count with a known mean. */
static double poisson_p(double count, double mean) {
    if (mean <= 0)
        return count > 0 ? 0 : 1;
    double lower = 1 - estimate_gamma_p(count + 1, mean);
    return doubled(lower, count > 0 ? estimate_gamma_p(count, mean) : 1);
}

/* Tail probability of the binomial distribution of `after`, given the sum of both counts. */
static double binomial_p(double before, double after, double share) {
    double n = before + after;
    if (n <= 0)
        return 1;
    if (before > MANY && after > MANY)
        return erfc(fabs(after - n * share) / sqrt(2 * n * share * (1 - share)));
    double upper = after > 0 ? estimate_beta_i(after, before + 1, share) : 1;
    double lower = before > 0 ? estimate_beta_i(before, after + 1, 1 - share) : 1;
    return doubled(lower, upper);
}

static bool same_amount(double a, double b) {
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static double sampling_p(const pooled *b, const pooled *a) {
    double before = b->count / b->exposure, after = a->count / a->exposure;
    if (b->exact && a->exact)
        return same_amount(before, after);
    if (b->exact)
        return poisson_p(a->count, before * a->exposure);
    if (a->exact)
        return poisson_p(b->count, after * b->exposure);
    return binomial_p(b->count, a->count, a->exposure / (a->exposure + b->exposure));
}

/* All samples on the side where they are less expected. */
static double least_p(const pooled *b, const pooled *a) {
    if (b->exact || a->exact)
        return 0;
    double n = b->count + a->count, share = a->exposure / (a->exposure + b->exposure);
    return fmin(1, 2 * fmin(pow(share, n), pow(1 - share, n)));
}

/* ---- intervals ----------------------------------------------------------------------------- */

/* Clopper and Pearson's limits of the share of `after` in both counts. */
static double share_limit(double after, double before, double sign) {
    if (sign < 0 ? after <= 0 : before <= 0)
        return sign < 0 ? 0 : 1;
    double n = before + after, share = after / n;
    if (before > MANY && after > MANY)
        return share + sign * ESTIMATE_NORMAL * sqrt(share * (1 - share) / n);
    double low = 0, high = 1;
    for (int i = 0; i < 100 && high - low > 1e-15 * high; i++) {
        double x = (low + high) / 2;
        double f = sign < 0 ? estimate_beta_i(after, before + 1, x)
                            : estimate_beta_i(after + 1, before, x);
        *(f < (sign < 0 ? ESTIMATE_TAIL : 1 - ESTIMATE_TAIL) ? &low : &high) = x;
    }
    return (low + high) / 2;
}

static double odds(double share) {
    return share < 1 ? share / (1 - share) : INFINITY;
}

/* As in estimate_difference(), on a logarithmic scale. */
static estimate ratio_of_weighted(const estimate *b, const estimate *a) {
    if (b->value <= 0 && a->value <= 0)
        return estimate_exact(NAN);
    if (b->value <= 0)
        return (estimate){.value = INFINITY, .low = a->low / b->high, .high = INFINITY};
    if (a->value <= 0)
        return (estimate){.value = 0, .low = 0, .high = a->high / b->low};
    double value = a->value / b->value;
    return (estimate){.value = value,
                      .low = value * exp(-hypot(log(a->value / a->low), log(b->high / b->value))),
                      .high = value * exp(hypot(log(a->high / a->value), log(b->value / b->low)))};
}

static estimate ratio_of(const pooled *b, const pooled *a, const estimate *before,
                         const estimate *after) {
    if (before->value <= 0 && after->value <= 0)
        return estimate_exact(NAN);
    double value = before->value > 0 ? after->value / before->value : INFINITY;
    if (b->exact || a->exact)
        return (estimate){.value = value,
                          .low = after->low / before->high,
                          .high = before->low > 0 ? after->high / before->low : INFINITY};
    double per = b->exposure / a->exposure;
    return (estimate){.value = value,
                      .low = per * odds(share_limit(a->count, b->count, -1)),
                      .high = per * odds(share_limit(a->count, b->count, 1))};
}

/* ---- several runs -------------------------------------------------------------------------- */

/* The variance of a side's mean between runs. */
typedef struct spread {
    double single; /* of one run, from the runs; NaN for a single run */
    double mean;   /* of the side's mean; at least the sampling variance */
    double df;
} spread;

static spread spread_of(const compare_side *side, double mean) {
    spread s = {.single = NAN, .df = (double)side->n_runs - 1};
    if (side->n_runs < 2)
        return s;
    double squares = 0;
    for (size_t i = 0; i < side->n_runs; i++) {
        double d = run_amount(side, i) - mean;
        squares += d * d;
    }
    s.single = squares / s.df;
    return s;
}

/* A side of one run takes over the other's variance. No variance is below that of sampling. */
static void complete(spread *s, const spread *other, const compare_side *side, const pooled *p) {
    if (isnan(s->single)) {
        s->single = other->single;
        s->df = other->df;
    }
    double sampling = p->exact ? 0 : p->count / (p->exposure * p->exposure);
    s->mean = fmax(s->single / (double)side->n_runs, sampling);
}

/* Welch and Satterthwaite's degrees of freedom. */
static double welch_df(const spread *b, const spread *a) {
    double sum = b->mean + a->mean;
    return sum * sum / (b->mean * b->mean / b->df + a->mean * a->mean / a->df);
}

static void widen(estimate *e, double margin) {
    e->low = fmin(e->low, e->value - margin);
    e->high = fmax(e->high, e->value + margin);
}

static void add_variance_of_runs(comparison *c, const compare_side *before, const pooled *b,
                                 const compare_side *after, const pooled *a) {
    spread sb = spread_of(before, c->before.value), sa = spread_of(after, c->after.value);
    spread own = sb;
    complete(&sb, &sa, before, b);
    complete(&sa, &own, after, a);
    double variance = sb.mean + sa.mean;
    if (variance <= 0)
        return; /* all runs are exact and equal */
    double df = welch_df(&sb, &sa), t = compare_student_quantile(2 * ESTIMATE_TAIL, df);
    widen(&c->before, compare_student_quantile(2 * ESTIMATE_TAIL, sb.df) * sqrt(sb.mean));
    widen(&c->after, compare_student_quantile(2 * ESTIMATE_TAIL, sa.df) * sqrt(sa.mean));
    c->before.low = fmax(0, c->before.low);
    c->after.low = fmax(0, c->after.low);
    widen(&c->change, t * sqrt(variance));
    if (c->before.value > 0) {
        double r = c->ratio.value;
        widen(&c->ratio, t * sqrt(sa.mean + r * r * sb.mean) / c->before.value);
        c->ratio.low = fmax(0, c->ratio.low);
    }
    c->p = fmax(c->p, compare_student_tails(fabs(c->change.value) / sqrt(variance), df));
}

/* ---- the comparison ------------------------------------------------------------------------ */

/* If the upper limit of a ratio is more than several, and several times the ratio, one side has
 * hardly any samples: fewer than four before, or one after. */
static bool ratio_says_nothing(const comparison *c) {
    const double several = 4;
    return c->before_samples > 0 && c->after_samples > 0 && c->ratio.high > several &&
           c->ratio.high > several * c->ratio.value;
}

static comparison compare(const compare_side *before, const compare_side *after, bool with_ratio) {
    bool weighted = before->weighted && after->weighted;
    double unit = weighted ? common_unit(before, after) : 0;
    pooled b = weighted ? pool_weighted(before, unit) : pool(before);
    pooled a = weighted ? pool_weighted(after, unit) : pool(after);
    comparison c = {.before = side_amount(before, &b),
                    .after = side_amount(after, &a),
                    .before_samples = samples_of(before),
                    .after_samples = samples_of(after),
                    .p = sampling_p(&b, &a),
                    .least_p = least_p(&b, &a)};
    const estimate x = seen_amount(before, &c.before), y = seen_amount(after, &c.after);
    c.change = estimate_difference(y, x);
    if (with_ratio)
        c.ratio = weighted ? ratio_of_weighted(&x, &y) : ratio_of(&b, &a, &x, &y);
    if (before->n_runs > 1 || after->n_runs > 1)
        add_variance_of_runs(&c, before, &b, after, &a);
    if (!with_ratio || ratio_says_nothing(&c))
        c.ratio = estimate_exact(NAN);
    return c;
}

comparison compare_sides(const compare_side *before, const compare_side *after) {
    return compare(before, after, true);
}

comparison compare_change(const compare_side *before, const compare_side *after) {
    return compare(before, after, false);
}

/* ---- many comparisons ---------------------------------------------------------------------- */

static int compare_tests(const void *a, const void *b) {
    const compare_test *x = *(compare_test *const *)a, *y = *(compare_test *const *)b;
    return (x->p > y->p) - (x->p < y->p);
}

bool compare_q_values(compare_test *tests, size_t n) {
    compare_test **order = malloc((n + 1) * sizeof(compare_test *));
    if (!order)
        return false;
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        tests[i].q = 1;
        if (tests[i].least_p <= COMPARE_FALSE_DISCOVERIES)
            order[m++] = &tests[i];
    }
    qsort(order, m, sizeof *order, compare_tests);
    double smallest = 1;
    for (size_t i = m; i-- > 0;) {
        smallest = fmin(smallest, order[i]->p * (double)m / (double)(i + 1));
        order[i]->q = smallest;
    }
    free(order);
    return true;
}

/* ---- Student's law ------------------------------------------------------------------------- */

double compare_student_tails(double t, double df) {
    return estimate_beta_i(df / 2, 0.5, df / (df + t * t));
}

double compare_student_quantile(double p, double df) {
    double low = 0, high = 1;
    while (compare_student_tails(high, df) > p)
        high *= 2;
    for (int i = 0; i < 100 && high - low > 1e-13 * high; i++) {
        double t = (low + high) / 2;
        *(compare_student_tails(t, df) > p ? &low : &high) = t;
    }
    return (low + high) / 2;
}
