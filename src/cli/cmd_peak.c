/* cmd_peak.c: `allotrace peak FILE`: when most was live, and what it was. */
#include <unistd.h>

#include "analyse/peak.h"
#include "cli/message.h"
#include "cli/question.h"
#include "cli/rows.h"
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
    OPTION_ROW(peak_options),      OPTIONS_ROWS(peak_options), OPTION_FILTER(peak_options),
    OPTION_WRAPPERS(peak_options), OPTIONS_FORM(peak_options),
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
