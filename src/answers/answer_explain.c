/* answer_explain.c: `/api/explain`: what a figure means, how it was computed, and how certain it
 * is. The formulas are those of docs/estimator.md. */
#include <stdio.h>

#include "answers/asked.h"
#include "answers/endpoints.h"
#include "query/estimate.h"

typedef struct explanation {
    const char *title, *definition, *formula;
} explanation;

#define WORDS_FORMULA "bytes = samples / rate × bytes of a word"

static const explanation explanations[] = {
    [MEASURE_ALLOCATED] = {"Allocated",
                           "All memory that was allocated while the program ran, headers included, "
                           "whether or not it was freed later.",
                           WORDS_FORMULA},
    [MEASURE_BLOCKS] =
        {"Blocks",
         "How many blocks were allocated. Large blocks are more likely to be sampled "
         "than small ones, so each sampled block counts as many as its size stands "
         "for.",
         "blocks = sum over the sampled blocks of 1 / (1 - (1 - rate)^words)"},
    [MEASURE_LIVE] = {"Live",
                      "Memory that was allocated at the given time or before, and not freed by "
                      "then.",
                      WORDS_FORMULA},
    [MEASURE_PEAK] = {"Live at the peak",
                      "Memory that was live when the whole program's memory use peaked, regardless "
                      "of the filter.",
                      WORDS_FORMULA},
    [MEASURE_PROMOTED] = {"Promoted",
                          "Memory allocated in the minor heap that survived a minor collection and "
                          "was moved to the major heap.",
                          WORDS_FORMULA},
    [MEASURE_SURVIVED] = {"Never freed", "Memory that was still allocated when the trace ended.",
                          WORDS_FORMULA},
    [MEASURE_TEMPORARY] =
        {"Temporary",
         "Memory that was freed within a millisecond, and before its thread's next recorded "
         "allocation with the same call stack. In a sample, that one need not be the next that "
         "there was: at rates below 1, some of it may have been held beside others of its kind.",
         WORDS_FORMULA},
    [MEASURE_BYTESECONDS] =
        {"Times lifetime",
         "Each byte times the seconds it lived: what keeps memory occupied. Memory that was never "
         "freed counts to the end of the trace.",
         "bytes × seconds = sum over the samples of the lifetime / rate × bytes "
         "of a word"},
    [MEASURE_REQUESTED] =
        {"Requested",
         "The memory that the program requested, in whole words, without the blocks' headers.",
         "bytes = sum over the samples of length / (length + 1) / rate × bytes of a word; length: "
         "the words of its block without header"},
};

/* The figure to explain, as an earlier answer gave it. */
typedef struct explained {
    int measure;
    double value, low, high;
    uint64_t samples, blocks;
} explained;

#define LARGEST 1e300

static bool parse(request *r, explained *e) {
    return request_choice(r, "measure", measure_names, &e->measure) &&
           request_number(r, "value", 0, LARGEST, &e->value) &&
           request_number(r, "low", 0, LARGEST, &e->low) &&
           request_number(r, "high", 0, LARGEST, &e->high) &&
           request_integer(r, "samples", 0, UINT64_MAX - 1, &e->samples) &&
           request_integer(r, "blocks", 0, UINT64_MAX - 1, &e->blocks);
}

static figure_text amount(const explained *e, double value) {
    return measure_infos[e->measure].unit == UNIT_BLOCKS ? figure_count((uint64_t)value)
                                                         : figure_bytes(value);
}

static const char *unit_suffix(const explained *e) {
    static const char *const suffixes[] = {[UNIT_BYTES] = "",
                                           [UNIT_BLOCKS] = " blocks",
                                           [UNIT_BYTESECONDS] = "·s",
                                           [UNIT_REQUESTED] = ""};
    return suffixes[measure_infos[e->measure].unit];
}

/* Writes the formula with numbers in it. */
static void write_worked(output *o, const profile *p, const explained *e) {
    char text[200];
    if (measure_infos[e->measure].unit == UNIT_BYTES)
        snprintf(text, sizeof text, "%s samples / %s × %u B = %s", figure_count(e->samples).text,
                 figure_rate(p->info.sample_rate).text, p->info.word_size / 8u,
                 figure_bytes(cost_bytes(p, e->samples)).text);
    else
        snprintf(text, sizeof text, "%s%s, from %s samples in %s sampled blocks",
                 amount(e, e->value).text, unit_suffix(e), figure_count(e->samples).text,
                 figure_count(e->blocks).text);
    output_text(o, ",\n\"worked\":");
    output_json(o, text);
}

static void write_interval(output *o, const profile *p, const explained *e) {
    char text[300];
    if (e->low == e->high)
        snprintf(text, sizeof text, "Exact: every word was sampled.");
    else if (p->info.sample_rate >= 1)
        snprintf(text, sizeof text,
                 "The true value is between %s and %s%s: the order of events that are close "
                 "together in different threads is unknown.",
                 amount(e, e->low).text, amount(e, e->high).text, unit_suffix(e));
    else
        snprintf(text, sizeof text,
                 "The true value is between %s and %s%s with at least 95%% confidence.",
                 amount(e, e->low).text, amount(e, e->high).text, unit_suffix(e));
    output_text(o, ",\n\"interval\":");
    output_json(o, text);
}

static void write_caveat(output *o, bool *any, const char *text) {
    output_text(o, *any ? "," : "");
    *any = true;
    output_json(o, text);
}

static void write_caveats(output *o, const profile *p, const explained *e) {
    char text[300];
    bool any = false;
    double invisible = estimate_invisible(p->info.sample_rate) * p->info.word_size / 8;
    output_text(o, ",\n\"caveats\":[");
    if (e->low < e->high && e->samples < 10 && p->info.sample_rate < 1)
        write_caveat(o, &any, "It is based on very few samples, so it is very uncertain.");
    if (e->low < e->high && e->measure == MEASURE_BLOCKS && e->blocks > 0 &&
        e->blocks < ESTIMATE_FEW_BLOCKS)
        write_caveat(o, &any,
                     "There may be small blocks without a sample; with few sampled blocks, the "
                     "interval takes them into account.");
    if (invisible > 0) {
        snprintf(text, sizeof text,
                 "A site that allocated less than %s may have no samples and be missing.",
                 figure_bytes(invisible).text);
        write_caveat(o, &any, text);
        write_caveat(o, &any,
                     "The interval holds for a place chosen in advance; the first rows of a sorted "
                     "table tend to be slightly too high.");
    }
    if (p->suspect_blocks) {
        snprintf(text, sizeof text,
                 "Parts of the trace were lost: %s blocks may have a wrong stack.",
                 figure_count(p->suspect_blocks).text);
        write_caveat(o, &any, text);
    }
    output_char(o, ']');
}

static void write_explanation(output *o, const profile *p, const explained *e) {
    const explanation *x = &explanations[e->measure];
    output_format(o, "{\"measure\":\"%s\",\"title\":", measure_names[e->measure]);
    output_json(o, x->title);
    output_text(o, ",\"definition\":");
    output_json(o, x->definition);
    output_text(o, ",\n\"formula\":");
    output_json(o, x->formula);
    write_worked(o, p, e);
    write_interval(o, p, e);
    write_caveats(o, p, e);
    output_text(o, ",\"rate\":");
    figure_json_number(o, p->info.sample_rate);
    output_text(o, "}\n");
}

bool answer_explain(request *r) {
    explained e = {0};
    size_t trace;
    reading *now;
    if (!parse(r, &e) || !request_reading(r, "trace", 0, false, &trace, &now))
        return false;
    write_explanation(r->o, &now->profile, &e);
    reading_release(now);
    return true;
}
