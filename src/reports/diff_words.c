/* diff_words.c: three groups of sentences: what each side lacks; what is compared, and with which
 * resolution; and what was found, with what would make an undecided change significant. */
#include "reports/diff_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "reports/ending.h"

/* ---- what is lacking --------------------------------------------------------------------- */

static void say_what_run_lacks(document *d, const char *run, const profile *p) {
    loss_words loss;
    if (ending_say_loss(p, &loss))
        document_note(d, "%s lacks events: %s.", run, loss.phrase);
    if (profile_ends_early(p))
        document_note(d, "%s ends early, at %s%s%s.", run, figure_duration(p->end.time).text,
                      p->end.reason[0] ? ": " : "", p->end.reason);
}

static void say_what_side_lacks(document *d, const char *side, const query_result *const *runs,
                                size_t n) {
    for (size_t i = 0; i < n; i++) {
        char run[40];
        if (n > 1)
            snprintf(run, sizeof run, "%s %zu", side, i + 1);
        else
            snprintf(run, sizeof run, "%s", side);
        say_what_run_lacks(d, run, runs[i]->profile);
    }
}

void diff_say_what_is_lacking(document *d, const diff_report *r) {
    say_what_side_lacks(d, "Before", r->before, r->n_before);
    say_what_side_lacks(d, "After", r->after, r->n_after);
}

/* ---- what is compared -------------------------------------------------------------------- */

static void say_differs(document *d, const char *what, const char *before, const char *after) {
    if (strcmp(before, after) != 0)
        document_note(d, "Different %s: %s before, %s after.", what, before, after);
}

static void say_what_differs(document *d, const diff_report *r) {
    const memtrace_info *b = &r->before[0]->profile->info, *a = &r->after[0]->profile->info;
    say_differs(d, "programs", path_base(b->executable_name), path_base(a->executable_name));
    say_differs(d, "hosts", b->host_name, a->host_name);
    say_differs(d, "rates", figure_rate(b->sample_rate).text, figure_rate(a->sample_rate).text);
}

static void say_amounts(document *d, const diff_report *r) {
    const diff_options *o = &r->diff->options;
    const measure_unit unit = measure_infos[r->diff->measure].unit;
    if (r->n_before > 1 || r->n_after > 1)
        document_note(d, "Amounts are means of several runs: %zu before, %zu after.", r->n_before,
                      r->n_after);
    if (o->per_before > 0 && o->per_before == o->per_after)
        document_note(d, "Amounts are divided by %g.", o->per_before);
    else if (o->per_before > 0)
        document_note(d, "Amounts are divided by %g before and by %g after.", o->per_before,
                      o->per_after);
    if (r->diff->measure != MEASURE_ALLOCATED && unit != UNIT_BLOCKS && unit != UNIT_BYTESECONDS)
        document_note(d, "Amounts: %s.", measure_infos[r->diff->measure].title);
    if (o->normalise == DIFF_BY_TOTAL)
        document_note(d, "Sites are compared by their share of the total.");
    if (r->filter)
        document_note(d, "Filter: %s", r->filter);
}

/* Returns what a site must allocate, in bytes, to be visible in each run of a side; 0 at rate 1. */
static double invisible_bytes(const query_result *const *runs, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        const memtrace_info *info = &runs[i]->profile->info;
        most = fmax(most, estimate_invisible(info->sample_rate) * info->word_size / 8);
    }
    return most;
}

static void say_invisible(document *d, const diff_report *r) {
    const double before = invisible_bytes(r->before, r->n_before),
                 after = invisible_bytes(r->after, r->n_after);
    if (before <= 0 && after <= 0)
        return;
    if (before == after)
        document_note(d, "Sites below about %s may be invisible at this rate.",
                      figure_bytes(before).text);
    else if (before <= 0 || after <= 0)
        document_note(d, "Sites below about %s %s may be invisible at that rate.",
                      figure_bytes(fmax(before, after)).text, before <= 0 ? "after" : "before");
    else
        document_note(d, "Sites below about %s before, %s after may be invisible at these rates.",
                      figure_bytes(before).text, figure_bytes(after).text);
}

void diff_say_what_is_compared(document *d, const diff_report *r) {
    say_what_differs(d, r);
    say_amounts(d, r);
    say_invisible(d, r);
}

/* ---- what was found ---------------------------------------------------------------------- */

static const char *sites(const diff_report *r, size_t n) {
    static const char *const nouns[][2] = {[HOTSPOTS_BY_LINE] = {"site", "sites"},
                                           [HOTSPOTS_BY_FUNCTION] = {"function", "functions"},
                                           [HOTSPOTS_BY_TYPE] = {"type", "types"}};
    return nouns[r->diff->options.by][n > 1];
}

static void say_rest(document *d, const diff_report *r) {
    const diff *f = r->diff;
    const size_t sure = r->n_changed < f->n_sure ? f->n_sure - r->n_changed : 0;
    const size_t unsure = r->n_all - r->n_changed - sure, same = f->sites.count - r->n_all;
    if (sure)
        document_note(d, "%s more %s changed significantly.", figure_count(sure).text,
                      sites(r, sure));
    if (unsure)
        document_note(d, "%s more %s%s.", figure_count(unsure).text, sites(r, unsure),
                      f->decided ? " without a significant change" : ", undecided");
    if (same)
        document_note(d, "%s %s did not change.", figure_count(same).text, sites(r, same));
}

static figure_text percent(double x, int digits, bool has_sign) {
    figure_text t;
    const char *sign = !has_sign ? "" : x > 0 ? "+" : x < 0 ? "-" : "";
    snprintf(t.text, sizeof t.text, "%s%.*f%%", sign, digits, has_sign ? fabs(x) : x);
    return t;
}

static bool is_lopsided(const figure *f) {
    const double down = f->value - f->low, up = f->high - f->value;
    return up > 1.64 * down || down > 1.64 * up;
}

/* Returns by how much an amount with this ratio changed, with the digits that the margin allows:
 * 17% ± 3%. */
static figure_range percent_text(const estimate *ratio, bool has_sign) {
    const double turn = !has_sign && ratio->value < 1 ? -100 : 100;
    const double a = turn * (ratio->low - 1), b = turn * (ratio->high - 1);
    figure f = {.value = turn * (ratio->value - 1),
                .low = fmin(a, b),
                .high = fmax(a, b),
                .margin = 100 * estimate_margin(*ratio)};
    const int digits = f.margin > 0 ? f.margin < 1 : fabs(f.value) < 10;
    f.has_ends = is_lopsided(&f);
    const figure_range error =
        figure_error(&f, percent(f.margin, digits, false).text,
                     percent(f.low, digits, has_sign).text, percent(f.high, digits, has_sign).text);
    figure_range t;
    snprintf(t.text, sizeof t.text, "%.20s%.78s", percent(f.value, digits, has_sign).text,
             figure_beside(error).text);
    return t;
}

static bool has_ratio(const comparison *c) {
    return isfinite(c->ratio.value) && isfinite(c->ratio.low) && isfinite(c->ratio.high);
}

const char *diff_change_in_words(document *d, const diff *f) {
    const comparison *c = &f->total;
    if (isnan(c->ratio.value) || (c->change.value == 0 && c->change.low == c->change.high))
        return NULL;
    if (!f->total_sure && (c->before_samples == 0 || c->after_samples == 0))
        return c->after_samples ? "no samples before" : "no samples after";
    return has_ratio(c) ? document_text(d, "%s", percent_text(&c->ratio, true).text)
                        : "from nothing";
}

static const char *undecided_text(const diff_report *r) {
    const measure m = r->diff->measure;
    if (diff_any_is_partial(r->before, r->n_before) || diff_any_is_partial(r->after, r->n_after))
        return ": a trace is incomplete, and its missing part cannot be compared. Record it again.";
    return m == MEASURE_PEAK || m == MEASURE_LIVE /* unknown effects often exceed sampling error */
               ? ": ± covers sampling error only; one run per side cannot show how much the memory "
                 "held by several threads at one time varies. Compare several runs, such as 5 per "
                 "side: --before A… --after B…"
               : ": ± covers sampling error only; one run per side cannot show how much times "
                 "vary. Compare several runs, such as 5 per side: --before A… --after B…";
}

/* One run per side can show the total alone. */
static void say_total_alone(document *d, const diff_report *r, const char *verdict) {
    document_title(d, verdict,
                   document_text(d,
                                 " in these runs, more than the turns of threads can explain; one "
                                 "run per side cannot show which %s changed.",
                                 sites(r, 2)));
}

static const char *verdict_text(document *d, const comparison *c, bool sure) {
    const char *verb = c->change.value > 0 ? "Increased" : "Reduced";
    if (!sure)
        return c->change.low == c->change.high ? "No change in total"
                                               : "No significant change in total";
    return has_ratio(c) ? document_text(d, "%s by %s", verb, percent_text(&c->ratio, false).text)
                        : document_text(d, "%s%s", verb, c->before_samples ? "" : " from nothing");
}

/* Says what would make a change of this size significant. Intervals shrink with the square root of
 * the number of samples. */
static void say_what_would_decide(document *d, const diff_report *r) {
    enum { MOST_RUNS = 100 };
    const estimate *change = &r->diff->total.change;
    const double times = pow(estimate_margin(*change) / change->value, 2);
    const size_t n = r->n_before < r->n_after ? r->n_before : r->n_after;
    const double rate =
        fmax(r->before[0]->profile->info.sample_rate, r->after[0]->profile->info.sample_rate);
    if (r->diff->total_sure || change->low == change->high || !isfinite(times))
        return;
    if (r->n_before + r->n_after == 2 && rate < 1)
        document_note(d, "A total change of this size would be significant at a rate of %s.",
                      figure_rate(figure_rate_up(fmin(1, rate * times))).text);
    else if (r->n_before + r->n_after > 2 && (double)n * times < MOST_RUNS)
        document_note(
            d, "A total change of this size would be significant with about %.0f runs per side.",
            fmax((double)n + 1, ceil((double)n * times)));
}

/* The last line: the conclusion. */
static void say_conclusion(document *d, const diff_report *r) {
    const diff *f = r->diff;
    const char *verdict = verdict_text(d, &f->total, f->total_sure);
    if (!f->decided && f->total_sure)
        say_total_alone(d, r, verdict);
    else if (!f->decided)
        document_title(d, "Undecided", undecided_text(r));
    else if (f->total.before_samples + f->total.after_samples == 0)
        document_title(d, "Nothing to compare", ": neither side has samples.");
    else if (verdict)
        document_title(d, verdict,
                       document_text(d, "; %s %s changed significantly.",
                                     f->n_sure ? figure_count(f->n_sure).text : "no",
                                     sites(r, f->n_sure)));
}

/* Explains q, if chance can affect the results. */
static void say_q(document *d, const diff_report *r) {
    const estimate change = r->diff->total.change;
    if (r->diff->decided && r->n_changed > 0 && change.low < change.high)
        document_hint(d, "q is the share of false results to expect among rows with that q or "
                         "less.");
}

void diff_say_what_was_found(document *d, const diff_report *r) {
    say_q(d, r);
    say_rest(d, r);
    if (r->diff->decided)
        say_what_would_decide(d, r);
    say_conclusion(d, r);
}
