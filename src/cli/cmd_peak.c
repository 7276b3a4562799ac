/* cmd_peak.c: `allotrace peak FILE`: when most was live, and what it was. */
#include <unistd.h>

#include "analyse/peak.h"
#include "cli/message.h"
#include "cli/question.h"
#include "present/peak.h"

typedef struct peak_options {
    question_options question;
    uint64_t top, callers;
    double min_share;
    int by;
} peak_options;

static const peak_options defaults = {
    .min_share = 0.5,
    .callers = 3,
    .question = {.measure = MEASURE_PEAK, .keep_rows = true},
};

static const option options[] = {
    {.name = "by",
     .kind = OPTION_CHOICE,
     .at = offsetof(peak_options, by),
     .choices = hotspots_groupings,
     .help = "what a row is: a line of the source (default), a function with all its lines, or a "
             "type of objects"},
    {.name = "top",
     .letter = 'n',
     .kind = OPTION_COUNT,
     .at = offsetof(peak_options, top),
     .argument = "N",
     .help = "show at most N rows (0, the default: all that --min-share leaves)"},
    {.name = "min-share",
     .kind = OPTION_PERCENT,
     .at = offsetof(peak_options, min_share),
     .argument = "P",
     .help = "leave out rows below P percent of the total (default 0.5); a last line counts them"},
    {.name = "callers",
     .kind = OPTION_COUNT,
     .at = offsetof(peak_options, callers),
     .argument = "N",
     .help = "show at most N callers of each row (default 3)"},
    OPTION_FILTER(peak_options),
    OPTION_WRAPPERS(peak_options),
    OPTIONS_FORM(peak_options),
};

static void print(output *out, const question *q, const peak_options *opts, const peak *k,
                  const hotspots *h) {
    const hotspots_view view = {
        .top = opts->top, .min_share = opts->min_share, .callers = opts->callers};
    if (opts->question.json)
        peak_json(out, &q->report, k, h, &view);
    else if (opts->question.csv)
        hotspots_csv(out, &q->report, h, &view);
    else
        peak_text(out, &q->report, k, h, &view);
}

static int show(const question *q, const peak_options *opts) {
    peak k;
    hotspots h;
    output out;
    if (!peak_query(&q->profile, q->query.selection.kept, &k) ||
        !hotspots_query(&q->query, (hotspots_by)opts->by, &h)) {
        message_error("not enough memory");
        return STATUS_FAILED;
    }
    output_start(&out, STDOUT_FILENO);
    print(&out, q, opts, &k, &h);
    hotspots_free(&h);
    return report_output(output_finish(&out));
}

static int run(const void *opts_, char **operands, size_t n_operands) {
    const peak_options *opts = opts_;
    question q;
    (void)n_operands;
    int status = question_ask(&q, &command_peak, &opts->question, operands[0]);
    if (status == STATUS_OK)
        status = show(&q, opts);
    question_close(&q);
    return status;
}

const command command_peak = {
    .name = "peak",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACE,
    .usage = "FILE",
    .summary = "show when most was live, and what",
    .description =
        "Shows the moment when most memory was live, how much that was, in which heap and for how "
        "long it had lived, and the places that had allocated it. The moment is that of the whole "
        "trace, also if a filter keeps a part of it.\n\n"
        "Amounts are estimates; ± is the 95 % interval. So is the moment: it is said within which "
        "time most may have been live.",
    .example = "allotrace peak out.ctf\n"
               "allotrace peak --by type --filter heap:major out.ctf\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};
