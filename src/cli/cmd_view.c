/* cmd_view.c: `allotrace view FILE…`: shows traces in a browser. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/view_browser.h"
#include "cli/view_trace.h"
#include "present/http/server.h"

typedef struct view_options {
    const char *host, *sources;
    uint64_t port;
    bool no_open, strict;
} view_options;

static const view_options defaults = {0};

static const option options[] = {
    {.name = "port",
     .letter = 'p',
     .kind = OPTION_COUNT,
     .at = offsetof(view_options, port),
     .argument = "N",
     .help = "serve at this port (default: the first free one from 8080 on)"},
    {.name = "host",
     .kind = OPTION_TEXT,
     .at = offsetof(view_options, host),
     .argument = "ADDRESS",
     .help = "serve at this address or name instead of the loopback interface; what is sent is not "
             "encrypted, the token included"},
    {.name = "no-open",
     .kind = OPTION_FLAG,
     .at = offsetof(view_options, no_open),
     .help = "do not open a browser"},
    {.name = "sources",
     .kind = OPTION_FILE,
     .at = offsetof(view_options, sources),
     .argument = "FOLDER",
     .help = "look for source files with relative names in FOLDER (default: the current one)"},
    OPTION_STRICT(view_options),
};

/* ---- serving ----------------------------------------------------------------------------- */

static void end_signals(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

static void serve(server *s) {
    sigset_t ends;
    end_signals(&ends);
    while (sigtimedwait(&ends, NULL, &(struct timespec){.tv_sec = 1}) < 0)
        server_tick(s);
}

static int show(viewer *v, const view_options *o, view_trace *traces) {
    char why[200];
    const server_options where = {.host = o->host, .port = (uint16_t)o->port};
    server *s = server_start(v, &where, why, sizeof why);
    if (!s) {
        message_error("%s", why);
        return STATUS_FAILED;
    }
    printf("%s\n", server_address(s));
    fflush(stdout);
    if (!o->no_open)
        view_browser_open(server_address(s));
    if (isatty(STDERR_FILENO))
        message_hint("Ctrl-C ends the viewer");
    for (size_t i = 0; i < v->n_traces; i++)
        view_trace_start(&traces[i]);
    serve(s);
    for (size_t i = 0; i < v->n_traces; i++)
        view_trace_stop(&traces[i]);
    server_stop(s);
    return STATUS_OK;
}

static int view(viewer *v, const view_options *o) {
    int status = STATUS_OK;
    view_trace *traces = calloc(v->n_traces + 1, sizeof *traces);
    if (!traces) {
        message_error("not enough memory");
        return STATUS_FAILED;
    }
    for (size_t i = 0; status == STATUS_OK && i < v->n_traces; i++) {
        status = view_trace_open(&traces[i], v, i, o->strict, false);
        v->live |= traces[i].growing;
    }
    if (status == STATUS_OK)
        status = show(v, o, traces);
    for (size_t i = 0; i < v->n_traces; i++)
        view_trace_stop(&traces[i]);
    free(traces);
    return status;
}

static int run(const void *opts_, char **operands, size_t n_operands) {
    const view_options *o = opts_;
    viewer v;
    sigset_t ends;
    if (o->port > UINT16_MAX)
        return message_usage(&command_view, "--port: ports go from 1 to %d", UINT16_MAX);
    if (!viewer_init(&v, operands, n_operands)) {
        message_error("not enough memory");
        return STATUS_FAILED;
    }
    v.version = ALLOTRACE_VERSION;
    v.sources = o->sources ? o->sources : ".";
    end_signals(&ends); /* all threads leave them to us */
    sigprocmask(SIG_BLOCK, &ends, NULL);
    int status = view(&v, o);
    viewer_free(&v);
    sigprocmask(SIG_UNBLOCK, &ends, NULL);
    return status;
}

const command command_view = {
    .name = "view",
    .alias = "memtrace-viewer",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACES,
    .usage = "FILE…",
    .summary = "show traces in a browser",
    .description =
        "Serves a page on this machine that shows the traces: flame graphs, timelines, tables, "
        "filters. Prints its address, opens a browser where there is a display, and ends at "
        "Ctrl-C. With several traces the page compares them.\n\n"
        "Only this machine and only who knows the address, which has a secret in it, can see the "
        "page.",
    .example = "allotrace view out.ctf\n"
               "allotrace view --no-open --port 9000 before.ctf after.ctf\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};
