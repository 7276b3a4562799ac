/* cmd_leaks.c: `allotrace leaks FILE`: shows what stays in memory, and whether it grows. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "cli/message.h"
#include "cli/origin.h"
#include "cli/question.h"
#include "languages/language.h"
#include "query/leaks.h"
#include "query/libraries.h"
#include "reports/leaks.h"

enum { LONGEST_WORD = 60 };

typedef struct leaks_options {
    question_options question;
    uint64_t top;
    double warm_up; /* percent */
    int by;
} leaks_options;

static const leaks_options defaults = {
    .top = 20, .warm_up = 25, .question = {.keep_rows = true, .finds_peak = true, .counts = true}};

static const option options[] = {
    {.name = "top",
     .letter = 'n',
     OPTION_TAKES(COUNT, leaks_options, top, "N"),
     .help = "show at most N sites (default 20; 0: all)"},
    {.name = "warm-up",
     OPTION_TAKES(PERCENT, leaks_options, warm_up, "P"),
     .help = "treat the first P percent of the recording as startup (default 25)"},
    OPTION_SITES(leaks_options),
    OPTION_FILTER(leaks_options, question.filter),
    OPTION_COUNTED(leaks_options),
    OPTION_WRAPPERS(leaks_options),
    OPTIONS_FORM(leaks_options),
};

/* Returns whether a name needs no quoting in a command. */
static bool is_word(const char *name) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:";
    return *name && strlen(name) <= LONGEST_WORD && name[strspn(name, letters)] == '\0';
}

/* Says that a line of this language may not be the culprit. */
static void hint_language(const leaks *l) {
    const leaks_site *s = l->sites.items;
    if (l->sites.count == 0 || s->class != LEAKS_GROWING || !s->place)
        return;
    for (size_t i = 0; i < N_LANGUAGES; i++)
        if (languages[i]->growth_hint && text_ends_with(s->place->file, languages[i]->source))
            message_hint("%s", languages[i]->growth_hint);
}

/* Prints a command for the callers of the first site, which is the one that grows most
 * certainly. */
static void hint_callers(const question *q, const leaks *l) {
    const leaks_site *s = l->sites.items;
    char live[40] = "survived";
    if (l->sites.count == 0 || s->class != LEAKS_GROWING || !s->place || q->report.filter)
        return;
    if (l->cleaned_up) /* blocks that were live before that were freed at the end */
        snprintf(live, sizeof live, "live:%" PRIu64 "us", l->to);
    if (s->place->line > 0)
        message_hint("callers of the first site: allotrace callers --filter %s '%s:%u' %s", live,
                     path_base(s->place->file), s->place->line, origin_report_words(q->in.path));
    else if (is_word(s->place->function))
        message_hint("callers of the first site: allotrace callers --filter %s '%s' %s", live,
                     s->place->function, origin_report_words(q->in.path));
}

/* Libraries are checked for the first site only, since the sites that leak need not be those that
 * allocate most. */
static void hint_libraries(const question *q, const leaks *l) {
    const leaks_site *s = l->sites.items;
    if (l->sites.count > 0 && s->cost.blocks > 0 && s->place && !q->report.filter &&
        libraries_have(s->place))
        message_hint("the first site is in a library; --filter " LIBRARIES_HIDDEN
                     " shows the code that calls it");
}

static int show(const question *q, const void *opts_) {
    const leaks_options *opts = opts_;
    leaks l;
    document d = {0};
    const bool by_function = opts->by == QUESTION_BY_FUNCTION;
    const leaks_spec spec = {.kept = selection_rows(&q->query.selection),
                             .may = q->query.may,
                             .by_function = by_function,
                             .measure = q->query.measure,
                             .warm_up = opts->warm_up / 100};
    leaks_report shown = {
        .report = &q->report, .leaks = &l, .view = {.top = opts->top, .by_function = by_function}};
    trace_file_doing(&q->in, "looking for growth");
    if (!leaks_query(&q->query.lens, &spec, &l))
        return message_no_memory();
    leaks_document(&d, &shown);
    const int status = question_show(&opts->question, &d);
    if (leaks_unsymbolized(&shown))
        question_hint_symbolize(q);
    else if (status == STATUS_OK && question_is_text(&opts->question))
        hint_callers(q, &l);
    if (question_is_text(&opts->question)) {
        hint_language(&l);
        question_hint_growth(q);
        hint_libraries(q, &l);
    }
    document_free(&d);
    leaks_free(&l);
    return status;
}

static int run(const void *opts_, char **operands) {
    const leaks_options *opts = opts_;
    return question_answer(&command_leaks, &opts->question, operands[0], show, opts);
}

static const option_lack lacks[] = {
    {"at", "allotrace hotspots --measure live --at TIME"},
    {"min-share", "--top N"},
    {0},
};

const command command_leaks = {
    .name = "leaks",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACE,
    .usage = "FILE…",
    .summary = "show what stays in memory, and whether it grows",
    .description =
        "Shows the sites whose blocks are still live at the end, most certain growth first, how "
        "fast each grows, and how its memory behaves: growing, bounded, allocated at startup, or "
        "freed only when the program cleaned up. A site is called growing only if blocks from many "
        "different times remain; on average, at most 5% of the sites called growing do not grow.\n"
        "\n"
        "Amounts are estimates; ± and the range after a slope are 95% confidence intervals. A "
        "block that remains is not necessarily leaked: only you know whether the program still "
        "needs it.",
    .example = "allotrace leaks out.ctf\n"
               "allotrace leaks --warm-up 50 --filter heap:major out.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = lacks,
    .run = run,
};
