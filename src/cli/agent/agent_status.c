/* agent_status.c: formats the state of the targets. A profile is made by `export` in a child
 * process, with the rights of the user who owns the recording. The agent waits for it, at most
 * EXPORT_MS. */
#include "cli/agent/agent_status.h"

#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/process.h"
#include "base/number.h"
#include "base/rights.h"
#include "cli/agent/agent_rights.h"
#include "cli/command.h"
#include "platform/clock.h"

enum { HTTP_OK = 200, HTTP_BAD = 400, HTTP_NOT_FOUND = 404, HTTP_TROUBLE = 503 };
enum { EXPORT_MS = 10000, EXPORT_MAX = 64 << 20, SECONDS_MAX = 3600 };

static double seconds_since(uint64_t us) {
    return (double)(clock_monotonic_us() - us) / 1e6;
}

/* Takes ownership of `o`. Returns false if there is no memory. */
static bool put_json(output *body, json_t *o, size_t flags) {
    char *text = o ? json_dumps(o, flags) : NULL;
    const bool ok = text;
    output_text(body, ok ? text : "");
    output_char(body, '\n');
    free(text);
    json_decref(o);
    return ok;
}

static int refuse(output *body, int status, const char *why) {
    put_json(body, json_pack("{s:s}", "error", why), JSON_COMPACT);
    return status;
}

/* ---- the status -------------------------------------------------------------------------- */

static json_t *process_json(const target_process *p) {
    return json_pack(
        "{s:s, s:i, s:s, s:I, s:s, s:f, s:s, s:i, s:s*}", "rule", p->process.rule->name, "pid",
        (int)p->process.pid, "program", p->process.program, "uid", (json_int_t)p->process.uid,
        "state", target_state_names[p->state], "seconds", seconds_since(p->since), "folder",
        p->folder, "failures", (int)p->n_failures, "problem", *p->problem ? p->problem : NULL);
}

static int answer_status(const targets *t, output *body) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < t->items.count; i++)
        json_array_append_new(list, process_json(&t->items.items[i]));
    json_t *o =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o}", "version", ALLOTRACE_VERSION, "settings",
                  t->config->path, "recordings_started", (json_int_t)t->n_started,
                  "recordings_ended", (json_int_t)t->n_ended, "failures", (json_int_t)t->n_failed,
                  "processes_left_out", (json_int_t)t->n_left_out, "processes", list);
    return put_json(body, o, JSON_INDENT(1)) ? HTTP_OK : HTTP_TROUBLE;
}

/* ---- metrics ----------------------------------------------------------------------------- */

/* Writes the value of a label, with backslashes, quotation marks and newlines escaped. */
static void put_label(output *o, const char *value) {
    for (; *value; value++) {
        if (strchr("\\\"", *value))
            output_char(o, '\\');
        if (*value == '\n')
            output_text(o, "\\n");
        else
            output_char(o, *value);
    }
}

static void put_metric(output *o, const char *name, const char *kind, const char *help) {
    output_format(o, "# HELP allotrace_agent_%s %s\n# TYPE allotrace_agent_%s %s\n", name, help,
                  name, kind);
}

static void put_total(output *o, const char *name, const char *kind, const char *help,
                      uint64_t value) {
    put_metric(o, name, kind, help);
    output_format(o, "allotrace_agent_%s %" PRIu64 "\n", name, value);
}

static uint64_t count(const targets *t, const agent_rule *rule, target_state state) {
    uint64_t n = 0;
    for (size_t i = 0; i < t->items.count; i++)
        n += t->items.items[i].process.rule == rule && t->items.items[i].state == state;
    return n;
}

static int answer_metrics(const targets *t, output *o, const char **type) {
    *type = "text/plain; version=0.0.4; charset=utf-8";
    put_metric(o, "processes", "gauge", "Processes that a rule fits, by what becomes of them.");
    for (size_t i = 0; i < t->config->rules.count; i++)
        for (int state = 0; state < N_TARGET_STATES; state++) {
            const agent_rule *rule = &t->config->rules.items[i];
            output_text(o, "allotrace_agent_processes{rule=\"");
            put_label(o, rule->name);
            output_format(o, "\",state=\"%s\"} %" PRIu64 "\n", target_state_names[state],
                          count(t, rule, (target_state)state));
        }
    put_total(o, "processes_left_out", "gauge", "Processes beyond max-processes.", t->n_left_out);
    put_total(o, "recordings_started_total", "counter", "Recordings that were begun.",
              t->n_started);
    put_total(o, "recordings_ended_total", "counter", "Recordings that have ended.", t->n_ended);
    put_total(o, "failures_total", "counter", "Attempts to record that failed.", t->n_failed);
    return HTTP_OK;
}

/* ---- profiles ---------------------------------------------------------------------------- */

static const target_process *recorded(const targets *t, const char *pid, const char **why) {
    const target_process *found = NULL;
    for (size_t i = 0; i < t->items.count; i++) {
        const target_process *p = &t->items.items[i];
        char text[16];
        snprintf(text, sizeof text, "%d", (int)p->process.pid);
        if (p->state != TARGET_RECORDING || (pid && strcmp(pid, text) != 0))
            continue;
        if (found)
            *why = "several processes are recorded: add pid=PID";
        found = p;
    }
    if (!found)
        *why = pid ? "this process is not recorded" : "no process is recorded";
    return *why ? NULL : found;
}

/* Finds the segments of the process's current recording. Segments are named
 * TIME-PROGRAM.PID-NUMBER.ctf (ring_folder.h). The folder also contains those of other processes
 * and of earlier ones with this pid, so only names with the same beginning as the latest one
 * count. */
static bool find_segments(const target_process *p, glob_t *found, size_t *first) {
    char pattern[PATH_MAX + 64];
    snprintf(pattern, sizeof pattern, "%s/*.%d-*.ctf", p->folder,
             (int)process_inner_id(p->process.pid));
    if (glob(pattern, 0, NULL, found) != 0 || found->gl_pathc == 0)
        return false;
    const char *latest = found->gl_pathv[found->gl_pathc - 1];
    const size_t same = (size_t)(strrchr(latest, '-') - latest);
    *first = found->gl_pathc - 1;
    while (*first > 0 && strncmp(found->gl_pathv[*first - 1], latest, same) == 0)
        --*first;
    return true;
}

/* Runs in the child process: executes `export`. */
static _Noreturn void export(const target_process *p, const rights *whose, const char *last,
                             bool live, int out) {
    VEC(const char *) words = {0};
    const int null = open("/dev/null", O_RDWR);
    const char *const fixed[] = {"allotrace", "export", "--to", "pprof", "--last", last};
    /* Blocks that were live at the start of the window were not allocated in it. */
    const char *const of_live[] = {"--measure", "live"}, *const of_births[] = {"--filter",
                                                                               "alloc:1us.."};
    glob_t found = {0};
    size_t at = 0;
    bool ok = null >= 0 && dup2(null, 0) >= 0 && dup2(out, 1) >= 0 && dup2(null, 2) >= 0 &&
              agent_rights_become(whose, false) == 0 && find_segments(p, &found, &at);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* setting another user id has cleared it */
    for (size_t i = 0; ok && i < sizeof fixed / sizeof *fixed; i++)
        ok = vec_push(&words, fixed[i]);
    for (size_t i = 0; ok && i < 2; i++)
        ok = vec_push(&words, live ? of_live[i] : of_births[i]);
    for (; ok && at < found.gl_pathc; at++)
        ok = vec_push(&words, found.gl_pathv[at]);
    if (ok && vec_push(&words, NULL))
        execv("/proc/self/exe", (char *const *)words.items);
    _exit(STATUS_FAILED);
}

/* Reads everything, unless that takes longer than EXPORT_MS: meanwhile the agent does nothing else.
 */
static bool take(int in, output *body) {
    static char text[65536];
    struct pollfd ready = {.fd = in, .events = POLLIN};
    ssize_t n;
    const uint64_t end = clock_monotonic_ms() + EXPORT_MS;
    for (uint64_t now;
         (now = clock_monotonic_ms()) < end && poll(&ready, 1, (int)(end - now)) > 0;) {
        if ((n = read(in, text, sizeof text)) == 0)
            return true;
        if (n < 0 || body->used + (size_t)n > EXPORT_MAX)
            break;
        output_bytes(body, text, (size_t)n);
    }
    return false;
}

static int answer_profile(const targets *t, const plain_request *r, bool live, output *body,
                          const char **type) {
    const char *seconds = plain_request_value(r, "seconds"), *why = NULL;
    uint64_t n = SECONDS_MAX;
    char last[32];
    int ends[2], status = 0;
    rights whose;
    if (seconds && (number_parse_whole(seconds, &n) != NUMBER_WHOLE || n == 0 || n > SECONDS_MAX))
        return refuse(body, HTTP_BAD, "seconds must be a whole number from 1 to 3600");
    const target_process *p = recorded(t, plain_request_value(r, "pid"), &why);
    if (!p)
        return refuse(body, HTTP_NOT_FOUND, why);
    snprintf(last, sizeof last, "%" PRIu64 "s", live ? 1 : n);
    if (!rights_of_thread(p->process.pid, p->process.pid, &whose) || pipe2(ends, O_CLOEXEC) != 0)
        return refuse(body, HTTP_TROUBLE, "the process has ended");
    const pid_t child = fork();
    if (child == 0)
        export(p, &whose, last, live, ends[1]);
    close(ends[1]);
    const bool all = child > 0 && take(ends[0], body);
    close(ends[0]);
    if (child > 0) {
        if (!all)
            kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    if (all && WIFEXITED(status) && WEXITSTATUS(status) == STATUS_OK) {
        *type = "application/octet-stream";
        return HTTP_OK;
    }
    body->used = 0;
    return refuse(body, HTTP_TROUBLE, "the profile cannot be made");
}

/* ---- all --------------------------------------------------------------------------------- */

int agent_status_answer(void *context, const plain_request *r, output *body, const char **type) {
    const targets *t = context;
    if (strcmp(r->path, "/status") == 0)
        return answer_status(t, body);
    if (strcmp(r->path, "/metrics") == 0)
        return answer_metrics(t, body, type);
    const bool live = strcmp(r->path, "/debug/pprof/heap") == 0;
    if (t->config->pprof && (live || strcmp(r->path, "/debug/pprof/allocs") == 0))
        return answer_profile(t, r, live, body, type);
    return refuse(body, HTTP_NOT_FOUND,
                  t->config->pprof
                      ? "there are /status, /metrics, /debug/pprof/heap and /debug/pprof/allocs"
                      : "there are /status and /metrics");
}
