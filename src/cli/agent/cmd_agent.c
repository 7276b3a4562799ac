/* cmd_agent.c: `allotrace agent SETTINGS`: records the processes of this machine that match the
 * settings, for as long as it runs.
 *
 * Problem. The services of a fleet come, go and are restarted. Somebody has to attach to each one,
 * limit the size of its recording, push it, and end it cleanly, without endangering the service.
 *
 * Approach. A single-threaded loop scans /proc periodically (agent_find.h), and runs an `attach`
 * process for each match (agent_targets.h), which keeps a ring and pushes it. Messages of `attach`
 * are repeated with the process's name. Requests for the status are answered between scans
 * (agent_status.h).
 *
 * Alternatives. One process that records everything would need the rights of all users at once, and
 * one damaged trace could end the recordings of others. A library that does what `attach` does
 * would duplicate it.
 *
 * Invariants. When the agent ends, however that happens, all recordings end cleanly and on their
 * own. The agent never has more rights than it needs (agent_rights.h). */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/agent/agent_config.h"
#include "cli/agent/agent_rights.h"
#include "cli/agent/agent_status.h"
#include "cli/agent/agent_targets.h"
#include "cli/message.h"
#include "cli/question.h"
#include "cli/signals.h"
#include "document/document.h"
#include "platform/clock.h"
#include "serve/plain_server.h"

enum { PATIENCE_MS = 60000 }; /* for recordings to end: the last push takes up to ten seconds */

typedef struct agent_options {
    bool list;
    question_options question; /* only its output format is used */
} agent_options;

static const agent_options agent_defaults = {0};

static const option agent_specs[] = {
    {.name = "list",
     OPTION_SETS(FLAG, agent_options, list),
     .help = "only check SETTINGS, and list the running processes that its rules match"},
    OPTIONS_DATA(agent_options),
};

typedef struct agent {
    agent_config config;
    targets targets;
    plain_server *server; /* NULL: there is no status server */
    int signals;
    bool ends;
} agent;

/* ---- waiting ----------------------------------------------------------------------------- */

static void take_signals(agent *a) {
    struct signalfd_siginfo info;
    while (read(a->signals, &info, sizeof info) == sizeof info)
        a->ends |= info.ssi_signo != SIGCHLD;
}

static bool gather(const agent *a, pollfds *polled) {
    int fds[LISTEN_SOCKETS];
    const int n = a->server ? plain_server_fds(a->server, fds) : 0;
    bool ok = vec_push(polled, ((struct pollfd){.fd = a->signals, .events = POLLIN}));
    for (int i = 0; ok && i < n; i++)
        ok = vec_push(polled, ((struct pollfd){.fd = fds[i], .events = POLLIN}));
    return ok && targets_poll(&a->targets, polled);
}

/* Handles events until `end` (monotonic, ms) or until `enough` returns true. Returns false if there
 * is no memory. */
static bool work_until(agent *a, uint64_t end, bool (*enough)(const agent *)) {
    enum { SERVER_MS = 1000 }; /* connections have time limits, too */
    pollfds polled = {0};
    bool ok = true;
    for (uint64_t now; ok && !enough(a) && (now = clock_monotonic_ms()) < end;) {
        vec_clear(&polled);
        const uint64_t wait = end - now < SERVER_MS ? end - now : SERVER_MS;
        if (!(ok = gather(a, &polled)))
            break;
        poll(polled.items, polled.count, (int)wait);
        take_signals(a);
        targets_hear(&a->targets);
        targets_reap(&a->targets);
        if (a->server)
            plain_server_run(a->server);
    }
    vec_free(&polled);
    return ok;
}

static bool is_asked_to_end(const agent *a) {
    return a->ends;
}

static bool is_done(const agent *a) {
    return targets_n_active(&a->targets) == 0;
}

/* ---- --list ------------------------------------------------------------------------------ */

static const found_process *found_at(const void *row) {
    return row;
}

TABLE_CELL(process_rule, (cell){.text = found_at(row)->rule->name})
TABLE_CELL(process_pid, (cell){.count = (uint64_t)found_at(row)->pid})
TABLE_CELL(process_program, (cell){.text = found_at(row)->program})

static const table_column process_columns[] = {
    {.name = "rule",
     .kind = COLUMN_TEXT,
     .get = process_rule,
     .help = "the name of the first rule that matches"},
    {.name = "pid",
     .kind = COLUMN_COUNT,
     .is_id = true,
     .get = process_pid,
     .help = "of the process"},
    {.name = "program",
     .kind = COLUMN_TEXT,
     .get = process_program,
     .help = "by what the process is called"},
};

static int list(const agent_config *c, const question_options *form) {
    found_processes found = {0};
    document d = {0};
    if (!agent_find(c, &found))
        return message_no_memory();
    const table processes = {.name = "processes",
                             TABLE_COLUMNS(process_columns),
                             .rows = found.items,
                             .stride = sizeof *found.items,
                             .n = found.count};
    document_rows(&d, &processes, IN_ALL, NULL);
    const int status = question_show(form, &d);
    if (found.count == 0)
        message_note("no running process matches");
    document_free(&d);
    vec_free(&found);
    return status;
}

/* ---- the command ------------------------------------------------------------------------- */

/* Makes the agent's folder. Nobody else may be able to write to it, as they could redirect root by
 * a link. */
static int make_folder(const char *folder) {
    struct stat about;
    if (mkdir(folder, 0755) != 0 && errno != EEXIST)
        return message_error("%s: %s", folder, strerror(errno));
    if (lstat(folder, &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != geteuid() ||
        about.st_mode & (S_IWGRP | S_IWOTH))
        return message_error(
            "%s: must be a folder that belongs to the agent's user, and that nobody else "
            "can write to",
            folder);
    return STATUS_OK;
}

static bool take_over_signals(agent *a) {
    sigset_t wanted = signals_of_end();
    sigaddset(&wanted, SIGCHLD);
    sigprocmask(SIG_BLOCK, &wanted, NULL);
    signal(SIGPIPE, SIG_IGN);
    a->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    return a->signals >= 0;
}

static int begin(agent *a) {
    char why[512];
    const int status = make_folder(a->config.folder);
    if (status != STATUS_OK)
        return status;
    if (!take_over_signals(a))
        return message_error("signals cannot be waited for: %s", strerror(errno));
    if (a->config.status && !(a->server = plain_server_start(a->config.status, agent_status_answer,
                                                             &a->targets, why, sizeof why)))
        return message_error("status: %s", why);
    const int error = agent_rights_reduce(a->config.sys_admin);
    if (error)
        return message_error("cannot give up rights: %s", strerror(error));
    message_note("watching for processes that match %zu %s, recording into %s/%s%s",
                 a->config.rules.count, a->config.rules.count == 1 ? "rule" : "rules",
                 a->config.folder, a->config.status ? "; status at " : "",
                 a->config.status ? a->config.status : "");
    return STATUS_OK;
}

static int watch(agent *a) {
    bool ok = true;
    while (ok && !a->ends) {
        const uint64_t next = clock_monotonic_ms() + a->config.scan_us / 1000;
        ok = targets_scan(&a->targets) && work_until(a, next, is_asked_to_end);
    }
    const size_t n = targets_n_active(&a->targets);
    if (n > 0)
        message_note("ending %zu recording%s", n, n == 1 ? "" : "s");
    targets_end(&a->targets);
    ok &= work_until(a, clock_monotonic_ms() + PATIENCE_MS, is_done);
    if (!is_done(a))
        message_warning("%zu recordings have not ended after a minute; they end by themselves",
                        targets_n_active(&a->targets));
    return ok ? STATUS_OK : message_no_memory();
}

static int run_agent(const void *opts_, char **operands) {
    const agent_options *opts = opts_;
    const question_options *form = &opts->question;
    static agent a;
    if (!opts->list && (form->json || form->csv || form->fields))
        return message_usage(&command_agent, "--json, --csv and --fields require --list");
    int status = question_check_form(&command_agent, form);
    if (status == STATUS_OK)
        status = agent_config_read(&a.config, operands[0]);
    if (status == STATUS_OK && opts->list) {
        status = list(&a.config, form);
    } else if (status == STATUS_OK) {
        a.targets.config = &a.config;
        status = begin(&a);
        if (status == STATUS_OK)
            status = watch(&a);
        plain_server_stop(a.server);
        targets_free(&a.targets);
    }
    agent_config_free(&a.config);
    return status;
}

const command command_agent = {
    .name = "agent",
    .group = GROUP_RECORD,
    .minor = true,
    .operand = OPERAND_SETTINGS,
    .usage = "SETTINGS",
    .summary = "record the services of this machine",
    .description =
        "Attaches to running processes that match the rules in SETTINGS, and to new ones as they "
        "start. Each is recorded into a ring of bounded size, and can be pushed to a server of "
        "profiles. allotrace-agent(1) describes SETTINGS.\n"
        "\n"
        "On SIGTERM or Ctrl-C, all recordings end cleanly; they also do if the agent is killed. "
        "If a process cannot be recorded, the agent says why, and tries again later.\n"
        "\n"
        "Started as root, the agent records processes of all users, each with the rights of its "
        "user; otherwise only its own user's.",
    .example = "allotrace agent --list agent.toml\n"
               "allotrace agent /etc/allotrace/agent.toml\n",
    OPTIONS_OF(agent_specs, agent_defaults),
    .run = run_agent,
};
