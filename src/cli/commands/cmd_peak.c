/* cmd_peak.c: `allotrace peak FILE`: when most was live, and what it was. */
#include <unistd.h>

#include "cli/message.h"
#include "cli/question.h"
#include "cli/rows.h"
#include "cli/terminal.h"
#include "query/peak.h"
#include "reports/peak.h"

typedef struct peak_options {
    question_options question;
    uint64_t top, callers;
    double min_share;
    int by, measure; /* of sites */
} peak_options;

static const peak_options defaults = {
    .min_share = 0.5,
    .callers = 3,
    .measure = MEASURE_PEAK,
    .question = {.measure = MEASURE_PEAK, .keep_rows = true},
};

static const option options[] = {
    OPTION_ROW(peak_options),
    OPTIONS_ROWS(peak_options),
    OPTION_FILTER(peak_options, question.filter),
    {.name = "measure",
     .letter = 'm',
     .kind = OPTION_CHOICE,
     .at = offsetof(peak_options, measure),
     .choices = question_measures,
     .help = "what is added up by site, of the blocks that were live at the peak: their bytes "
             "(allocated, or peak, the default), their number, the bytes of those that were live "
             "at the end, promoted at any time, never freed, or requested, or bytes times seconds "
             "of life",
     .brief = "what is summed, of the blocks live at the peak"},
    OPTION_WRAPPERS(peak_options),
    OPTIONS_FORM(peak_options),
};

/* The sites of what was live at the peak, in `q`'s measure. */
static int show_sites(const question *q, const peak_options *opts, const report *sites) {
    peak k;
    hotspots h;
    document d = {0};
    trace_file_doing(&q->in, "looking for the peak");
    if (!peak_query(&q->profile, q->query.selection.kept, &k) ||
        !hotspots_query(sites->query, (hotspots_by)opts->by, &h))
        return message_no_memory();
    hotspots_report rows = {
        .report = sites,
        .hotspots = &h,
        .view = {.top = opts->top, .min_share = opts->min_share, .callers = opts->callers}};
    peak_report shown = {.report = &q->report, .peak = &k, .sites = &rows};
    peak_document(&d, &shown);
    const int status = question_show(&opts->question, &d);
    if (hotspots_unsymbolized(&rows))
        question_hint_symbolize(q);
    document_free(&d);
    hotspots_free(&h);
    return status;
}

static int show(const question *q, const void *opts_) {
    const peak_options *opts = opts_;
    if (opts->measure == MEASURE_PEAK || opts->measure == MEASURE_ALLOCATED)
        return show_sites(q, opts, &q->report);
    query_result other;
    const report sites = {.query = &other, .filter = q->report.filter};
    int status = question_ask_again(q, &command_peak, &opts->question, "live:@peak",
                                    (measure)opts->measure, &other);
    if (status == STATUS_OK) {
        status = show_sites(q, opts, &sites);
        query_free(&other);
    }
    return status;
}

static int run(const void *opts_, char **operands, size_t n_operands) {
    const peak_options *opts = opts_;
    (void)n_operands;
    return question_answer(&command_peak, &opts->question, operands[0], show, opts);
}

static const option_lack lacks[] = {
    {"at", "allotrace hotspots --measure live --at TIME"},
    {0},
};

const command command_peak = {
    .name = "peak",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACE,
    .usage = "FILE…",
    .summary = "show peak memory and what held it",
    .description =
        "Shows the moment when most memory was live, how much that was, in which heap and for how "
        "long it had lived, and the places that had allocated it. The moment is that of the whole "
        "trace, also if a filter keeps a part of it.\n\n"
        "Amounts are estimates; ± is the 95% interval. So is the moment: it is said within which "
        "time most may have been live.",
    .example = "allotrace peak out.ctf\n"
               "allotrace peak --by type --filter heap:major out.ctf\n"
               "allotrace peak --measure blocks out.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = lacks,
    .run = run,
};
