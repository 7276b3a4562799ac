/* figure.c: how an interval is rounded, when it is shown as a margin and when by its two ends, and
 * how bytes, counts, times and dates are written. Intervals are computed once per number of samples
 * (figure_cache). */
#include "query/figure.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

figure figure_of(const profile *p, uint64_t samples) {
    double word = p->info.word_size / 8.0;
    estimate words = estimate_words(samples, p->info.sample_rate);
    return (figure){.samples = samples,
                    .value = words.value * word,
                    .low = words.low * word,
                    .high = words.high * word,
                    .margin = estimate_normal_margin(samples, p->info.sample_rate) * word};
}

/* Threads that compute the same interval at once store the same numbers. `high` is stored last. It
 * is 0 only at rate 1 without samples, which takes no time to compute. */
figure figure_of_cached(figure_cache *cache, const profile *p, uint64_t samples) {
    if (!cache || samples >= FIGURES_KEPT)
        return figure_of(p, samples);
    const double high = atomic_load_explicit(&cache->high[samples], memory_order_acquire);
    if (high > 0)
        return (figure){.samples = samples,
                        .value = cost_bytes(p, samples),
                        .low = atomic_load_explicit(&cache->low[samples], memory_order_relaxed),
                        .high = high,
                        .margin = estimate_normal_margin(samples, p->info.sample_rate) *
                                  p->info.word_size / 8};
    const figure f = figure_of(p, samples);
    atomic_store_explicit(&cache->low[samples], f.low, memory_order_relaxed);
    atomic_store_explicit(&cache->high[samples], f.high, memory_order_release);
    return f;
}

figure figure_of_estimate(estimate e, uint64_t samples) {
    return (figure){.samples = samples,
                    .value = e.value,
                    .low = e.low,
                    .high = e.high,
                    .margin = estimate_margin(e)};
}

/* Where the table does not show 1.96 standard errors anyway, the margin is half the interval. */
figure figure_of_cost_within(const query_result *q, filter_bounds may, const cost *c) {
    if (measure_infos[q->measure].unit == UNIT_BYTES)
        return figure_of(q->profile, c->samples);
    return figure_of_estimate(cost_estimate(q->profile, q->measure, may, c), c->samples);
}

figure figure_sum(figure a, figure b) {
    figure sum = {.samples = a.samples + b.samples,
                  .value = a.value + b.value,
                  .margin = hypot(a.margin, b.margin)};
    sum.low = fmax(fmax(a.low, b.low), sum.value - sum.margin);
    sum.high = sum.value + sum.margin;
    return sum;
}

double figure_share(const query_result *q, const cost *c) {
    return q->total.weight > 0 ? c->weight / q->total.weight : 0;
}

figure_text figure_bytes(double bytes) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    enum { LAST = sizeof units / sizeof *units - 1 };
    int unit = 0;
    while (unit < LAST && bytes >= (unit == 0 ? 1023.5 : 1023.95)) { /* as it will be rounded */
        bytes /= 1024;
        unit++;
    }
    figure_text t;
    if (bytes < 1e6)
        snprintf(t.text, sizeof t.text, "%.*f %s", unit > 0, bytes, units[unit]);
    else /* of a damaged trace */
        snprintf(t.text, sizeof t.text, "%.3g %s", bytes, units[unit]);
    return t;
}

figure_text figure_count(uint64_t n) {
    char digits[24];
    const char *p = digits, *end = digits + snprintf(digits, sizeof digits, "%" PRIu64, n);
    figure_text t;
    size_t used = 0;
    for (; p < end; p++) {
        t.text[used++] = *p;
        if ((end - p) % 3 == 1 && p + 1 < end)
            t.text[used++] = ',';
    }
    t.text[used] = '\0';
    return t;
}

/* Only the whole part gets separators. */
figure_text figure_decimal(double x, int digits) {
    char plain[64];
    figure_text t;
    size_t used = 0;
    const int size = snprintf(plain, sizeof plain, fabs(x) < 1e15 ? "%.*f" : "%.*g", digits, x);
    const size_t whole = strcspn(plain, fabs(x) < 1e15 ? "." : "e");
    for (size_t i = 0; i < (size_t)size && used + 2 < sizeof t.text; i++) {
        const bool digit = plain[i] >= '0' && plain[i] <= '9';
        t.text[used++] = plain[i];
        if (digit && i + 1 < whole && (whole - i) % 3 == 1)
            t.text[used++] = ',';
    }
    t.text[used] = '\0';
    return t;
}

/* Dividing by a power of ten, which is exact, gives exactly the number that the two digits stand
 * for. */
double figure_rate_up(double rate) {
    const double steps = pow(10, 1 - floor(log10(rate)));
    return fmin(1, ceil(rate * steps - 1e-9) / steps);
}

figure_text figure_rate(double rate) {
    figure_text t;
    if (rate >= 0.001) {
        snprintf(t.text, sizeof t.text, "%.6g", rate);
        return t;
    }
    char digits[32];
    snprintf(digits, sizeof digits, "%.5e", rate); /* 1.00000e-04 */
    char *e = strchr(digits, 'e');
    *e = '\0';
    snprintf(t.text, sizeof t.text, "%.6ge%ld", strtod(digits, NULL), strtol(e + 1, NULL, 10));
    return t;
}

figure_text figure_duration(uint64_t micros) {
    figure_text t;
    double seconds = (double)micros / 1e6;
    uint64_t whole = (micros + 500000) / 1000000;
    if (micros < 1000)
        snprintf(t.text, sizeof t.text, "%" PRIu64 " µs", micros);
    else if (seconds < 0.9995) /* limits as they will be rounded */
        snprintf(t.text, sizeof t.text, "%.3g ms", seconds * 1e3);
    else if (seconds < 59.995)
        snprintf(t.text, sizeof t.text, "%.2f s", seconds);
    else if (whole < 3600)
        snprintf(t.text, sizeof t.text, "%" PRIu64 " min %" PRIu64 " s", whole / 60, whole % 60);
    else
        snprintf(t.text, sizeof t.text, "%" PRIu64 " h %" PRIu64 " min", whole / 3600,
                 whole / 60 % 60);
    return t;
}

figure_text figure_date(uint64_t micros) {
    figure_text t = {"unknown"};
    time_t seconds = (time_t)(micros / 1000000);
    struct tm tm;
    if (gmtime_r(&seconds, &tm))
        strftime(t.text, sizeof t.text, "%Y-%m-%d %H:%M:%S UTC", &tm);
    return t;
}

const char *figure_unit(measure_unit unit) {
    static const char *const names[] = {[UNIT_BYTES] = "B",
                                        [UNIT_BLOCKS] = "blocks",
                                        [UNIT_BYTESECONDS] = "B·s",
                                        [UNIT_REQUESTED] = "B"};
    return names[unit];
}

figure figure_between(const profile *p, uint64_t samples, blocks_spread spread) {
    figure f = figure_of(p, samples);
    if (p->info.sample_rate < 1 || spread.low == spread.high)
        return f;
    f.low = figure_of(p, spread.low).value;
    f.high = figure_of(p, spread.high).value;
    f.margin = (f.high - f.low) / 2;
    f.has_ends = true;
    return f;
}

/* The interval of nine samples at a small rate reaches 1.65 times as far up as down. */
static bool figure_is_lopsided(const figure *f) {
    return f->has_ends || f->high - f->value > 1.64 * (f->value - f->low);
}

figure_range figure_error(const figure *f, const char *margin, const char *low, const char *high) {
    figure_range t = {"exact"};
    if (f->low >= f->high)
        return t;
    if (figure_is_lopsided(f))
        snprintf(t.text, sizeof t.text, "%.40s … %.40s", low, high);
    else
        snprintf(t.text, sizeof t.text, "± %.40s", margin);
    return t;
}

figure_range figure_margin(const figure *f) {
    return figure_error(f, figure_bytes(f->margin).text, figure_bytes(f->low).text,
                        figure_bytes(f->high).text);
}

figure_range figure_beside(figure_range error) {
    figure_range t = {""};
    if (strncmp(error.text, "± ", strlen("± ")) == 0)
        snprintf(t.text, sizeof t.text, " %.90s", error.text);
    else if (strcmp(error.text, "exact") != 0)
        snprintf(t.text, sizeof t.text, " (%.90s)", error.text);
    return t;
}

double figure_percent(uint64_t part, uint64_t of) {
    return of ? 100.0 * (double)part / (double)of : 0;
}

/* ---- in a unit ------------------------------------------------------------------------- */

/* Returns a number without the name of its unit. */
static figure_text figure_number(measure_unit unit, double value) {
    if (unit == UNIT_BLOCKS)
        return figure_count((uint64_t)llround(value));
    if (unit != UNIT_BYTESECONDS)
        return figure_bytes(value);
    figure_text t;
    snprintf(t.text, sizeof t.text, "%.30s·s", figure_bytes(value).text);
    return t;
}

figure_text figure_amount(measure_unit unit, double value) {
    figure_text n = figure_number(unit, value), t;
    const char *name = unit != UNIT_BLOCKS ? "" : llround(value) == 1 ? " block" : " blocks";
    snprintf(t.text, sizeof t.text, "%.30s%s", n.text, name);
    return t;
}

figure_range figure_margin_in(measure_unit unit, const figure *f) {
    return figure_error(f, figure_number(unit, f->margin).text, figure_number(unit, f->low).text,
                        figure_number(unit, f->high).text);
}
