/* leaks.c: see leaks.h. */
#include "analyse/leaks.h"

#include <math.h>

#include "analyse/compare.h"
#include "analyse/timeline.h"

#define FALSE_DISCOVERIES 0.05
#define LEAST_GROWTH      0.1  /* within the window, of what is live: less is not worth a name */
#define LEAST_LEFT        0.67 /* at the end, of the most that was live */
#define LEAST_LATE        0.25 /* of the slope, that of the later half */
#define MOST_BOUNDED      0.5  /* the same, at most, of a bounded site */

/* A clean-up: in so much of the time at its end, so much of what is live is freed, and so much less
 * allocated. */
#define EXIT_SHARE     0.5
#define EXIT_FREED     0.5
#define EXIT_ALLOCATED 0.1

const leaks_class_info leaks_class_infos[LEAKS_N_CLASSES] = {
#define LEAKS_CLASS_INFO(name, text, meaning) {text, meaning},
    LEAKS_CLASSES(LEAKS_CLASS_INFO)
#undef LEAKS_CLASS_INFO
};

/* ---- the window -------------------------------------------------------------------------- */

/* The last point before the clean-up; the last of all if there is none. A clean-up is where blocks
 * are freed and ten times fewer, in words, allocated. */
static size_t find_exit(const timeline *t) {
    size_t best = t->points.count - 1;
    double score = 0, most = 0, freed = 0, most_freed = 0;
    for (size_t i = t->points.count - 1; i > 0; i--) {
        const timeline_point *x = &t->points.items[i];
        freed += (double)x->freed;
        score += (double)x->freed - (double)cct_sum(x->allocated) / EXIT_ALLOCATED;
        if (score > most) {
            most = score;
            most_freed = freed;
            best = i - 1;
        }
    }
    if (most_freed <= EXIT_FREED * (double)cct_sum(t->points.items[best].live))
        return t->points.count - 1;
    /* It may have begun within that point. */
    bool begun =
        best > 0 && cct_sum(t->points.items[best].live) < cct_sum(t->points.items[best - 1].live);
    return begun ? best - 1 : best;
}

static bool find_window(const profile *p, const leaks_spec *spec, leaks *l) {
    timeline t;
    uint64_t late = (uint64_t)((1 - EXIT_SHARE) * (double)p->duration);
    const timeline_spec half = {
        .from = late, .to = TIMELINE_END, .points = 1024, .without_peak = true};
    if (!timeline_query(p, &half, &t))
        return false;
    size_t last = find_exit(&t);
    l->cleaned_up = last + 1 < t.points.count;
    l->to = l->cleaned_up ? t.points.items[last].end - 1 : p->duration;
    l->from = (uint64_t)(spec->warm_up * (double)l->to);
    timeline_free(&t);
    return true;
}

/* ---- sums -------------------------------------------------------------------------------- */

/* What is known of a site while blocks are added up. Slopes are in samples a second. */
typedef struct sums {
    uint64_t samples, startup, at_exit;
    int64_t changes[LEAKS_POINTS + 1]; /* of what is live; the last ones come too late */
    double periods[LEAKS_PERIODS];     /* slope, by when blocks were born */
    uint64_t moving;                   /* samples that add to the slope, or take from it */
    double late;                       /* slope of the window's later half */
    double up, up_squares;             /* of blocks that add to the slope */
    double down, down_squares;         /* of those that take from it */
} sums;

static double within(uint64_t time, uint64_t from, uint64_t to) {
    return (double)(time < from ? from : time > to ? to : time) / 1e6;
}

double leaks_weight(uint64_t born, uint64_t died, uint64_t from, uint64_t to) {
    double width = (double)(to - from) / 1e6, middle = ((double)from + (double)to) / 2e6;
    double begin = within(born, from, to) - middle, end = within(died, from, to) - middle;
    return to > from ? 6 * (end * end - begin * begin) / (width * width * width) : 0;
}

static void add_slope(sums *s, size_t period, double samples, double weight) {
    s->periods[period] += samples * weight;
    s->moving += weight > 0 || weight < 0 ? (uint64_t)samples : 0;
    if (weight > 0) {
        s->up += samples * weight;
        s->up_squares += samples * weight * weight;
    } else {
        s->down -= samples * weight;
        s->down_squares += samples * weight * weight;
    }
}

/* Which of `n` equal parts of the time until the window ends; n: none, later. */
static size_t part_at(const leaks *l, uint64_t time, size_t n) {
    return time > l->to ? n : (size_t)((double)time / ((double)l->to + 1) * (double)n);
}

static void add_block(const block_table *b, const leaks *l, size_t row, sums *s) {
    uint64_t samples = blocks_samples(b, row), born = b->born[row], died = b->died[row];
    if (born > l->to)
        return;
    if (died > l->to) {
        s->samples += samples;
        s->startup += born < l->from ? samples : 0;
        s->at_exit += died != BLOCKS_NEVER ? samples : 0;
    }
    s->changes[part_at(l, born, LEAKS_POINTS)] += (int64_t)samples;
    s->changes[part_at(l, died, LEAKS_POINTS)] -= (int64_t)samples;
    size_t period = part_at(l, born, LEAKS_PERIODS);
    uint64_t middle = l->from + (l->to - l->from) / 2;
    s->late += (double)samples * leaks_weight(born, died, middle, l->to);
    add_slope(s, period, (double)samples, leaks_weight(born, died, l->from, l->to));
}

/* ---- how sure ---------------------------------------------------------------------------- */

/* log E exp(t Σ ± y) - t Σ y, and its derivative in t; `against` is the sum of the negative y's
 * sizes. Where all y are positive, the former tends to that of 2^-n. */
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

/* The chance, if all periods spoke for growth. */
static double least_chance(const sums *s) {
    int n = 0;
    for (int i = 0; i < LEAKS_PERIODS; i++)
        n += s->periods[i] != 0;
    return ldexp(1, -n);
}

/* The difference of two independent estimates, after Zou and Donner. */
static estimate difference(estimate a, estimate b) {
    double d = a.value - b.value;
    return (estimate){.value = d,
                      .low = d - hypot(a.value - a.low, b.high - b.value),
                      .high = d + hypot(a.high - a.value, b.value - b.low)};
}

/* The weight of a survivor that was born in the middle of the window: there is no larger one. */
static double most_weight(const leaks *l) {
    return l->to > l->from ? 1.5e6 / (double)(l->to - l->from) : 0;
}

/* What sampling leaves open: besides those that were seen there might be one that weighs most. */
static estimate slope_of(const profile *p, const leaks *l, const sums *s) {
    double rate = p->info.sample_rate, word = p->info.word_size / 8.0, most = most_weight(l);
    estimate e = difference(estimate_weighted(s->up, s->up_squares, most, rate),
                            estimate_weighted(s->down, s->down_squares, most, rate));
    return (estimate){.value = e.value * word, .low = e.low * word, .high = e.high * word};
}

/* ---- classes ----------------------------------------------------------------------------- */

/* Whether a part makes up more than half, by 97.5 %, of which these samples are known. */
static bool is_most(uint64_t part, uint64_t of, double rate) {
    if (rate >= 1)
        return 2 * part > of;
    /* Clopper and Pearson: P(so many or more | half) */
    return part > 0 && estimate_beta_i((double)part, (double)(of - part) + 1, 0.5) < 0.025;
}

/* Surely more and more, until the end, and so much that it matters. */
static bool is_growing(const leaks_site *s, double seconds) {
    uint64_t most = 0;
    for (int i = 0; i < LEAKS_POINTS; i++)
        most = s->line[i] > most ? s->line[i] : most;
    return (double)s->samples >= LEAST_LEFT * (double)most && s->q <= FALSE_DISCOVERIES &&
           s->slope.low > 0 && s->late >= LEAST_LATE * s->slope.value &&
           s->slope.value * seconds >= LEAST_GROWTH * s->live.value;
}

static leaks_class class_of(const profile *p, const leaks *l, const leaks_site *s) {
    double rate = p->info.sample_rate, seconds = (double)(l->to - l->from) / 1e6;
    if (is_growing(s, seconds))
        return LEAKS_GROWING;
    if (l->cleaned_up && is_most(s->at_exit, s->samples, rate))
        return LEAKS_EXIT;
    if (is_most(s->startup, s->samples, rate))
        return LEAKS_STARTUP;
    if (s->slope.high * seconds <= MOST_BOUNDED * s->live.value)
        return LEAKS_BOUNDED;
    return s->slope.low > 0 ? LEAKS_STEPS : LEAKS_UNCLEAR;
}

static leaks_site judge(const profile *p, const leaks *l, const sums *s) {
    double word = p->info.word_size / 8.0;
    estimate live = estimate_words(s->samples, p->info.sample_rate);
    leaks_site site = {.samples = s->samples,
                       .startup = s->startup,
                       .at_exit = s->at_exit,
                       .live = {live.value * word, live.low * word, live.high * word},
                       .slope = slope_of(p, l, s),
                       .slope_samples = s->moving,
                       .late = s->late / p->info.sample_rate * word,
                       .p = leaks_chance(s->periods, LEAKS_PERIODS)};
    int64_t now = 0;
    for (int i = 0; i < LEAKS_POINTS; i++) {
        now += s->changes[i];
        site.line[i] = (uint64_t)now;
    }
    return site;
}

static bool find_q_values(const sums *all, leaks *l) {
    size_t n = l->sites.count;
    double *p = malloc((n + 1) * sizeof *p), *least = malloc((n + 1) * sizeof *least);
    double *q = malloc((n + 1) * sizeof *q);
    bool ok = p && least && q;
    for (size_t i = 0; ok && i < n; i++) {
        p[i] = l->sites.items[i].p;
        least[i] = least_chance(&all[i]);
    }
    ok = ok && compare_q_values(p, least, n, FALSE_DISCOVERIES, q);
    for (size_t i = 0; ok && i < n; i++)
        l->sites.items[i].q = q[i];
    free(p);
    free(least);
    free(q);
    return ok;
}

static int compare_sites(const void *a, const void *b) {
    const leaks_site *x = a, *y = b;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    if (x->class == LEAKS_GROWING && x->p != y->p)
        return x->p < y->p ? -1 : 1;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return sites_compare_places(x->place, y->place);
}

/* ---- the query --------------------------------------------------------------------------- */

static bool judge_all(const profile *p, const sites *places, const sums *all, leaks *l) {
    size_t n = places->places.count;
    for (size_t i = 0; i < n; i++) {
        leaks_site s = judge(p, l, &all[i]);
        s.place = places->places.items[i];
        if (!vec_push(&l->sites, s))
            return false;
    }
    if (!find_q_values(all, l))
        return false;
    for (size_t i = 0; i < n; i++)
        l->sites.items[i].class = class_of(p, l, &l->sites.items[i]);
    l->total = judge(p, l, &all[n]);
    l->total.q = l->total.p;
    l->total.class = class_of(p, l, &l->total);
    if (n)
        qsort(l->sites.items, n, sizeof *l->sites.items, compare_sites);
    return true;
}

bool leaks_query(const lens *view, const leaks_spec *spec, leaks *l) {
    const profile *p = view->profile;
    const block_table *b = &p->table;
    sites places = {0};
    *l = (leaks){0};
    if (!find_window(p, spec, l) || !sites_find(view, spec->kept, spec->by_function, &places))
        return false;
    size_t n = places.places.count;
    sums *all = calloc(n + 1, sizeof *all); /* the last one is of all sites */
    for (size_t i = 0; all && i < b->count; i++)
        if (places.of_row[i] != SITES_NONE) {
            add_block(b, l, i, &all[places.of_row[i]]);
            add_block(b, l, i, &all[n]);
        }
    bool ok = all && judge_all(p, &places, all, l);
    free(all);
    sites_free(&places);
    if (!ok)
        leaks_free(l);
    return ok;
}

void leaks_free(leaks *l) {
    vec_free(&l->sites);
    *l = (leaks){0};
}
