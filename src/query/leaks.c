/* leaks.c: each block is added to the sums of its site, with the table split among threads; then
 * slopes are judged and sites sorted into classes. leaks_window.c finds the window, before a
 * clean-up if there is one. */
#include "query/leaks.h"

#include <math.h>
#include <string.h>

#include "profile/parallel.h"
#include "query/compare.h"

#define LEAST_GROWTH 0.1   /* of what is live: less growth within the window does not matter */
#define LEAST_LEFT   0.67  /* of the most that was live: growing sites have so much at the end */
#define LEAST_LATE   0.25  /* of the slope: in a growing site, the later half has as much */
#define LEAST_P      0.001 /* sites with smaller chances are not ordered by them */
#define MOST_BOUNDED 0.5   /* of what is live: a bounded site grows by no more */

const leaks_class_info leaks_class_infos[LEAKS_N_CLASSES] = {
#define LEAKS_CLASS_INFO(name, text, meaning) {text, meaning},
    LEAKS_CLASSES(LEAKS_CLASS_INFO)
#undef LEAKS_CLASS_INFO
};

/* ---- the window -------------------------------------------------------------------------- */

static bool choose_window(const profile *p, const leaks_spec *spec, leaks *l) {
    leaks_window w;
    if (spec->window)
        w = *spec->window;
    else if (!leaks_find_window(p, &w))
        return false;
    l->cleaned_up = w.cleaned_up;
    l->kept_all = w.kept_all;
    l->to = w.to;
    l->from = (uint64_t)(spec->warm_up * (double)w.to);
    return true;
}

/* ---- sums -------------------------------------------------------------------------------- */

/* A weighted sum over blocks, with what cost.h needs for its interval. */
typedef struct weighted {
    double sum, squares;
} weighted;

/* Sums of a site while blocks are added. Slopes are in weights of costs per second. */
typedef struct sums {
    cost live, startup, at_exit; /* live at the end of the window; the latter two are parts of it */
    cost came, went; /* live only at the end of the window; live only at its beginning */
    cost held;       /* by MEASURE_BYTESECONDS: what `live` held up to the end of the window */
    double changes[LEAKS_POINTS + 1]; /* of what is live, by point; the last is after the window */
    double periods[LEAKS_PERIODS];    /* the slope, by the period in which blocks were born */
    uint64_t moving;                  /* samples of blocks that add to the slope or take from it */
    double late;                      /* slope of the window's later half */
    weighted up, down;                /* of blocks that add to the slope; that take from it */
    double heaviest;                  /* of all blocks */
    uint64_t blocks;                  /* tracked blocks in these sums */
} sums;

/* A window. `begin` and `end` are microseconds from its middle. */
typedef struct window {
    uint64_t from, to;
    double middle, begin, end;
    double factor; /* 6 divided by the cube of its width, for sums in seconds */
} window;

static window window_of(uint64_t from, uint64_t to) {
    const double width = (double)(to - from), middle = ((double)from + (double)to) / 2;
    return (window){.from = from,
                    .to = to,
                    .middle = middle,
                    .begin = (double)from - middle,
                    .end = (double)to - middle,
                    .factor = 6e6 / (width * width * width)};
}

static inline double place_in(const window *w, uint64_t time) {
    return time <= w->from ? w->begin : time >= w->to ? w->end : (double)time - w->middle;
}

static inline double weight_in(const window *w, uint64_t born, uint64_t died) {
    if (died <= w->from || w->to <= w->from) /* most blocks are short-lived */
        return 0;
    const double begin = place_in(w, born), end = place_in(w, died);
    return (end - begin) * (end + begin) * w->factor;
}

double leaks_weight(uint64_t born, uint64_t died, uint64_t from, uint64_t to) {
    const window w = window_of(from, to);
    return weight_in(&w, born, died);
}

enum { MOST_PARTS = LEAKS_PERIODS > LEAKS_POINTS ? LEAKS_PERIODS : LEAKS_POINTS };

/* The time until the end of the window, cut into equal parts. */
typedef struct parts {
    size_t n;
    uint64_t first[MOST_PARTS + 2]; /* of each part, of what is later; the last time */
} parts;

static size_t compute_part(uint64_t time, uint64_t to, size_t n) {
    return (size_t)((double)time / ((double)to + 1) * (double)n);
}

static parts parts_of(uint64_t to, size_t n) {
    parts x = {.n = n};
    for (size_t i = 1; i <= n; i++) {
        uint64_t low = x.first[i - 1], high = to + 1;
        while (low < high) {
            const uint64_t middle = low + (high - low) / 2;
            if (compute_part(middle, to, n) >= i)
                high = middle;
            else
                low = middle + 1;
        }
        x.first[i] = low;
    }
    x.first[n + 1] = UINT64_MAX;
    return x;
}

/* Returns the part of a time; n if it is after the window. It is likely to be close to the part
 * `near`. */
static inline size_t part_at(const parts *x, size_t near, uint64_t time) {
    if (time >= x->first[x->n])
        return x->n;
    while (time < x->first[near])
        near--;
    while (time >= x->first[near + 1])
        near++;
    return near;
}

/* What a block adds to the sums of its site. */
typedef struct contribution {
    cost one, held;
    unsigned live, startup, at_exit, goes; /* as wide as they are read back, which is faster */
    size_t born, died;                     /* points */
    size_t period;
    double late, slope;
} contribution;

/* Parameters of adding blocks. */
typedef struct adding {
    const profile *profile;
    const leaks *leaks;
    window all, late;
    parts points, periods;
    size_t point, period; /* of the last block's birth; rows are nearly sorted by birth */
} adding;

static adding adding_of(const profile *p, const leaks *l) {
    return (adding){.profile = p,
                    .leaks = l,
                    .all = window_of(l->from, l->to),
                    .late = window_of(l->from + (l->to - l->from) / 2, l->to),
                    .points = parts_of(l->to, LEAKS_POINTS),
                    .periods = parts_of(l->to, LEAKS_PERIODS)};
}

/* The squares count each sample, or by number the uncertainty of each block's weight. */
static inline void add_slope(const leaks *l, sums *s, const contribution *x) {
    const cost *one = &x->one;
    weighted *w = x->slope > 0 ? &s->up : &s->down;
    s->periods[x->period] += one->weight * x->slope;
    s->moving += one->samples;
    w->sum += one->weight * fabs(x->slope);
    w->squares += (l->measure == MEASURE_BLOCKS ? one->squares : one->weight) * x->slope * x->slope;
}

/* By bytes, only the number of samples is needed. */
static inline cost cost_of(const profile *p, const leaks *l, size_t row) {
    if (l->measure == MEASURE_BLOCKS)
        return cost_of_number(p, row);
    const uint64_t samples = blocks_samples(&p->table, row);
    return (cost){.samples = samples, .blocks = 1, .weight = (double)samples};
}

static void add_live(const leaks *l, sums *s, const contribution *x) {
    cost_add(&s->live, &x->one);
    cost_add(x->startup ? &s->startup : &s->came, &x->one);
    if (x->at_exit)
        cost_add(&s->at_exit, &x->one);
    if (l->measure == MEASURE_BYTESECONDS)
        cost_add(&s->held, &x->held);
}

static inline void add_to(const leaks *l, sums *s, const contribution *x) {
    s->blocks++;
    if (x->one.heaviest > s->heaviest)
        s->heaviest = x->one.heaviest;
    s->changes[x->born] += x->one.weight;
    s->changes[x->died] -= x->one.weight;
    if (x->live)
        add_live(l, s, x);
    if (x->goes)
        cost_add(&s->went, &x->one);
    if (x->late != 0)
        s->late += x->one.weight * x->late;
    if (x->slope != 0)
        add_slope(l, s, x);
}

static inline void add_block(adding *a, size_t row, sums *site) {
    const profile *p = a->profile;
    const leaks *l = a->leaks;
    const uint64_t born = blocks_born(&p->table, row), died = blocks_died(&p->table, row);
    if (born > l->to)
        return;
    contribution x = {.one = cost_of(p, l, row), .live = died > l->to};
    if (x.live) {
        x.startup = born < l->from;
        x.at_exit = died != BLOCKS_NEVER;
        x.held = cost_of_seconds(x.one.samples, (double)(l->to - born) / 1e6);
    }
    x.goes = !x.live && born < l->from && died > l->from;
    x.born = a->point = part_at(&a->points, a->point, born);
    x.died = part_at(&a->points, x.born, died);
    x.period = a->period = part_at(&a->periods, a->period, born);
    x.late = weight_in(&a->late, born, died);
    x.slope = weight_in(&a->all, born, died);
    add_to(l, site, &x);
}

static void add_weighted(weighted *to, const weighted *from) {
    to->sum += from->sum;
    to->squares += from->squares;
}

static void add_sums(sums *to, const sums *from) {
    cost_add(&to->live, &from->live);
    cost_add(&to->startup, &from->startup);
    cost_add(&to->at_exit, &from->at_exit);
    cost_add(&to->came, &from->came);
    cost_add(&to->went, &from->went);
    cost_add(&to->held, &from->held);
    for (size_t i = 0; i <= LEAKS_POINTS; i++)
        to->changes[i] += from->changes[i];
    for (size_t i = 0; i < LEAKS_PERIODS; i++)
        to->periods[i] += from->periods[i];
    to->moving += from->moving;
    to->late += from->late;
    add_weighted(&to->up, &from->up);
    add_weighted(&to->down, &from->down);
    to->heaviest = fmax(to->heaviest, from->heaviest);
    to->blocks += from->blocks;
}

/* The sums of each part of the table. */
typedef struct summing {
    const profile *profile;
    const leaks *leaks;
    const sites *places;
    size_t parts;
    sums *all; /* by part and site */
} summing;

static void add_part(void *context, size_t part) {
    const summing *s = context;
    const size_t rows = s->profile->table.count, end = parallel_begin(rows, s->parts, part + 1);
    sums *all = s->all + part * (s->places->places.count + 1);
    adding a = adding_of(s->profile, s->leaks);
    for (size_t i = parallel_begin(rows, s->parts, part); i < end; i++)
        if (s->places->of_row[i] != SITES_NONE)
            add_block(&a, i, &all[s->places->of_row[i]]);
}

/* Returns the sums by site, and after the last site those of all sites. The caller frees them. NULL
 * when there is no memory. */
static sums *add_up(const profile *p, const leaks *l, const sites *places) {
    const size_t n = places->places.count;
    summing s = {
        .profile = p, .leaks = l, .places = places, .parts = parallel_same_parts(p->table.count)};
    s.all = calloc(s.parts * (n + 1), sizeof *s.all);
    if (!s.all)
        return NULL;
    parallel_run(s.parts, add_part, &s);
    for (size_t part = 1; part < s.parts; part++)
        for (size_t i = 0; i < n; i++)
            add_sums(&s.all[i], &s.all[part * (n + 1) + i]);
    for (size_t i = 0; i < n; i++)
        add_sums(&s.all[n], &s.all[i]);
    return s.all;
}

/* ---- how sure ---------------------------------------------------------------------------- */

/* These return log E exp(t Σ ± y) - t Σ y and its derivative in t; `against` is the sum of |y| over
 * the negative y. If all y are positive, the former tends to log 2^-n. */
static double exponent(const double *y, size_t n, double against, double t) {
    double k = 2 * t * against;
    for (size_t i = 0; i < n; i++)
        k += log1p(exp(-2 * t * fabs(y[i]))) - log(2);
    return k;
}

static double exponent_slope(const double *y, size_t n, double against, double t) {
    double k = 2 * against;
    for (size_t i = 0; i < n; i++)
        k -= 2 * fabs(y[i]) / (exp(2 * t * fabs(y[i])) + 1);
    return k;
}

double leaks_chance(const double *y, size_t n) {
    double sum = 0, against = 0, most = 0, low = 0;
    for (size_t i = 0; i < n; i++) {
        sum += y[i];
        against += fmax(0, -y[i]);
        most = fmax(most, fabs(y[i]));
    }
    if (sum <= 0)
        return 1;
    double high = 1 / most;
    for (int i = 0; i < 60 && exponent_slope(y, n, against, high) < 0; i++)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(exponent_slope(y, n, against, middle) < 0 ? &low : &high) = middle;
    }
    return exp(exponent(y, n, against, high));
}

/* Returns the chance if all periods spoke for growth. */
static double least_chance(const sums *s) {
    int n = 0;
    for (int i = 0; i < LEAKS_PERIODS; i++)
        n += s->periods[i] != 0;
    return ldexp(1, -n);
}

/* Returns the largest possible weight, that of a block born in the middle of the window that
 * survives it. */
static double most_weight(const leaks *l) {
    return l->to > l->from ? 1.5e6 / (double)(l->to - l->from) : 0;
}

/* Returns the interval of a slope. A missed block might weigh the most possible; by number, it
 * might be as small as the smallest seen or, while few were seen, as the smallest possible. */
static estimate slope_part(const profile *p, const leaks *l, const sums *s, const weighted *w) {
    const double rate = p->info.sample_rate, most = most_weight(l);
    if (l->measure != MEASURE_BLOCKS)
        return estimate_times(estimate_weighted(w->sum, w->squares, most, rate),
                              p->info.word_size / 8.0);
    const estimate_blocks seen = {.tracked = s->blocks, .heaviest = s->heaviest};
    return estimate_weighted_blocks(
        w->sum, w->squares, most,
        estimate_blocks_possible(&seen, l->may.least_words, rate).heaviest);
}

static estimate slope_of(const profile *p, const leaks *l, const sums *s) {
    return estimate_difference(slope_part(p, l, s, &s->up), slope_part(p, l, s, &s->down));
}

/* ---- classes ----------------------------------------------------------------------------- */

/* Returns the number of blocks without the part. A block as small as the smallest seen may have
 * been missed. */
static estimate_blocks rest_of(const cost *of, const cost *part) {
    const bool none = of->blocks == part->blocks;
    return (estimate_blocks){.count = none ? 0 : of->weight - part->weight,
                             .variance = none ? 0 : fmax(0, of->squares - part->squares),
                             .heaviest = of->heaviest,
                             .tracked = of->blocks - part->blocks};
}

/* Whether a part is more than half, with a confidence of 97.5%. */
static bool is_most(const leaks *l, const cost *part, const cost *of, double rate) {
    if (rate >= 1)
        return 2 * part->weight > of->weight;
    if (l->measure == MEASURE_BLOCKS) {
        const estimate_blocks in = cost_blocks(part), out = rest_of(of, part);
        return estimate_share(&in, &out).low > 0.5;
    }
    /* Clopper and Pearson: P(so many or more | half) */
    return part->samples > 0 &&
           estimate_beta_i((double)part->samples, (double)(of->samples - part->samples) + 1, 0.5) <
               ESTIMATE_TAIL;
}

/* Whether the last points of the line add much less than their share of the growth, and so much was
 * expected there that chance alone rarely explains it: P(1 or 0 | Poisson with 6) < 2%. */
static bool has_stopped(const leaks *l, const leaks_site *s) {
    enum { PARTS = 5, EXPECTED = 6 };
    const double *last = &s->line[LEAKS_POINTS - 1];
    const double begin = l->to ? (double)l->from / (double)l->to * LEAKS_POINTS : 0;
    const double grown = *last - s->line[(size_t)fmin(begin, LEAKS_POINTS - PARTS - 1)];
    const double expected = grown * PARTS / (LEAKS_POINTS - begin);
    const double block = s->cost.blocks ? s->cost.weight / (double)s->cost.blocks : 0;
    return block > 0 && expected >= EXPECTED * block && *last - last[-PARTS] < expected / 4;
}

/* Whether the site surely grows until the end, and by enough to matter. */
static bool is_growing(const leaks_site *s, double seconds) {
    double most = 0;
    for (int i = 0; i < LEAKS_POINTS; i++)
        most = fmax(most, s->line[i]);
    return s->cost.weight >= LEAST_LEFT * most && s->q <= COMPARE_FALSE_DISCOVERIES &&
           s->slope.low > 0 && s->late >= LEAST_LATE * s->slope.value &&
           s->slope.value * seconds >= LEAST_GROWTH * s->live.value;
}

static leaks_class class_of(const profile *p, const leaks *l, const leaks_site *s,
                            const sums *known) {
    double rate = p->info.sample_rate, seconds = (double)(l->to - l->from) / 1e6;
    const bool at_exit = l->cleaned_up && is_most(l, &known->at_exit, &s->cost, rate);
    if (is_growing(s, seconds) && !has_stopped(l, s) && !(at_exit && l->kept_all))
        return LEAKS_GROWING;
    if (at_exit)
        return LEAKS_EXIT;
    if (is_most(l, &known->startup, &s->cost, rate))
        return LEAKS_STARTUP;
    if (s->slope.high * seconds <= MOST_BOUNDED * s->live.value)
        return LEAKS_BOUNDED;
    return s->slope.low > 0 ? LEAKS_STEPS : LEAKS_UNCLEAR;
}

/* Returns the measure by which sites are judged. How long blocks have been live does not tell
 * whether they grow. */
static measure judged_by(const leaks *l) {
    return l->measure == MEASURE_BLOCKS ? MEASURE_BLOCKS : MEASURE_ALLOCATED;
}

/* Returns the factor from weights of costs to bytes or blocks. */
static double unit_of(const profile *p, const leaks *l) {
    return l->measure == MEASURE_BLOCKS ? 1 : p->info.word_size / 8.0 / p->info.sample_rate;
}

/* Rounding errors of the changes must not show where nothing is live. */
static void draw_line(const sums *s, double *line) {
    double now = 0, least = s->live.blocks ? s->live.heaviest * 1e-9 : 1e-9;
    for (int i = 0; i < LEAKS_POINTS; i++) {
        now += s->changes[i];
        line[i] = now > least ? now : 0;
    }
}

static estimate grown_of(const profile *p, const leaks *l, const sums *s) {
    return estimate_difference(cost_estimate(p, judged_by(l), l->may, &s->came),
                               cost_estimate(p, judged_by(l), l->may, &s->went));
}

static leaks_site judge(const profile *p, const leaks *l, const sums *s) {
    leaks_site site = {.cost = s->live,
                       .startup = s->startup.samples,
                       .at_exit = s->at_exit.samples,
                       .live = cost_estimate(p, judged_by(l), l->may, &s->live),
                       .grown = grown_of(p, l, s),
                       .slope = slope_of(p, l, s),
                       .slope_samples = s->moving,
                       .late = s->late * unit_of(p, l),
                       .p = leaks_chance(s->periods, LEAKS_PERIODS)};
    draw_line(s, site.line);
    return site;
}

/* Shows the site by MEASURE_BYTESECONDS, once it has been judged. */
static void show_held(const profile *p, const leaks *l, const sums *s, leaks_site *site) {
    if (l->measure != MEASURE_BYTESECONDS)
        return;
    site->cost = s->held;
    filter_bounds may = l->may; /* nothing was held for longer than the window's end */
    may.life_below = may.life_below && may.life_below <= l->to ? may.life_below : l->to + 1;
    site->live = cost_estimate(p, l->measure, may, &s->held);
}

static bool find_q_values(const sums *all, leaks *l) {
    size_t n = l->sites.count;
    compare_test *tests = malloc((n + 1) * sizeof *tests);
    for (size_t i = 0; tests && i < n; i++)
        tests[i] = (compare_test){.p = l->sites.items[i].p, .least_p = least_chance(&all[i])};
    const bool ok = tests && compare_q_values(tests, n);
    for (size_t i = 0; ok && i < n; i++)
        l->sites.items[i].q = tests[i].q;
    free(tests);
    return ok;
}

static int compare_sites(const void *a, const void *b) {
    const leaks_site *x = a, *y = b;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    const double p = fmax(x->p, LEAST_P), q = fmax(y->p, LEAST_P);
    if (x->class == LEAKS_GROWING && p != q)
        return p < q ? -1 : 1;
    if (x->cost.weight != y->cost.weight)
        return x->cost.weight > y->cost.weight ? -1 : 1;
    return sites_compare_places(x->place, y->place);
}

/* ---- remarks ----------------------------------------------------------------------------- */

const char *leaks_remark(const char *function) {
    static const char buffer[] = "stream buffer of the C library: freed by fclose; those of stdin, "
                                 "stdout and stderr remain until the end";
    static const char stream[] = "open stream of the C library: freed by fclose";
    static const struct {
        const char *function, *remark;
    } known[] = {
        {"_IO_file_doallocate", buffer}, {"_IO_wfile_doallocate", buffer},
        {"__fopen_internal", stream},    {"_IO_new_fopen", stream},
        {"_IO_new_fdopen", stream},      {"_IO_new_popen", stream},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(function, known[i].function) == 0)
            return known[i].remark;
    return NULL;
}

/* ---- the query --------------------------------------------------------------------------- */

static bool judge_all(const profile *p, const sites *places, const sums *all, leaks *l) {
    size_t n = places->places.count;
    for (size_t i = 0; i < n; i++) {
        leaks_site s = judge(p, l, &all[i]);
        s.place = places->places.items[i];
        s.remark = s.place ? leaks_remark(s.place->function) : NULL;
        if (!vec_push(&l->sites, s))
            return false;
    }
    if (!find_q_values(all, l))
        return false;
    for (size_t i = 0; i < n; i++) {
        l->sites.items[i].class = class_of(p, l, &l->sites.items[i], &all[i]);
        show_held(p, l, &all[i], &l->sites.items[i]);
    }
    l->total = judge(p, l, &all[n]);
    l->total.q = l->total.p;
    l->total.class = class_of(p, l, &l->total, &all[n]);
    show_held(p, l, &all[n], &l->total);
    if (n)
        qsort(l->sites.items, n, sizeof *l->sites.items, compare_sites);
    return true;
}

/* Samples of a site grow in proportion to the rate. */
static double find_telling_rate(const profile *p, const leaks *l) {
    uint64_t most = 0;
    for (size_t i = 0; i < l->sites.count; i++) {
        const leaks_site *s = &l->sites.items[i];
        if (s->class == LEAKS_UNCLEAR && !s->remark && s->cost.blocks > most)
            most = s->cost.blocks;
    }
    return most ? fmin(1, p->info.sample_rate * fmax(2, (double)LEAKS_TELLING / (double)most)) : 0;
}

bool leaks_query(const lens *view, const leaks_spec *spec, leaks *l) {
    const profile *p = view->profile;
    sites places = {0};
    const bool bytes = measure_infos[spec->measure].unit == UNIT_BYTES;
    *l = (leaks){.may = spec->may, .measure = bytes ? MEASURE_ALLOCATED : spec->measure};
    if (!choose_window(p, spec, l) || !sites_find(view, spec->kept, spec->by_function, &places))
        return false;
    sums *all = add_up(p, l, &places);
    bool ok = all && judge_all(p, &places, all, l);
    l->telling_rate = ok ? find_telling_rate(p, l) : 0;
    free(all);
    sites_free(&places);
    if (!ok)
        leaks_free(l);
    return ok;
}

static bool is_slow(const leaks_site *s) {
    return fabs(s->slope.value) < 1;
}

bool leaks_tells_amounts(const leaks *l) {
    bool slow = is_slow(&l->total);
    for (size_t i = 0; slow && i < l->sites.count; i++)
        slow = is_slow(&l->sites.items[i]);
    return l->measure != MEASURE_BYTESECONDS && (slow || l->to - l->from < LEAKS_RATE_US);
}

void leaks_free(leaks *l) {
    vec_free(&l->sites);
    *l = (leaks){0};
}
