/* cmd_advise.c: `allotrace advise FILE`: explains why the program allocates where it does, and what
 * to change. */

#include "cli/message.h"
#include "cli/origin.h"
#include "cli/question.h"
#include "reports/advise.h"

typedef struct advise_options {
    question_options question;
    uint64_t top;
    double min_share;
} advise_options;

static const advise_options defaults = {
    .question = {.births = true, .keep_rows = true, .counts = true}, .min_share = ADVISE_WORTH};

static const option options[] = {
    {.name = "min-share",
     OPTION_TAKES(PERCENT, advise_options, min_share, "P"),
     .help = "consider functions with at least P percent of the total (default 10; smaller gains "
             "are marked as not worth the work)",
     .brief = "least share of the total in percent (default 10)"},
    {.name = "top",
     .letter = 'n',
     OPTION_TAKES(COUNT, advise_options, top, "N"),
     .help = "show at most N pieces of advice (default 0: all)",
     .brief = "show at most N pieces of advice (default: all)"},
    OPTION_FILTER(advise_options, question.filter),
    {.name = "measure",
     .letter = 'm',
     OPTION_CHOOSES(advise_options, question.measure, question_block_measures),
     .help = "rank functions, and state shares and gains, by bytes allocated (default), blocks, "
             "bytes live at the end or at the peak, bytes promoted, bytes never freed, or bytes "
             "times lifetime in seconds",
     .brief = "what shares and gains refer to: see `help measures`"},
    OPTIONS_FORM(advise_options),
};

static int show(const question *q, const advise_options *opts, bool *addresses) {
    advice_list a;
    document d = {0};
    trace_file_doing(&q->in, "looking for advice");
    if (!advise_query(&q->query, opts->min_share, &a))
        return message_no_memory();
    const char *word = opts->question.last ? q->in.path : origin_source(q->in.path);
    advise_report r = {.report = &q->report,
                       .advise = &a,
                       .view = {.trace = origin_is_memory(word) ? "BEFORE.ctf" : word,
                                .min_share = opts->min_share,
                                .top = opts->top}};
    advise_document(&d, &r);
    const int status = question_show(&opts->question, &d);
    *addresses = advise_unsymbolized(&r);
    document_free(&d);
    advise_free(&a);
    return status;
}

static int run(const void *opts_, char **operands) {
    const advise_options *opts = opts_;
    question q;
    bool addresses = false;
    int status = question_ask(&q, &command_advise, &opts->question, operands[0]);
    if (status == STATUS_OK)
        status = show(&q, opts, &addresses);
    if (addresses)
        question_hint_symbolize(&q);
    question_close(&q);
    return status;
}

static const option_lack lacks[] = {
    {"at", "--filter live:TIME"},
    {"by", "allotrace hotspots --by line"},
    {0},
};

const command command_advise = {
    .name = "advise",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACE,
    .usage = "FILE…",
    .summary = "explain why the largest sites allocate, and what to change",
    .description =
        "For each function that allocates at least 10% of the total for one reason, shows what it "
        "allocates, why, what to change, the most that this can gain, how certain the advice is "
        "(definite, likely or guess), and which commands verify the change. Allocations in the "
        "language's library count for the function that called it.\n"
        "\n"
        "With a smaller --min-share, advice that gains less than 10% is also shown, and marked.",
    .example = "allotrace advise out.ctf\n"
               "allotrace advise --measure peak out.ctf\n"
               "allotrace advise --measure blocks out.ctf\n"
               "allotrace advise --filter 'alloc:10s..20s' --top 3 out.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = lacks,
    .run = run,
};
