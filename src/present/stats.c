/* stats.c: see stats.h. Numbers of the sample are exact and written so that they can be compared
 * with published ones digit by digit; those of the program are estimates. */
#include "present/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { BAR_WIDTH = 40 };

static double share(uint64_t part, uint64_t of) {
    return of ? (double)part / (double)of : 0;
}

/* ---- text -------------------------------------------------------------------------------- */

/* How many characters a terminal shows. */
static int width_of(const char *text) {
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

static void label(output *o, const char *name) {
    output_format(o, "  %-22s", name);
}

/* Three digits of what is missing to 100 %, too. */
static figure_text percent(double of) {
    figure_text t;
    snprintf(t.text, sizeof t.text, "%.*g%%", of < 0.9 ? 3 : 6, 100 * of);
    return t;
}

/* A share with its interval. */
static void show_share(output *o, estimate e) {
    output_format(o, "%s (%s … %s)", percent(e.value).text, percent(e.low).text,
                  percent(e.high).text);
}

static void show_count(output *o, estimate e) {
    output_format(o, "%s (%s … %s)", figure_count((uint64_t)llround(e.value)).text,
                  figure_count((uint64_t)llround(e.low)).text,
                  figure_count((uint64_t)llround(e.high)).text);
}

static void show_sample(output *o, const stats_part *part, uint64_t large) {
    label(o, "blocks");
    output_format(o, "%s, %s of them alive at the end\n", figure_count(part->n).text,
                  part->n_survived ? figure_count(part->n_survived).text : "none");
    label(o, "mean");
    figure_json_number(o, part->mean);
    output_text(o, " words\n");
    label(o, "variance");
    figure_json_number(o, part->variance);
    output_char(o, '\n');
    label(o, "standard deviation");
    figure_json_number(o, part->deviation);
    output_text(o, " words\n");
    label(o, "maximum");
    output_format(o, "%" PRIu64 " words\n", part->most);
    output_format(o, "  above %s words%*s", figure_count(large).text,
                  10 - width_of(figure_count(large).text), "");
    figure_json_number(o, 100.0 * (double)part->n_large / (double)part->n);
    output_format(o, " %% of the blocks (%s)\n", figure_count(part->n_large).text);
}

/* A row of a histogram. */
static void show_row(output *o, const char *name, uint64_t n, size_t of) {
    output_format(o, "  %s%*s %9s %6.2f%%", name, 20 - width_of(name), "", figure_count(n).text,
                  100 * share(n, of));
    if (n > 0)
        output_text(o, "  ");
    figure_bar(o, share(n, of), BAR_WIDTH);
    output_char(o, '\n');
}

static void show_sizes(output *o, const stats_part *part) {
    output_text(o, "\n  words                   blocks\n");
    for (int i = 0; i < STATS_N_SIZES; i++) {
        show_row(o, stats_sizes[i].name, part->sizes[i], part->n);
    }
}

/* 10^power of what lifetimes count. */
static figure_text power_of_ten(unsigned power, bool micros) {
    static const char *const units[] = {" µs", " ms", " s"};
    unsigned unit = power / 3 < 2 ? power / 3 : 2;
    if (!micros)
        return figure_count(stats_decade_least(power + 1));
    figure_text t, n = figure_count(stats_decade_least(power - 3 * unit + 1));
    snprintf(t.text, sizeof t.text, "%.30s%s", n.text, units[unit]);
    return t;
}

static figure_text decade_name(unsigned decade, bool micros) {
    figure_text t = {"0"};
    if (decade == 0)
        return t;
    figure_text low = power_of_ten(decade - 1, micros), high = power_of_ten(decade, micros);
    snprintf(t.text, sizeof t.text, "%.17s … %.17s", low.text, high.text);
    return t;
}

static void show_lives(output *o, const stats_part *part, const stats_lives *l, bool micros) {
    unsigned first = 0, last = STATS_DECADES - 1;
    while (first < last && l->decades[first] == 0)
        first++;
    while (last > first && l->decades[last] == 0)
        last--;
    figure_text mean = micros ? figure_duration((uint64_t)llround(l->mean))
                              : figure_count((uint64_t)llround(l->mean));
    output_format(o, "\n  lifetime%s mean %s, median %s, maximum %s\n",
                  micros ? ":" : " in events:", mean.text,
                  (micros ? figure_duration : figure_count)(l->median).text,
                  (micros ? figure_duration : figure_count)(l->most).text);
    for (unsigned i = first; i <= last; i++) {
        show_row(o, decade_name(i, micros).text, l->decades[i], part->n);
    }
}

static void show_held(output *o, const stats_held *h) {
    const double numbers[] = {h->mean, h->variance, h->deviation, h->most};
    static const char *const names[] = {"mean", "variance", "standard deviation", "maximum"};
    output_text(o, "\n  held, in words times seconds:\n");
    for (int i = 0; i < 4; i++) {
        label(o, names[i]);
        figure_json_number(o, numbers[i]);
        output_char(o, '\n');
    }
    output_text(o, "\n  words                   share of the bytes times seconds that are held\n");
    for (int i = 0; i < STATS_N_SIZES; i++) {
        output_format(o, "  %s%*s ", stats_sizes[i].name, 22 - width_of(stats_sizes[i].name), "");
        if (h->sizes[i].low < h->sizes[i].high)
            show_share(o, h->sizes[i]);
        else
            output_text(o, percent(h->sizes[i].value).text);
        output_char(o, '\n');
    }
}

static void show_program(output *o, const report *r, const stats_part *part, uint64_t large) {
    if (r->query->profile->info.sample_rate >= 1)
        return;
    output_text(o, "\nThe program's blocks, estimated by weighting each sampled one by its chance "
                   "to be sampled:\n");
    label(o, "blocks");
    show_count(o, part->blocks);
    output_char(o, '\n');
    label(o, "mean");
    output_format(o, "%.4g words (%.4g … %.4g)\n", part->mean_words.value, part->mean_words.low,
                  part->mean_words.high);
    output_format(o, "  above %s words%*s", figure_count(large).text,
                  10 - width_of(figure_count(large).text), "");
    show_share(o, part->large);
    output_text(o, " of the blocks\n");
    for (int i = 0; i < STATS_N_SIZES; i++) {
        output_format(o, "  %s words%*s", stats_sizes[i].name, 16 - width_of(stats_sizes[i].name),
                      "");
        show_share(o, part->size_shares[i]);
        output_char(o, '\n');
    }
}

static void show_segments(output *o, const stats *s) {
    if (s->segments.count == 0)
        return;
    output_format(o,
                  "\nSegments of %s blocks each, in the order of their births; in words, and "
                  "events of life:\n",
                  figure_count(s->segments.items[0].n).text);
    output_format(o, "  %17s %10s %11s %9s %8s %8s %8s %12s %9s %12s %12s\n", "blocks", "mean",
                  "deviation", "maximum", ">large", "to 32", "to 256", "to 10,000", "above",
                  "median life", "mean life");
    for (size_t i = 0; i < s->segments.count; i++) {
        const stats_part *p = &s->segments.items[i];
        char range[48];
        snprintf(range, sizeof range, "%zu–%zu", p->first + 1, p->first + p->n);
        output_format(o, "  %*s%s %10.2f %11.2f %9" PRIu64, 17 - width_of(range), "", range,
                      p->mean, p->deviation, p->most);
        output_format(o, " %7.2f%%", 100 * share(p->n_large, p->n));
        for (int j = 0; j < STATS_N_SIZES; j++)
            output_format(o, " %*" PRIu64, j < 2 ? 8 : j == 2 ? 12 : 9, p->sizes[j]);
        output_format(o, " %12" PRIu64 " %12.1f\n", p->events.median, p->events.mean);
    }
}

void stats_text(output *o, const report *r, const stats *s, const stats_spec *spec) {
    const stats_part *whole = &s->whole;
    if (!report_text_head(o, r))
        return;
    if (whole->n == 0) {
        output_text(o, "None of these blocks was in the major heap.\n");
        return;
    }
    report_paint(o, r, REPORT_BOLD);
    output_format(o, "\nSampled blocks%s, each weighing one; sizes in words without header:\n",
                  spec->major_only ? " that were outside the minor heap" : "");
    report_paint(o, r, REPORT_PLAIN);
    show_sample(o, whole, spec->large);
    show_sizes(o, whole);
    show_lives(o, whole, &whole->events, false);
    show_lives(o, whole, &whole->micros, true);
    report_tick(o, r);
    if (spec->held)
        show_held(o, &whole->held);
    show_program(o, r, whole, spec->large);
    show_segments(o, s);
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void json_number(output *o, const char *name, double x) {
    output_format(o, ",\"%s\":", name);
    figure_json_number(o, x);
}

static void json_lives(output *o, const char *name, const stats_lives *l) {
    output_format(o, ",\n  \"%s\":{\"mean\":", name);
    figure_json_number(o, l->mean);
    output_format(o, ",\"median\":%" PRIu64 ",\"maximum\":%" PRIu64 ",\"histogram\":[", l->median,
                  l->most);
    bool any = false;
    for (unsigned i = 0; i < STATS_DECADES; i++) {
        if (l->decades[i] == 0)
            continue;
        output_format(o, "%s{\"least\":%" PRIu64 ",\"blocks\":%" PRIu64 "}", any ? "," : "",
                      stats_decade_least(i), l->decades[i]);
        any = true;
    }
    output_text(o, "]}");
}

static void json_sizes(output *o, const stats_part *p) {
    output_text(o, ",\n  \"sizes\":[");
    for (int i = 0; i < STATS_N_SIZES; i++) {
        output_format(o, "%s{\"above\":", i ? "," : "");
        if (i)
            output_format(o, "%" PRIu64, stats_sizes[i - 1].most);
        else
            output_text(o, "null");
        output_format(o, ",\"blocks\":%" PRIu64, p->sizes[i]);
        json_number(o, "share", share(p->sizes[i], p->n));
        output_text(o, ",\"program_share\":");
        figure_json_estimate(o, p->size_shares[i], p->sizes[i]);
        output_char(o, '}');
    }
    output_char(o, ']');
}

static void json_held(output *o, const stats_part *p) {
    output_text(o, ",\n  \"held\":{\"mean\":");
    figure_json_number(o, p->held.mean);
    json_number(o, "variance", p->held.variance);
    json_number(o, "standard_deviation", p->held.deviation);
    json_number(o, "maximum", p->held.most);
    output_text(o, ",\"sizes\":[");
    for (int i = 0; i < STATS_N_SIZES; i++) {
        output_text(o, i ? "," : "");
        figure_json_estimate(o, p->held.sizes[i], p->sizes[i]);
    }
    output_text(o, "]}");
}

static void json_part(output *o, const stats_part *p, bool held) {
    output_format(o, "{\"first\":%zu,\"blocks\":%zu,\"words\":%" PRIu64, p->first, p->n, p->words);
    json_number(o, "mean", p->mean);
    json_number(o, "variance", p->variance);
    json_number(o, "standard_deviation", p->deviation);
    output_format(o, ",\"maximum\":%" PRIu64 ",\"large\":%" PRIu64, p->most, p->n_large);
    json_number(o, "large_share", share(p->n_large, p->n));
    output_format(o, ",\"survived\":%" PRIu64, p->n_survived);
    json_sizes(o, p);
    json_lives(o, "lifetimes_events", &p->events);
    json_lives(o, "lifetimes_us", &p->micros);
    if (held)
        json_held(o, p);
    output_text(o, ",\n  \"program\":{\"blocks\":");
    figure_json_estimate(o, p->blocks, p->n);
    output_text(o, ",\"mean\":");
    figure_json_estimate(o, p->mean_words, p->n);
    output_text(o, ",\"large_share\":");
    figure_json_estimate(o, p->large, p->n_large);
    output_text(o, "}}");
}

void stats_json(output *o, const report *r, const stats *s, const stats_spec *spec) {
    output_char(o, '{');
    report_json_head(o, r);
    output_format(o, ",\n \"major_only\":%s,\"large_above_words\":%" PRIu64 ",\"events\":%" PRIu64,
                  spec->major_only ? "true" : "false", spec->large, s->n_events);
    output_text(o, ",\n \"sample\":");
    json_part(o, &s->whole, spec->held);
    output_text(o, ",\n \"segments\":[");
    for (size_t i = 0; i < s->segments.count; i++) {
        output_text(o, i ? ",\n " : "");
        json_part(o, &s->segments.items[i], spec->held);
    }
    output_text(o, "]}\n");
}

/* ---- CSV --------------------------------------------------------------------------------- */

static void csv_estimate(output *o, estimate e) {
    const double fields[] = {e.value, e.low, e.high};
    for (int i = 0; i < 3; i++) {
        output_char(o, ',');
        figure_json_number(o, fields[i]);
    }
}

static void csv_held(output *o, const stats_held *h) {
    const double numbers[] = {h->mean, h->variance, h->deviation, h->most};
    for (int i = 0; i < 4; i++) {
        output_char(o, ',');
        figure_json_number(o, numbers[i]);
    }
    for (int i = 0; i < STATS_N_SIZES; i++)
        csv_estimate(o, h->sizes[i]);
}

static void csv_part(output *o, const char *name, const stats_part *p, bool held) {
    const double numbers[] = {p->mean, p->variance, p->deviation};
    output_format(o, "%s,%zu,%zu", name, p->first, p->n);
    for (int i = 0; i < 3; i++) {
        output_char(o, ',');
        figure_json_number(o, numbers[i]);
    }
    output_format(o, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, p->most, p->n_large, p->n_survived);
    for (int i = 0; i < STATS_N_SIZES; i++)
        output_format(o, ",%" PRIu64, p->sizes[i]);
    output_char(o, ',');
    figure_json_number(o, p->events.mean);
    output_format(o, ",%" PRIu64 ",%" PRIu64 ",", p->events.median, p->events.most);
    figure_json_number(o, p->micros.mean);
    output_format(o, ",%" PRIu64 ",%" PRIu64, p->micros.median, p->micros.most);
    csv_estimate(o, p->blocks);
    csv_estimate(o, p->mean_words);
    csv_estimate(o, p->large);
    if (held)
        csv_held(o, &p->held);
    output_char(o, '\n');
}

void stats_csv(output *o, const stats *s, const stats_spec *spec) {
    output_format(o,
                  "part,first,blocks,mean,variance,standard_deviation,maximum,above_%" PRIu64
                  ",survived,size_0_32,size_32_256,size_256_10000,size_above_10000,",
                  spec->large);
    output_text(o, "events_mean,events_median,events_maximum,us_mean,us_median,us_maximum,"
                   "program_blocks,program_blocks_low,program_blocks_high,program_mean,"
                   "program_mean_low,program_mean_high,program_large_share,"
                   "program_large_share_low,program_large_share_high");
    if (spec->held)
        output_text(o, ",held_mean,held_variance,held_standard_deviation,held_maximum");
    static const char *const sizes[STATS_N_SIZES] = {"0_32", "32_256", "256_10000", "above_10000"};
    for (int i = 0; spec->held && i < STATS_N_SIZES; i++)
        output_format(o, ",held_%s,held_%s_low,held_%s_high", sizes[i], sizes[i], sizes[i]);
    output_char(o, '\n');
    csv_part(o, "all", &s->whole, spec->held);
    for (size_t i = 0; i < s->segments.count; i++) {
        char name[24];
        snprintf(name, sizeof name, "%zu", i + 1);
        csv_part(o, name, &s->segments.items[i], spec->held);
    }
}

void stats_vectors(output *o, const profile *p, const stats *s) {
    output_text(o, "words,samples,born_event,born_us,life_events,life_us,survived\n");
    stats_walk walk = {.stats = s};
    stats_block b;
    while (!o->error && stats_next(&walk, &b)) {
        output_format(
            o, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d\n",
            b.words, blocks_samples(&p->table, b.row), b.born_at, b.born, b.events, b.micros,
            b.survived);
    }
}
