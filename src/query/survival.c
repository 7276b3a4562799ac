/* survival.c: lives are radix sorted by time and walked once. At each time, those that end take
 * their share of the weight at risk. Limits are computed on the scale of log(-log S), so they stay
 * between 0 and 1. */
#include "query/survival.h"

#include <math.h>

#include "profile/radix.h"

#define ROUNDING 1e-9 /* larger than the relative error of any sum of logarithms */

/* ---- sorting ------------------------------------------------------------------------------ */

/* At equal times, lives that end come before those that vanish. The lowest bit of the key tells
 * these apart; the others are the time. */
static size_t digit_of(const void *life, unsigned shift) {
    const survival_lives *l = life;
    return radix_digit(shift ? l->time >> (shift - 1) : l->time << 1 | !l->ended, 0);
}

/* Returns the sorted lives, which are then in `lives` or in `other`, which has as much room. */
static survival_lives *sort(survival_lives *lives, survival_lives *other, size_t n) {
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = lives[i].time > most ? lives[i].time : most;
    return radix_sort(lives, other, n, sizeof *lives, 1 + radix_bits(most), digit_of);
}

/* ---- the curve ---------------------------------------------------------------------------- */

/* State of the walk. R is the weight at risk, and D the part of it that ends at a time; log S is
 * the sum of log(1 - D/R). */
typedef struct walk {
    double at_risk;        /* R */
    double variances;      /* of the weights at risk */
    double own;            /* squares of these weights, less their variances */
    double in_sight;       /* share of those at risk that are still seen; the others vanished */
    double log_alive;      /* log S */
    double slope;          /* A, the sum of D / (R (R - D)): what a unit at risk adds to log S */
    double past;           /* variance of log S due to lives no longer at risk */
    double vanished;       /* variance of log S due to vanished lives */
    double slope_vanished; /* A, weighted with their share at each time */
    survival_ended ended;
} walk;

/* The lives of one time. */
typedef struct moment {
    const survival_lives *lives;
    size_t n;
    uint64_t count;
    double ended, own; /* weight that ended; squares of its weights, less their variances */
} moment;

static moment moment_at(const survival_lives *lives, size_t n) {
    moment m = {.lives = lives};
    for (; m.n < n && lives[m.n].time == lives->time; m.n++) {
        const survival_lives *l = &lives[m.n];
        m.count += l->n;
        m.ended += l->ended ? l->weight : 0;
        m.own += l->ended ? l->squares - l->variance : 0;
    }
    return m;
}

static double variance_now(const walk *w) {
    return fmax(0, w->past + w->vanished + w->slope * w->slope * w->variances);
}

/* Limits are on the scale of log(-log S), where they stay between 0 and 1. */
static estimate alive_now(const walk *w) {
    double value = exp(w->log_alive);
    double error = sqrt(variance_now(w));
    if (w->log_alive >= 0 || error == 0)
        return estimate_exact(value);
    double factor = exp(ESTIMATE_NORMAL * error / -w->log_alive);
    return (estimate){
        .value = value, .low = exp(w->log_alive * factor), .high = exp(w->log_alive / factor)};
}

/* All that is left ends, so the curve comes to 0, which is as certain as the point before. */
static estimate alive_at_last(const walk *w, const survival_curve *c) {
    estimate before = c->count ? c->items[c->count - 1].alive : estimate_exact(1);
    const double high = before.low < before.high ? before.high : 0;
    return (estimate){.value = 0, .low = 0, .high = fmax(high, w->ended.hidden)};
}

static void remove_life(walk *w, const survival_lives *l, double slope) {
    w->past += l->variance * slope * slope;
    w->at_risk -= l->weight;
    w->variances -= l->variance;
    w->own -= l->squares - l->variance;
}

/* Removes lives that end. Those that are seen are like a sample of all, and D/R is as uncertain as
 * that. */
static void leave(walk *w, const moment *m) {
    const double rest = w->at_risk - m->ended, step = m->ended / (w->at_risk * rest);
    const double out_of_sight = 1 - w->in_sight, stay = w->own - m->own;
    w->log_alive += log(rest / w->at_risk);
    w->vanished += out_of_sight * (stay * step * step + m->own / (w->at_risk * w->at_risk)) +
                   2 * w->slope_vanished * (stay * step - m->own / w->at_risk);
    w->slope += step;
    w->slope_vanished += out_of_sight * step;
    for (size_t i = 0; i < m->n; i++)
        if (m->lives[i].ended)
            remove_life(w, &m->lives[i], w->slope - 1 / rest);
}

static void vanish(walk *w, const moment *m) {
    const double before = w->at_risk;
    for (size_t i = 0; i < m->n; i++)
        if (!m->lives[i].ended)
            remove_life(w, &m->lives[i], w->slope);
    w->in_sight *= fmax(0, w->at_risk / before);
}

/* The share has the variance S (1 - S) / size. If nothing ended, the weights at risk give the
 * size. */
static void note_ended(walk *w) {
    const double alive = exp(w->log_alive), ended = 1 - alive, squares = w->at_risk * w->at_risk;
    const double hidden = (1 - w->in_sight) * w->own;
    const double inverse =
        ended > 0 ? variance_now(w) * alive / ended : fmax(0, w->variances) / squares;
    w->ended.share = ended;
    w->ended.size = 1 / inverse;
    w->ended.hidden = hidden > 0 ? -alive * expm1(log(ESTIMATE_TAIL) * hidden / squares) : 0;
}

static void end_all(walk *w) {
    note_ended(w);
    w->ended.share = 1;
}

/* Appends points to `curve` unless it is NULL; false when there is no memory. */
static bool walk_through(walk *w, const survival_lives *lives, size_t n, survival_curve *curve) {
    uint64_t left = 0;
    for (size_t i = 0; i < n; i++)
        left += lives[i].n;
    for (size_t at = 0; at < n;) {
        const moment m = moment_at(lives + at, n - at);
        survival_point point = {.time = m.lives->time, .at_risk = left};
        const bool all = at + m.n == n && m.ended >= w->at_risk * (1 - 1e-9);
        if (all) {
            end_all(w);
        } else {
            leave(w, &m);
            note_ended(w);
        }
        if (curve && m.ended > 0) {
            point.alive = all ? alive_at_last(w, curve) : alive_now(w);
            if (!vec_push(curve, point))
                return false;
        }
        if (!all)
            vanish(w, &m);
        left -= m.count;
        at += m.n;
    }
    return true;
}

static bool walk_sorted(survival_lives *lives, size_t n, survival_curve *curve,
                        survival_ended *ended) {
    walk w = {.in_sight = 1};
    for (size_t i = 0; i < n; i++) {
        w.at_risk += lives[i].weight;
        w.variances += lives[i].variance;
        w.own += lives[i].squares - lives[i].variance;
    }
    survival_lives *other = malloc((n + 1) * sizeof *other);
    const bool ok = other && walk_through(&w, sort(lives, other, n), n, curve);
    free(other);
    *ended = w.ended;
    return ok;
}

bool survival_estimate(survival_lives *lives, size_t n, survival_curve *curve) {
    survival_ended ended;
    *curve = (survival_curve){0};
    const bool ok = walk_sorted(lives, n, curve, &ended);
    if (!ok)
        vec_free(curve);
    return ok;
}

bool survival_find_ended(survival_lives *lives, size_t n, survival_ended *ended) {
    return walk_sorted(lives, n, NULL, ended);
}

/* Returns the number of points at or before `time`. */
static size_t points_until(const survival_curve *c, uint64_t time) {
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->items[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

estimate survival_at(const survival_curve *c, uint64_t time) {
    size_t n = points_until(c, time);
    return n ? c->items[n - 1].alive : estimate_exact(1);
}

/* The limits of a quantile are where those of the curve pass it. The curve is a product with
 * rounding errors, so a point that reaches the share within ROUNDING counts. */
survival_quantile survival_find_quantile(const survival_curve *c, double ended) {
    survival_quantile q = {ended, SURVIVAL_NEVER, SURVIVAL_NEVER, SURVIVAL_NEVER};
    const double left = (1 - ended) * (1 + ROUNDING);
    for (size_t i = c->count; i-- > 0;) {
        const survival_point *p = &c->items[i];
        q.low = p->alive.low <= left ? p->time : q.low;
        q.value = p->alive.value <= left ? p->time : q.value;
        q.high = p->alive.high <= left ? p->time : q.high;
    }
    return q;
}
