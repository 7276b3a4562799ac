/* diff.c: takes the sites of each run from the hotspots query, matches them, and compares each
 * pair. */
#include "query/diff.h"

#include <math.h>
#include <stdlib.h>

#include "profile/blocks_turns.h"
#include "query/diff_match.h"

const char *const diff_normalisations[] = {
#define NORMALISATION_TEXT(name, text) text,
    DIFF_NORMALISATIONS(NORMALISATION_TEXT)
#undef NORMALISATION_TEXT
        NULL};

/* One side of the query. */
typedef struct side {
    size_t n;           /* runs */
    hotspots *hotspots; /* by run */
    compare_run *sites; /* by run: how samples become amounts */
    compare_run *total; /* by run: how samples of the whole program become amounts */
    uint64_t *samples;  /* by run: of the whole program */
    uint64_t *none;     /* by run: 0 */
    match_rows rows;

    /* If samples count differently: */
    bool is_weighted;
    const query_result *const *answers; /* by run */
    double *per;                        /* by run: divides the amount of a site */
    double *per_total;                  /* by run: divides the amount of the whole program */
    compare_weighted *weighted;         /* by run; of what is being compared */
} side;

/* ---- reading sides ------------------------------------------------------------------------- */

static double positive(double x) {
    return x > 0 ? x : 1;
}

/* Returns the divisor for amounts, as the user asked. */
static double divisor(const profile *p, const diff_options *o, double per) {
    double time = o->normalise == DIFF_BY_TIME ? positive((double)p->duration / 1e6) : 1;
    return positive(per) * time;
}

/* Returns the amount per word: bytes over the divisor. */
static double word_amount(const profile *p, const diff_options *o, double per) {
    return p->info.word_size / 8.0 / divisor(p, o, per);
}

static bool allocate_side(side *s, size_t n) {
    *s = (side){.n = n,
                .hotspots = calloc(n, sizeof *s->hotspots),
                .sites = calloc(n, sizeof *s->sites),
                .total = calloc(n, sizeof *s->total),
                .samples = calloc(n, sizeof *s->samples),
                .none = calloc(n, sizeof *s->none),
                .per = calloc(n, sizeof *s->per),
                .per_total = calloc(n, sizeof *s->per_total),
                .weighted = calloc(n, sizeof *s->weighted)};
    return s->hotspots && s->sites && s->total && s->samples && s->none && s->per && s->per_total &&
           s->weighted;
}

static bool read_side(side *s, const query_result *const *answers, size_t n, const diff_options *o,
                      double per) {
    if (!allocate_side(s, n))
        return false;
    s->answers = answers;
    s->is_weighted = measure_infos[answers[0]->measure].unit != UNIT_BYTES;
    for (size_t i = 0; i < n; i++) {
        const profile *p = answers[i]->profile;
        if (!hotspots_query(answers[i], o->by, &s->hotspots[i]))
            return false;
        s->samples[i] = s->hotspots[i].total.samples;
        s->total[i] = s->sites[i] =
            (compare_run){.rate = p->info.sample_rate, .unit = word_amount(p, o, per)};
        if (o->normalise == DIFF_BY_TOTAL)
            s->sites[i].unit = p->info.sample_rate / positive((double)s->samples[i]);
        s->per[i] = s->per_total[i] = divisor(p, o, per);
        if (o->normalise == DIFF_BY_TOTAL)
            s->per[i] = positive(cost_value(p, answers[i]->measure, &s->hotspots[i].total));
    }
    return match_gather(s->hotspots, n, &s->rows);
}

static void free_side(side *s) {
    for (size_t i = 0; s->hotspots && i < s->n; i++)
        hotspots_free(&s->hotspots[i]);
    free(s->hotspots);
    free(s->sites);
    free(s->total);
    free(s->samples);
    free(s->none);
    free(s->per);
    free(s->per_total);
    free(s->weighted);
    match_free(&s->rows);
}

/* ---- comparing ----------------------------------------------------------------------------- */

static estimate divided(estimate e, double by) {
    return (estimate){.value = e.value / by, .low = e.low / by, .high = e.high / by};
}

/* Returns an amount in units of the comparison; `seen` is what was seen on either side. Without a
 * sample, one with the largest weight in `seen` may have been missed. */
static compare_weighted weigh(const query_result *q, const cost *c, const cost *seen, double per) {
    const profile *p = q->profile;
    const cost with = cost_with_missed(p, q->measure, c, seen);
    const cost own = c->samples == 0 ? with : *c;
    const bool is_number = measure_infos[q->measure].unit == UNIT_BLOCKS;
    const cost shown = c->samples == 0 || is_number ? with : *c;
    return (compare_weighted){.amount = divided(cost_estimate(p, q->measure, q->may, &own), per),
                              .seen = divided(cost_estimate_of_seen(p, q->measure, &shown), per),
                              .scatter = cost_scatter(p, q->measure, c) / per / per};
}

/* Compares two sides: of the whole program, or of a site with these samples and costs. */
static comparison compare(const side *b, const compare_side *before, const side *a,
                          const compare_side *after) {
    compare_side x = *before, y = *after;
    x.weighted = b->is_weighted ? b->weighted : NULL;
    y.weighted = a->is_weighted ? a->weighted : NULL;
    return compare_sides(&x, &y);
}

/* Returns what was seen on either side. */
static cost seen_in_all(const side *b, const side *a) {
    const side *const sides[] = {b, a};
    cost seen = {0};
    for (int j = 0; j < 2; j++)
        for (size_t i = 0; sides[j]->is_weighted && i < sides[j]->n; i++)
            cost_add(&seen, &sides[j]->hotspots[i].total);
    return seen;
}

static compare_side total_of(const side *s, const cost *seen) {
    for (size_t i = 0; s->is_weighted && i < s->n; i++)
        s->weighted[i] = weigh(s->answers[i], &s->hotspots[i].total, seen, s->per_total[i]);
    return (compare_side){.runs = s->total, .samples = s->samples, .n_runs = s->n};
}

static comparison compare_totals(const side *b, const side *a) {
    const cost seen = seen_in_all(b, a);
    compare_side before = total_of(b, &seen), after = total_of(a, &seen);
    return compare(b, &before, a, &after);
}

/* Adds what was seen of a site on one side. */
static void add_seen_at(const side *s, uint32_t row, cost *seen) {
    for (size_t i = 0; row != MATCH_NONE && i < s->n; i++)
        cost_add(seen, &s->rows.costs.items[s->rows.rows.items[row].counts + i]);
}

static compare_side side_at(const side *s, uint32_t row, const cost *seen) {
    size_t first = row == MATCH_NONE ? 0 : s->rows.rows.items[row].counts;
    for (size_t i = 0; s->is_weighted && i < s->n; i++) {
        cost c = row == MATCH_NONE ? (cost){0} : s->rows.costs.items[first + i];
        s->weighted[i] = weigh(s->answers[i], &c, seen, s->per[i]);
    }
    const uint64_t *samples = row == MATCH_NONE ? s->none : s->rows.counts.items + first;
    return (compare_side){.runs = s->sites, .samples = samples, .n_runs = s->n};
}

static diff_site compare_pair(const side *b, const side *a, const match_pair *pair, size_t index) {
    diff_site site = {.index = index,
                      .in_before = pair->before != MATCH_NONE,
                      .in_after = pair->after != MATCH_NONE};
    if (site.in_before)
        site.before = b->rows.rows.items[pair->before].name;
    if (site.in_after)
        site.after = a->rows.rows.items[pair->after].name;
    cost seen = {0};
    add_seen_at(b, pair->before, &seen);
    add_seen_at(a, pair->after, &seen);
    compare_side before = side_at(b, pair->before, &seen), after = side_at(a, pair->after, &seen);
    site.c = compare(b, &before, a, &after);
    return site;
}

static bool compare_pairs(const side *b, const side *a, diff *d) {
    match_pairs pairs = {0};
    bool ok = match_sides(&b->rows, &a->rows, &pairs) && vec_reserve(&d->sites, pairs.count);
    for (size_t i = 0; ok && i < pairs.count; i++)
        d->sites.items[d->sites.count++] = compare_pair(b, a, &pairs.items[i], i);
    vec_free(&pairs);
    return ok;
}

/* ---- judging ------------------------------------------------------------------------------- */

static double sure_part(const estimate *change) {
    return change->low > 0 ? change->low : change->high < 0 ? -change->high : 0;
}

static bool judge(diff *d) {
    size_t n = d->sites.count;
    compare_test *tests = malloc((n + 1) * sizeof *tests);
    for (size_t i = 0; tests && i < n; i++)
        tests[i] =
            (compare_test){.p = d->sites.items[i].c.p, .least_p = d->sites.items[i].c.least_p};
    const bool ok = tests && compare_q_values(tests, n);
    for (size_t i = 0; ok && i < n; i++) {
        diff_site *s = &d->sites.items[i];
        s->q = tests[i].q;
        s->sure = s->q <= COMPARE_FALSE_DISCOVERIES;
        s->sure_change = s->sure ? sure_part(&s->c.change) : 0;
        d->n_sure += s->sure;
    }
    free(tests);
    return ok;
}

/* What is live at a moment depends on how threads interleave. */
static bool depends_on_turns(const query_result *before, const query_result *after) {
    const bool live = before->measure == MEASURE_PEAK || before->measure == MEASURE_LIVE;
    return live && before->profile != after->profile &&
           (before->profile->n_domains > 1 || after->profile->n_domains > 1);
}

bool diff_any_is_partial(const query_result *const *runs, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (profile_is_partial(runs[i]->profile))
            return true;
    return false;
}

static bool can_be_compared(const query_result *const *before, size_t n_before,
                            const query_result *const *after, size_t n_after) {
    return before[0]->profile == after[0]->profile ||
           (!diff_any_is_partial(before, n_before) && !diff_any_is_partial(after, n_after));
}

bool diff_is_decided(const diff_options *options, const query_result *const *before,
                     size_t n_before, const query_result *const *after, size_t n_after) {
    const bool varies = options->normalise == DIFF_BY_TIME ||
                        before[0]->measure == MEASURE_BYTESECONDS ||
                        depends_on_turns(before[0], after[0]);
    return can_be_compared(before, n_before, after, n_after) &&
           (!varies || n_before > 1 || n_after > 1);
}

static void leave_undecided(diff *d) {
    for (size_t i = 0; i < d->sites.count; i++) {
        diff_site *s = &d->sites.items[i];
        s->q = s->c.p = (double)NAN;
        s->sure = false;
        s->sure_change = 0;
    }
    d->n_sure = 0;
    d->total.p = (double)NAN;
    d->total_sure = false;
}

/* Bounds a run's peak for any way in which its threads take turns, with the error of sampling. */
static bool find_peak(const query_result *q, double unit, estimate *peak) {
    blocks_spread spread;
    if (!blocks_turns(&q->profile->table, &spread))
        return false;
    const double rate = q->profile->info.sample_rate;
    *peak = (estimate){.low = estimate_words(spread.low, rate).low * unit,
                       .high = estimate_words(spread.high, rate).high * unit};
    return true;
}

/* Two runs of several threads can tell that the peak changed if no way of taking turns would
 * explain it. Which sites held it may still depend on that way. */
static bool decide_peak(const side *before, const side *after, diff *d) {
    const query_result *b = before->answers[0], *a = after->answers[0];
    estimate was, is;
    if (d->measure != MEASURE_PEAK || d->options.normalise == DIFF_BY_TIME || before->n > 1 ||
        after->n > 1 || !b->is_of_all || !a->is_of_all || !can_be_compared(&b, 1, &a, 1))
        return true;
    if (!find_peak(b, before->total[0].unit, &was) || !find_peak(a, after->total[0].unit, &is))
        return false;
    d->total_sure = was.high < is.low || is.high < was.low;
    return true;
}

static int falling(double a, double b) {
    return (a < b) - (a > b);
}

static int order_sites(const void *a, const void *b) {
    const diff_site *x = a, *y = b;
    if (x->sure != y->sure)
        return x->sure ? -1 : 1;
    int order = falling(x->sure_change, y->sure_change);
    if (order == 0)
        order = falling(fabs(x->c.change.value), fabs(y->c.change.value));
    if (order == 0)
        order = falling(x->c.before.value, y->c.before.value);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

void diff_sort(diff *d) {
    if (d->sites.count)
        qsort(d->sites.items, d->sites.count, sizeof *d->sites.items, order_sites);
}

bool diff_query(const query_result *const *before, size_t n_before,
                const query_result *const *after, size_t n_after, const diff_options *options,
                diff *result) {
    side b = {0}, a = {0};
    *result = (diff){.options = *options,
                     .measure = before[0]->measure,
                     .decided = diff_is_decided(options, before, n_before, after, n_after)};
    bool ok = read_side(&b, before, n_before, options, options->per_before) &&
              read_side(&a, after, n_after, options, options->per_after) &&
              compare_pairs(&b, &a, result) && judge(result);
    if (ok) {
        result->total = compare_totals(&b, &a);
        result->total_sure = result->total.p <= COMPARE_FALSE_DISCOVERIES;
        if (!result->decided)
            leave_undecided(result);
        ok = result->decided || decide_peak(&b, &a, result);
        diff_sort(result);
    }
    if (!ok)
        diff_free(result);
    free_side(&b);
    free_side(&a);
    return ok;
}

comparison diff_costs(const query_result *before, const cost *b, const query_result *after,
                      const cost *a) {
    const memtrace_info *ib = &before->profile->info, *ia = &after->profile->info;
    const compare_run of_b = {.rate = ib->sample_rate, .unit = ib->word_size / 8.0};
    const compare_run of_a = {.rate = ia->sample_rate, .unit = ia->word_size / 8.0};
    compare_side x = {.runs = &of_b, .samples = &b->samples, .n_runs = 1};
    compare_side y = {.runs = &of_a, .samples = &a->samples, .n_runs = 1};
    if (measure_infos[before->measure].unit == UNIT_BYTES)
        return compare_change(&x, &y);
    cost seen = *b;
    cost_add(&seen, a);
    const compare_weighted wb = weigh(before, b, &seen, 1), wa = weigh(after, a, &seen, 1);
    x.weighted = &wb;
    y.weighted = &wa;
    return compare_change(&x, &y);
}

void diff_free(diff *d) {
    vec_free(&d->sites);
    *d = (diff){0};
}
