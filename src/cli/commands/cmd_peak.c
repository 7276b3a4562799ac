/* cmd_peak.c: `allotrace peak FILE`: shows when most memory was live, and what held it. */

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
    int by, measure; /* for sites */
} peak_options;

static const peak_options defaults = {
    .min_share = 0.5,
    .callers = 3,
    .measure = MEASURE_PEAK,
    .question = {.measure = MEASURE_PEAK, .keep_rows = true},
};

static const option options[] = {
    OPTION_ROWS_BY(peak_options),
    OPTIONS_ROWS(peak_options),
    OPTION_FILTER(peak_options, question.filter),
    {.name = "measure",
     .letter = 'm',
     OPTION_CHOOSES(peak_options, measure, measure_names),
     .help = "what to sum by site, over the blocks live at the peak: bytes (allocated or peak; the "
             "default), blocks, bytes live at the end, bytes promoted at any time, bytes never "
             "freed, bytes requested, or bytes times lifetime in seconds",
     .brief = "what to sum, over the blocks live at the peak"},
    OPTION_WRAPPERS(peak_options),
    OPTIONS_FORM(peak_options),
};

/* Shows the sites of blocks that were live at the peak, by the measure of `sites`. */
static int show_sites(const question *q, const peak_options *opts, const report *sites) {
    peak k;
    hotspots h;
    document d = {0};
    trace_file_doing(&q->in, "looking for the peak");
    if (!peak_query(&q->profile, selection_rows(&q->query.selection), &k) ||
        !hotspots_query(sites->query, (hotspots_by)opts->by, &h))
        return message_no_memory();
    hotspots_report rows = {
        .report = sites,
        .hotspots = &h,
        .view = {.top = opts->top, .min_share = opts->min_share, .callers = opts->callers}};
    peak_report shown = {.report = &q->report, .peak = &k, .sites = &rows};
    peak_document(&d, &shown);
    const int status = question_show(&opts->question, &d);
    question_hint_sites(q, &opts->question, &rows);
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

static int run(const void *opts_, char **operands) {
    const peak_options *opts = opts_;
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
    .description = "Shows when memory use peaked, how much was live then, in which heap and how "
                   "old it was, and the sites that had allocated it. The peak is always that of "
                   "the whole trace, even with a filter.\n"
                   "\n"
                   "Amounts are estimates; ± is the 95% confidence interval. The time of the peak "
                   "is an estimate, too; if it is uncertain, a range is shown.",
    .example = "allotrace peak out.ctf\n"
               "allotrace peak --by type --filter heap:major out.ctf\n"
               "allotrace peak --measure blocks out.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = lacks,
    .run = run,
};
