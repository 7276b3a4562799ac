/* cmd_lifetimes.c: `allotrace lifetimes FILE`: shows how long blocks live. */
#include <unistd.h>

#include "cli/message.h"
#include "cli/question.h"
#include "reports/lifetimes.h"

typedef struct lifetimes_options {
    question_options question;
    uint64_t top, within, soon;
    int by;
    bool curve;
} lifetimes_options;

static const lifetimes_options defaults = {
    .top = 10,
    .within = 1000,
    .soon = 100000,
    .question = {.keep_rows = true, .births = true, .counts = true}};

static const option options[] = {
    {.name = "measure",
     .letter = 'm',
     OPTION_CHOOSES(lifetimes_options, question.measure, question_block_measures),
     .help = "what shares refer to: bytes allocated (default), blocks, bytes live at the end or at "
             "the peak, bytes promoted, bytes never freed, or bytes times lifetime in seconds",
     .brief = "what shares refer to: see `help measures`"},
    {.name = "within",
     OPTION_TAKES(TIME, lifetimes_options, within, "TIME"),
     .help = "show the share freed within TIME (default 1ms)"},
    {.name = "soon",
     OPTION_TAKES(TIME, lifetimes_options, soon, "TIME"),
     .help = "show the share of promoted blocks freed within TIME after promotion (default 100ms)",
     .brief = "the same for promoted blocks (default 100ms)"},
    {.name = "top",
     .letter = 'n',
     OPTION_TAKES(COUNT, lifetimes_options, top, "N"),
     .help = "show at most N sites (default 10; 0: all)"},
    OPTION_SITES(lifetimes_options),
    {.name = "curve",
     OPTION_SETS(FLAG, lifetimes_options, curve),
     .help = "with --csv, write the survival curve instead of the sites, one row per point",
     .brief = "with --csv, write the survival curve"},
    OPTION_FILTER(lifetimes_options, question.filter),
    OPTION_WRAPPERS(lifetimes_options),
    OPTIONS_FORM(lifetimes_options),
};

static int show(const question *q, const void *opts_) {
    const lifetimes_options *opts = opts_;
    lifetimes l;
    const lifetimes_spec spec = {.kept = selection_rows(&q->query.selection),
                                 .may = q->query.may,
                                 .measure = (measure)opts->question.measure,
                                 .by_function = opts->by == QUESTION_BY_FUNCTION,
                                 .within = opts->within,
                                 .soon = opts->soon};
    lifetimes_report r = {.report = &q->report,
                          .lifetimes = &l,
                          .spec = &spec,
                          .view = {.top = opts->top, .curve = opts->curve}};
    document d = {0};
    trace_file_doing(&q->in, "adding up lifetimes");
    if (!lifetimes_query(&q->query.lens, &spec, &l))
        return message_no_memory();
    lifetimes_document(&d, &r);
    const int status = question_show(&opts->question, &d);
    if (lifetimes_unsymbolized(&r))
        question_hint_symbolize(q);
    document_free(&d);
    lifetimes_free(&l);
    return status;
}

static int run(const void *opts_, char **operands) {
    const lifetimes_options *opts = opts_;
    if (opts->curve && !opts->question.csv)
        return message_usage(&command_lifetimes, "lifetimes: --curve requires --csv");
    return question_answer(&command_lifetimes, &opts->question, operands[0], show, opts);
}

static const option_lack lacks[] = {
    {"at", "--filter live:TIME"},
    {"min-share", "--top N"},
    {0},
};

const command command_lifetimes = {
    .name = "lifetimes",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACE,
    .usage = "FILE…",
    .summary = "show how long blocks live",
    .description =
        "Shows a histogram of lifetimes; the shares of blocks that die soon, in the minor heap, or "
        "soon after promotion; the survival curve; and the same shares for the largest sites.\n"
        "\n"
        "Shares refer to bytes allocated unless --measure selects otherwise; the 95% confidence "
        "interval is in parentheses. Blocks still live when the trace ends are treated as "
        "censored: they are assumed to die at the same rate as blocks that reached the same age.",
    .example = "allotrace lifetimes out.ctf\n"
               "allotrace lifetimes --within 10ms --filter fn:parse out.ctf\n"
               "allotrace lifetimes --csv --curve out.ctf >curve.csv\n",
    OPTIONS_OF(options, defaults),
    .lacks = lacks,
    .run = run,
};
