/* cmd_view.c: `allotrace view FILE…`: shows traces in a browser.
 *
 * The viewer answers requests as soon as there is a first picture. view_session owns the traces and
 * the server. view_trace reads a large trace in two passes at the same time, one without blocks for
 * the first picture and one with blocks for later queries, and continues to read a trace that
 * grows. profile_names resolves addresses of a program that is still running. src/serve takes
 * requests to src/answers. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/signals.h"
#include "cli/view/view_session.h"

typedef struct view_options {
    const char *host, *sources;
    uint64_t port;
    bool no_open, strict;
} view_options;

static const view_options defaults = {0};

static const option options[] = {
    {.name = "port",
     .letter = 'p',
     OPTION_TAKES(COUNT, view_options, port, "PORT"),
     .help = "serve on port PORT (default: the first free one from 8080)"},
    {.name = "host",
     OPTION_TAKES(TEXT, view_options, host, "ADDRESS"),
     .help = "serve on this address or name instead of the loopback interface; traffic, including "
             "the token, is not encrypted"},
    {.name = "no-open", OPTION_SETS(FLAG, view_options, no_open), .help = "do not open a browser"},
    {.name = "sources",
     OPTION_TAKES(FILE, view_options, sources, "FOLDER"),
     .help = "look for source files with relative names in FOLDER (default: the current folder)"},
    OPTION_STRICT(view_options, strict),
};

static int show(char **paths, const view_options *o) {
    int status;
    const view_session_options how = {.host = o->host,
                                      .sources = o->sources,
                                      .port = (uint16_t)o->port,
                                      .no_open = o->no_open,
                                      .strict = o->strict};
    view_session *s = view_session_start(paths, command_n_operands(paths), &how, &status);
    if (!s)
        return status;
    printf("%s\n", view_session_address(s));
    fflush(stdout);
    if (isatty(STDERR_FILENO))
        message_hint("press Ctrl-C to stop the viewer");
    view_session_wait();
    return view_session_stop(s);
}

static int run(const void *opts_, char **operands) {
    const view_options *o = opts_;
    if (o->port > UINT16_MAX)
        return message_usage(&command_view, "--port must be from 1 to %d", UINT16_MAX);
    const sigset_t ends = signals_of_end(); /* blocked here, so that no other thread handles them */
    sigprocmask(SIG_BLOCK, &ends, NULL);
    int status = show(operands, o);
    sigprocmask(SIG_UNBLOCK, &ends, NULL);
    return status;
}

static const option_lack lacks[] = {
    {"filter", "the filter line of the page"},
    {"measure", "the choice of measures in the page"},
    {"top", "allotrace hotspots --top N"},
    {"json", "the API in docs/viewer-api.md, or allotrace hotspots --json"},
    {"csv", "allotrace hotspots --csv"},
    {0},
};

const command command_view = {
    .name = "view",
    .alias = "memtrace-viewer",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACES,
    .usage = "FILE…",
    .summary = "show traces in a browser",
    .description =
        "Serves a web page on this machine with flame graphs, timelines, tables and "
        "filters. Prints its address, opens a browser if there is a display, and runs "
        "until Ctrl-C. With several traces, the page compares them; to open another one, "
        "drop its file on the page.\n"
        "\n"
        "The page can be opened only on this machine, and only with the address, which "
        "contains a secret token.",
    .example = "allotrace view out.ctf\n"
               "allotrace view --no-open --port 9000 before.ctf after.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = lacks,
    .run = run,
};
