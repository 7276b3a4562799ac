/* cmd_timeline.c: `allotrace timeline FILE`: shows live and allocated memory over time. */

#include "cli/message.h"
#include "cli/question.h"
#include "cli/terminal.h"
#include "reports/timeline.h"

typedef struct timeline_options {
    question_options question;
    uint64_t points, top, from, to;
    int by;
} timeline_options;

static const timeline_options defaults = {
    .to = TIMELINE_END,
    .by = N_GROUPS_BY,
    .question = {.keep_rows = true, .finds_peak = true, .counts = true}};

enum { GROUPS = 10, TEXT_POINTS = 50, LEAST_POINTS = 20, DATA_POINTS = 200, MAX_POINTS = 100000 };

static const option options[] = {
    {.name = "points",
     .letter = 'p',
     OPTION_TAKES(COUNT, timeline_options, points, "N"),
     .help = "number of time intervals, 1 to 100000 (default 50; 200 with --json or --csv)",
     .brief = "number of time intervals (default 50; 200 with --json or --csv)"},
    {.name = "from",
     OPTION_TAKES(TIME, timeline_options, from, "TIME"),
     .help = "begin at TIME since the start, such as 1.5s, 20ms or 2min"},
    {.name = "to", OPTION_TAKES(TIME, timeline_options, to, "TIME"), .help = "end at TIME"},
    {.name = "top",
     .letter = 'n',
     OPTION_TAKES(COUNT, timeline_options, top, "N"),
     .help = "also show the N sites (or threads, scopes or lifetimes, see --by) that hold most at "
             "the peak "
             "(default 0; 10 with --by)",
     .brief = "also show the N largest at the peak"},
    {.name = "by",
     OPTION_CHOOSES(timeline_options, by, groups_by_names),
     .help = "also show live memory by source line, function, allocating thread, scope, trace or "
             "span of distributed tracing, or lifetime; --top sets how many",
     .brief = "also show it by site, thread, scope, trace, span or lifetime"},
    OPTION_FILTER(timeline_options, question.filter),
    OPTION_COUNTED(timeline_options),
    OPTION_WRAPPERS(timeline_options),
    OPTIONS_FORM(timeline_options),
};

static int print(const timeline_options *opts, timeline_report *r) {
    document d = {0};
    timeline_document(&d, r);
    const int status = question_show(&opts->question, &d);
    document_free(&d);
    return status;
}

/* Returns the number of groups to show. */
static uint64_t top(const timeline_options *opts) {
    return opts->top == 0 && opts->by != N_GROUPS_BY ? GROUPS : opts->top;
}

/* Returns the number of time intervals. On a narrow terminal, as many are shown as fit next to a
 * row's text. */
static uint64_t points_wanted(const timeline_options *opts) {
    if (opts->points)
        return opts->points;
    if (opts->question.json || opts->question.csv)
        return DATA_POINTS;
    const bool blocks = opts->question.measure == MEASURE_BLOCKS;
    const unsigned beside =
        TIMELINE_BESIDE + (blocks ? TIMELINE_OF_BLOCKS : 0) + (top(opts) ? TIMELINE_OF_SITES : 0);
    const unsigned columns = terminal_columns(), least = beside + LEAST_POINTS;
    const unsigned room = (columns > least ? columns : least) - beside;
    return columns && room < TEXT_POINTS ? room : TEXT_POINTS;
}

static int show(const question *q, const void *opts_) {
    const timeline_options *opts = opts_;
    const timeline_spec spec = {.kept = selection_rows(&q->query.selection),
                                .from = opts->from,
                                .to = opts->to,
                                .measure = q->query.measure,
                                .points = points_wanted(opts)};
    timeline t;
    timeline_groups list = {0};
    const groups_by by = opts->by == N_GROUPS_BY ? GROUPS_BY_LINE : (groups_by)opts->by;
    gauge_list gauges = {0};
    trace_file_doing(&q->in, "computing the timeline");
    bool ok = timeline_query(&q->profile, &spec, &t) && gauges_find(&q->profile, &gauges);
    int status;
    ok = ok && (top(opts) == 0 ||
                timeline_of_groups(&q->query.lens, &spec, by, t.peak.at, top(opts), &list));
    if (ok)
        status = print(opts, &(timeline_report){.report = &q->report,
                                                .timeline = &t,
                                                .gauges = &gauges,
                                                .by = by,
                                                .groups = list.items,
                                                .n_groups = list.count});
    else
        status = message_no_memory();
    gauges_free(&gauges);
    timeline_groups_free(&list);
    timeline_free(&t);
    return status;
}

static int run(const void *opts_, char **operands) {
    const timeline_options *opts = opts_;
    if (opts->points > MAX_POINTS)
        return message_usage(&command_timeline, "--points must be at most %d", MAX_POINTS);
    if (opts->from >= opts->to)
        return message_usage(&command_timeline, "timeline: --from must be before --to");
    return question_answer(&command_timeline, &opts->question, operands[0], show, opts);
}

static const option_lack lacks[] = {
    {"at", "--from TIME and --to TIME"},
    {"min-share", "--top N"},
    {0},
};

const command command_timeline = {
    .name = "timeline",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACE,
    .usage = "FILE…",
    .summary = "show live memory over time",
    .description = "Shows live memory over time, in total and by heap, and how fast memory was "
                   "allocated, promoted and freed. Below that are the figures of the operating "
                   "system: rss is the process's memory in RAM, anonymous the part of it that "
                   "belongs to no file, heap all private writable memory.\n"
                   "\n"
                   "With --by, also shows live memory by site, thread, scope, trace or lifetime.\n"
                   "\n"
                   "In text output, each row is scaled to its own maximum.",
    .example = "allotrace timeline --top 5 out.ctf\n"
               "allotrace timeline --by thread out.ctf\n"
               "allotrace timeline --from 10s --to 12s --csv out.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = lacks,
    .run = run,
};
