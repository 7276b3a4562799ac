/* cmd_diff.c: `allotrace diff BEFORE AFTER`: shows what changed between traces, and how certain
 * that is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/number.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/question.h"
#include "cli/rows.h"
#include "reports/diff.h"

typedef struct diff_command {
    question_options question;
    size_t before, after; /* OPTION_HEAD */
    uint64_t top;
    int by, normalise;
    const char *per;
} diff_command;

static const diff_command defaults = {.top = 20, .question = {.births = true}};

static const option options[] = {
    {.name = "before",
     OPTION_SETS(HEAD, diff_command, before),
     .help =
         "the traces that follow are from before the change; several runs show how much runs vary",
     .brief = "traces from before the change follow"},
    {.name = "after",
     OPTION_SETS(HEAD, diff_command, after),
     .help = "the traces that follow are from after the change",
     .brief = "traces from after the change follow"},
    OPTION_ROWS_BY(diff_command),
    {.name = "top",
     .letter = 'n',
     OPTION_TAKES(COUNT, diff_command, top, "N"),
     .help = "show at most N rows (default 20; 0: all)"},
    {.name = "per",
     OPTION_TAKES(TEXT, diff_command, per, "N[,N]"),
     .help = "divide amounts by N, such as the number of requests; N,M for different numbers "
             "before and after",
     .brief = "divide amounts by N, such as a number of requests"},
    {.name = "normalise",
     OPTION_CHOOSES(diff_command, normalise, diff_normalisations),
     .help = "compare shares of the total, or bytes per second, instead of bytes",
     .brief = "compare shares, or amounts per second"},
    OPTION_MARKDOWN(diff_command),
    OPTIONS_QUESTION(diff_command),
};

/* The runs of both sides; those from before the change come first. */
typedef struct runs {
    question *questions;
    const query_result **answers;
    char **paths;
    size_t n, n_before;
} runs;

/* ---- the command line ---------------------------------------------------------------------- */

static bool parse_per(const char *text, diff_options *o) {
    size_t size = number_read(text, &o->per_before);
    o->per_after = o->per_before;
    if (size && text[size] == ',') {
        text += size + 1;
        size = number_read(text, &o->per_after);
    }
    return size && !text[size] && isfinite(o->per_before) && isfinite(o->per_after) &&
           o->per_before > 0 && o->per_after > 0;
}

/* Assigns the operands to the sides, and puts those from before the change first. */
static int take_sides(const diff_command *opts, char **operands, size_t n, runs *r) {
    r->n = n;
    if (!opts->before && !opts->after) {
        for (size_t i = 0; i < n && i < 2; i++)
            r->paths[i] = operands[i];
        r->n_before = 1;
        return n == 2
                   ? STATUS_OK
                   : message_usage(&command_diff, "diff takes two traces, BEFORE and AFTER; for "
                                                  "several per side, use --before A… --after B…");
    }
    if (!opts->before || !opts->after)
        return message_usage(&command_diff, "diff: --before and --after must be used together");
    size_t b = opts->before - 1, a = opts->after - 1, first = b < a ? b : a;
    r->n_before = b < a ? a - b : n - b;
    if (first > 0)
        return message_usage(&command_diff, "diff: `%s` is neither before nor after", operands[0]);
    if (r->n_before == 0 || r->n_before == n)
        return message_usage(&command_diff, "diff: --%s needs a trace",
                             r->n_before ? "after" : "before");
    for (size_t i = 0; i < n; i++)
        r->paths[i] = operands[(b + i) % n];
    return STATUS_OK;
}

/* ---- reading and showing ------------------------------------------------------------------- */

static int read_runs(const diff_command *opts, runs *r) {
    for (size_t i = 0; i < r->n; i++) {
        int status = question_ask(&r->questions[i], &command_diff, &opts->question, r->paths[i]);
        if (status != STATUS_OK)
            return status;
        r->answers[i] = &r->questions[i].query;
    }
    return STATUS_OK;
}

/* Returns whether all runs are the same file, so that there can be no difference. */
static bool are_same_file(const runs *r, const diff_options *query) {
    struct stat first;
    bool same = stat(r->paths[0], &first) == 0 && S_ISREG(first.st_mode) &&
                query->per_before == query->per_after;
    for (size_t i = 1; same && i < r->n; i++)
        same = file_is_same(r->paths[0], r->paths[i]);
    return same;
}

/* Addresses match only if they are in the same build of a module. */
static void hint_addresses(const runs *r) {
    bool symbolized = true;
    for (size_t i = 0; i < r->n; i++)
        symbolized &= profile_is_symbolized(r->answers[i]->profile);
    message_hint("places shown as module+0x… match only in the same build of the module%s",
                 symbolized ? "" : "; to find their names: allotrace symbolize");
}

static int show(const diff_command *opts, const diff_options *query, const runs *r) {
    const query_result *const *after = r->answers + r->n_before;
    size_t n_after = r->n - r->n_before;
    diff d;
    document doc = {0};
    progress_say("comparing %zu traces", r->n);
    if (!diff_query(r->answers, r->n_before, after, n_after, query, &d))
        return message_no_memory();
    diff_report shown = {.diff = &d,
                         .before = r->answers,
                         .after = after,
                         .n_before = r->n_before,
                         .n_after = n_after,
                         .filter = opts->question.filter,
                         .top = opts->top,
                         .same_file = are_same_file(r, query)};
    diff_document(&doc, &shown);
    const int status = question_show(&opts->question, &doc);
    if (!shown.same_file && diff_unsymbolized(&shown))
        hint_addresses(r);
    if (!shown.same_file)
        question_hint_libraries_of(r->answers[0], &opts->question);
    document_free(&doc);
    diff_free(&d);
    return status;
}

/* Input from a pipe can be read only once. */
static bool reads_input_twice(const runs *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += strcmp(r->paths[i], "-") == 0;
    return n > 1;
}

static int diff_runs(const diff_command *opts, const diff_options *query, char **operands, size_t n,
                     runs *r) {
    int status = take_sides(opts, operands, n, r);
    if (status == STATUS_OK && reads_input_twice(r))
        status = message_usage(&command_diff, "diff: only one trace can be standard input, `-`");
    if (status == STATUS_OK)
        status = read_runs(opts, r);
    return status == STATUS_OK ? show(opts, query, r) : status;
}

/* Suggests similar names only if the filter matched nothing in any trace. Otherwise the name is not
 * a typing error. */
static void close_runs(runs *r) {
    size_t with_nothing = 0;
    for (size_t i = 0; r->questions && i < r->n; i++)
        with_nothing += question_has_nothing(&r->questions[i]);
    for (size_t i = 0; r->questions && i < r->n; i++)
        (i == 0 && with_nothing == r->n ? question_close
                                        : question_close_quietly)(&r->questions[i]);
}

static int run(const void *opts_, char **operands) {
    const diff_command *opts = opts_;
    diff_options query = {.by = (hotspots_by)opts->by,
                          .normalise = (diff_normalise)opts->normalise};
    if (opts->per && !parse_per(opts->per, &query))
        return message_usage(&command_diff, "--per: `%s` is not one or two numbers above 0",
                             opts->per);
    const size_t n = command_n_operands(operands);
    runs r = {.questions = calloc(n + 1, sizeof *r.questions),
              .answers = calloc(n + 1, sizeof *r.answers),
              .paths = calloc(n + 1, sizeof *r.paths)};
    int status = STATUS_FAILED;
    if (r.questions && r.answers && r.paths)
        status = diff_runs(opts, &query, operands, n, &r);
    else
        message_no_memory();
    close_runs(&r);
    free(r.questions);
    free(r.answers);
    free(r.paths);
    return status;
}

const command command_diff = {
    .name = "diff",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACES,
    .usage = "BEFORE AFTER",
    .summary = "show what changed between two traces",
    .description =
        "Compares what two programs, or two versions of one, allocated: in total, then by site. "
        "Significant changes come first; what may be due to chance is marked.\n"
        "\n"
        "A change is significant if its q-value is at most 5%: on average, at most one in twenty "
        "such changes is due to chance. Sites whose lines moved are matched by function.",
    .example = "allotrace diff before.ctf after.ctf\n"
               "allotrace diff --before a1.ctf a2.ctf a3.ctf --after b1.ctf b2.ctf b3.ctf\n"
               "allotrace diff --by function --per 10000 before.ctf after.ctf\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};
