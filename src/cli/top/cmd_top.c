/* cmd_top.c: `allotrace top FILE` or `allotrace top PID`: a live table in the terminal.
 *
 * top.h owns a thread that draws, and the trace that another thread reads. top_view.h decides what
 * is on the screen, top_screen.h controls the terminal, and top_output.h holds back what the
 * program writes to it meanwhile. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/attach_command.h"
#include "cli/color.h"
#include "cli/message.h"
#include "cli/question.h"
#include "cli/run/run_check.h"
#include "cli/top/top.h"

typedef struct top_command_options {
    int sort, color;
    const char *filter;
} top_command_options;

static const top_command_options defaults = {.sort = ACTIVITY_BY_LIVE};

static const char *const sorts[] = {
#define SORT_NAME(name, text) text,
    ACTIVITY_ORDERS(SORT_NAME)
#undef SORT_NAME
        NULL};

static const option options[] = {
    {.name = "sort",
     .letter = 's',
     OPTION_CHOOSES(top_command_options, sort, sorts),
     .help = "initial sort order (default: live)"},
    OPTION_FILTER(top_command_options, filter),
    {.name = "color",
     OPTION_CHOOSES(top_command_options, color, question_colors),
     .help = "colour the table (default: unless NO_COLOR is set)"},
};

static int refuse(char **operands) {
    char path[PATH_MAX];
    if (run_check_find(operands[0], path))
        return message_usage(&command_top,
                             "top shows a trace or a process; to record a program and watch it: "
                             "allotrace run --live -- %s%s",
                             operands[0], operands[1] ? " …" : "");
    return message_usage(&command_top, "top takes only one trace or process; unexpected `%s`",
                         operands[1]);
}

static int run(const void *opts_, char **operands) {
    const top_command_options *opts = opts_;
    const top_options how = {
        .order = opts->sort, .filter = opts->filter, .color = color_wanted(opts->color)};
    filter *f;
    pid_t pid;
    const bool is_file = access(operands[0], F_OK) == 0;
    char path[PATH_MAX];
    if (operands[1] || (!is_file && !strchr(operands[0], '/') && run_check_find(operands[0], path)))
        return refuse(operands);
    int status = question_parse_filter(&command_top, opts->filter, &f);
    filter_free(f);
    if (status != STATUS_OK)
        return status;
    if (!isatty(STDOUT_FILENO))
        return message_error("top needs a terminal, but standard output is not one; use `allotrace "
                             "hotspots` for a plain table");
    status = top_check("top");
    if (status != STATUS_OK)
        return status;
    if (!is_file && attach_parse_pid(operands[0], &pid))
        return attach_live(pid, &how);
    return top_show(operands[0], &how);
}

const command command_top = {
    .name = "top",
    .group = GROUP_LOOK,
    .operand = OPERAND_RECORDING,
    .usage = "FILE|PID",
    .summary = "watch a program allocate, live in the terminal",
    .description =
        "Shows a table of the sites that allocate while a program runs: their live memory, total "
        "allocations, allocation rate, and growth in the last ten seconds. FILE is a finished "
        "trace, or one that is still being written.\n"
        "\n"
        "Given a process id, top attaches to the process as `allotrace attach` does, and detaches "
        "when you quit; the trace is kept. If the process is already being recorded, top shows "
        "that recording. To start a program and watch it: `allotrace run --live -- PROGRAM`.\n"
        "\n"
        "Keys: l, a, r and g sort by live, allocated, rate and growth; the arrow keys select a "
        "site, Enter shows its callers, / filters, h shows help, q quits.",
    .example = "allotrace top server.4711.ctf\n"
               "allotrace top --sort growth 4711\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};
