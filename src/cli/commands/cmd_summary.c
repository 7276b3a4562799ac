/* cmd_summary.c: `allotrace FILE`, or `allotrace summary FILE`: shows the most important results of
 * each report. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/message.h"
#include "cli/origin.h"
#include "cli/question.h"
#include "cli/traces.h"
#include "query/libraries.h"
#include "reports/summary.h"

typedef struct summary_options {
    question_options question;
} summary_options;

static const summary_options defaults = {
    .question = {.births = true, .keep_rows = true, .finds_peak = true, .counts = true}};

static const option options[] = {
    OPTION_JSON(summary_options),
    OPTIONS_LOOK(summary_options),
    OPTION_INDEX(summary_options, question.index),
    OPTION_LAST(summary_options, question.last),
    OPTION_STRICT(summary_options, question.strict),
};

/* The data of the document. */
typedef struct findings {
    /* If most was allocated in libraries, sites are those of their callers. */
    filter *hiding, *hiding_all; /* NULL: libraries are not hidden */
    query_result callers;
    report of_sites;
    /* If what was allocated before a window does not count: what grows is found in all of it. */
    query_result live;
    report of_growth;
    peak peak;
    hotspots sites;
    leaks leaks;
    advice_list advice;
} findings;

static void findings_free(findings *f) {
    hotspots_free(&f->sites);
    leaks_free(&f->leaks);
    advise_free(&f->advice);
    query_free(&f->callers);
    query_free(&f->live);
    filter_free(f->hiding);
    filter_free(f->hiding_all);
}

static bool ask(const question *q, const char *text, filter **f, query_result *result) {
    filter_error error;
    return (!*text || filter_parse(text, f, &error)) &&
           query_run(result, &q->profile,
                     &(query_spec){.filter = *f,
                                   .moment = QUERY_END,
                                   .keep_rows = true,
                                   .finds_peak = true,
                                   .keep_counted = true});
}

static bool ask_for_callers(const question *q, findings *f) {
    f->of_sites = q->report;
    if (!libraries_hold_most(&q->query))
        return true;
    char *text = text_format("%s %s", LIBRARIES_HIDDEN, q->filter_text ? q->filter_text : "");
    const bool done = text && ask(q, text, &f->hiding, &f->callers);
    f->of_sites.query = &f->callers;
    free(text);
    return done;
}

static bool ask_for_growth(const question *q, findings *f) {
    f->of_growth = f->of_sites;
    if (!q->filter_text)
        return true;
    f->of_growth.query = &f->live;
    return ask(q, f->hiding ? LIBRARIES_HIDDEN : "", &f->hiding_all, &f->live);
}

static bool find(const question *q, findings *f) {
    if (!ask_for_callers(q, f) || !ask_for_growth(q, f))
        return false;
    const query_result *of_sites = f->of_sites.query, *of_growth = f->of_growth.query;
    const leaks_spec growth = {.may = of_growth->may, .warm_up = 0.25};
    return peak_query(&q->profile, NULL, &f->peak) &&
           hotspots_query(of_sites, HOTSPOTS_BY_LINE, &f->sites) &&
           leaks_query(&of_growth->lens, &growth, &f->leaks) &&
           advise_query(&q->query, ADVISE_WORTH, &f->advice);
}

static int show(const question *q, const void *opts_) {
    const summary_options *opts = opts_;
    findings f = {.sites = {.by = HOTSPOTS_BY_LINE}};
    document d = {0};
    trace_file_doing(&q->in, "preparing the summary");
    if (!find(q, &f)) {
        findings_free(&f);
        return message_no_memory();
    }
    char *trace = strdup(origin_report_words(q->in.path));
    summary_report shown = {
        .report = &q->report,
        .trace = trace,
        .whole = origin_command_words(q->in.path),
        .hiding = f.hiding ? LIBRARIES_HIDDEN : NULL,
        .peak = &f.peak,
        .advice = &f.advice,
        .sites = {.report = &f.of_sites, .hotspots = &f.sites, .view = {.top = SUMMARY_SITES}},
        .leaks = {.report = &f.of_growth, .leaks = &f.leaks}};
    summary_document(&d, &shown);
    const int status = question_show(&opts->question, &d);
    if (hotspots_unsymbolized(&shown.sites))
        question_hint_symbolize(q);
    if (question_is_text(&opts->question))
        question_hint_growth(q);
    document_free(&d);
    findings_free(&f);
    free(trace);
    return status;
}

static int run(const void *opts_, char **operands) {
    const summary_options *opts = opts_;
    return question_answer(&command_summary, &opts->question, operands[0], show, opts);
}

static const option_lack lacks[] = {
    {"filter", "allotrace hotspots --filter FILTER"},
    {"csv", "--json"},
    {0},
};

const command command_summary = {
    .name = "summary",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACE,
    .usage = "FILE…",
    .summary = "show what matters most in a trace",
    .description =
        "Shows what a trace contains: its peak, the five largest sites, the sites that grow and "
        "the best advice, each with the command that shows more. Where most is allocated in "
        "libraries, sites are those of the code that calls them. `allotrace FILE` does the same.",
    .example = "allotrace out.ctf\n"
               "allotrace summary --json out.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = lacks,
    .run = run,
};
