/* survival.c: see survival.h. */
#include "analyse/survival.h"

#include <math.h>

#include "analyse/radix.h"

#define NORMAL 1.959963984540054

/* ---- sorting ------------------------------------------------------------------------------ */

/* Of those that end or vanish at the same time, the former come first: the last bit says that, the
 * others are those of the time. */
static size_t digit_of(const void *life, unsigned shift) {
    const survival_lives *l = life;
    return radix_digit(shift ? l->time >> (shift - 1) : l->time << 1 | !l->ended, 0);
}

/* Sorted by time are then either `lives` or `other`, which has as much room; returns which. */
static survival_lives *sort(survival_lives *lives, survival_lives *other, size_t n) {
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = lives[i].time > most ? lives[i].time : most;
    return radix_sort(lives, other, n, sizeof *lives, 1 + radix_bits(most), digit_of);
}

/* ---- the curve ---------------------------------------------------------------------------- */

/* While going through the lives in the order of their times. R is the weight at risk, D of it ends
 * at a time; log S is the sum of log(1 - D/R). */
typedef struct walk {
    double at_risk;      /* R */
    double risk_squares; /* variances of those at risk */
    double log_alive;    /* log S */
    double slope;        /* A: the sum of D / (R (R - D)): what a unit at risk adds to log S */
    double past;         /* the variance of log S that is due to those no longer at risk */
} walk;

/* On the scale of log(-log S), on which the limits stay between 0 and 1. */
static estimate alive_now(const walk *w) {
    double value = exp(w->log_alive);
    double error = sqrt(fmax(0, w->past + w->slope * w->slope * w->risk_squares));
    if (w->log_alive >= 0 || error == 0)
        return (estimate){.value = value, .low = value, .high = value};
    double factor = exp(NORMAL * error / -w->log_alive);
    return (estimate){
        .value = value, .low = exp(w->log_alive * factor), .high = exp(w->log_alive / factor)};
}

/* All that is left ends: the curve comes to 0, which is as sure as it was before. */
static estimate alive_at_last(const survival_curve *c) {
    estimate before = c->count ? c->items[c->count - 1].alive : (estimate){1, 1, 1};
    return (estimate){.value = 0, .low = 0, .high = before.low < before.high ? before.high : 0};
}

/* Those of `n` that have the same time, of which `ended` ended, go. */
static void leave(walk *w, const survival_lives *lives, size_t n, double ended) {
    double rest = w->at_risk - ended;
    w->log_alive += log(rest / w->at_risk);
    w->slope += ended / (w->at_risk * rest);
    for (size_t i = 0; i < n; i++) {
        double own = w->slope - (lives[i].ended ? 1 / rest : 0);
        w->past += lives[i].variance * own * own;
    }
}

static void forget(walk *w, const survival_lives *lives, size_t n) {
    for (size_t i = 0; i < n; i++) {
        w->at_risk -= lives[i].weight;
        w->risk_squares -= lives[i].variance;
    }
}

static bool walk_through(walk *w, const survival_lives *lives, size_t n, survival_curve *curve) {
    uint64_t left = 0;
    for (size_t i = 0; i < n; i++)
        left += lives[i].n;
    for (size_t first = 0, last; first < n; first = last) {
        const uint64_t at_risk = left;
        double ended = 0;
        for (last = first; last < n && lives[last].time == lives[first].time; last++) {
            ended += lives[last].ended ? lives[last].weight : 0;
            left -= lives[last].n;
        }
        bool all = last == n && ended >= w->at_risk * (1 - 1e-9);
        if (!all)
            leave(w, lives + first, last - first, ended);
        forget(w, lives + first, last - first);
        survival_point point = {.time = lives[first].time, .at_risk = at_risk};
        point.alive = all ? alive_at_last(curve) : alive_now(w);
        if (ended > 0 && !vec_push(curve, point))
            return false;
    }
    return true;
}

bool survival_estimate(survival_lives *lives, size_t n, survival_curve *curve) {
    walk w = {0};
    *curve = (survival_curve){0};
    for (size_t i = 0; i < n; i++) {
        w.at_risk += lives[i].weight;
        w.risk_squares += lives[i].variance;
    }
    survival_lives *other = malloc((n + 1) * sizeof *other);
    bool ok = other && walk_through(&w, sort(lives, other, n), n, curve);
    free(other);
    if (!ok)
        vec_free(curve);
    return ok;
}

/* The number of points at or before `time`. */
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
    return n ? c->items[n - 1].alive : (estimate){1, 1, 1};
}

/* The limits of a quantile are where those of the curve pass it. */
survival_quantile survival_find_quantile(const survival_curve *c, double ended) {
    survival_quantile q = {ended, SURVIVAL_NEVER, SURVIVAL_NEVER, SURVIVAL_NEVER};
    double left = 1 - ended;
    for (size_t i = c->count; i-- > 0;) {
        const survival_point *p = &c->items[i];
        q.low = p->alive.low <= left ? p->time : q.low;
        q.value = p->alive.value <= left ? p->time : q.value;
        q.high = p->alive.high <= left ? p->time : q.high;
    }
    return q;
}
