/* cmd_attach.c: `allotrace attach PID` and `allotrace detach PID`: begins and ends a recording in a
 * running process.
 *
 * src/attach loads the recorder into the process. This file tells the recorder what to do, and
 * handles the results: it symbolizes the trace, shows a live table (attach_command.h), or keeps a
 * ring (cli/ring). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/attach.h"
#include "attach/process.h"
#include "base/file.h"
#include "base/path.h"
#include "base/proc.h"
#include "cli/attach/attach_command.h"
#include "cli/message.h"
#include "cli/record_options.h"
#include "cli/ring/keeper_pace.h"
#include "cli/ring/keeper_spool.h"
#include "cli/ring/ring_report.h"
#include "cli/run/preload_file.h"
#include "cli/run/push_options.h"
#include "cli/run/run_go.h"
#include "cli/run/run_rescue.h"
#include "cli/run/run_summary.h"
#include "cli/run/run_traces.h"
#include "cli/run/symbolize_file.h"
#include "cli/signals.h"
#include "contract/settings.h"
#include "contract/trace_name.h"
#include "platform/clock.h"

#define OPTION_QUIET(type)                                                                         \
    {                                                                                              \
        .name = "quiet", .letter = 'q', OPTION_SETS(FLAG, type, quiet),                            \
        .help = "report problems only"                                                             \
    }

typedef struct attach_options {
    const char *output, *context;
    double rate;    /* 0: not given */
    uint64_t depth; /* DEPTH_UNSET: not given */
    bool mmap;
    uint64_t duration; /* µs; 0: until somebody detaches */
    bool no_symbolize, quiet, go, native;
    ring_options ring;
    debug_file_options debug_files;
    push_flags push;
} attach_options;

static const attach_options attach_defaults = {.depth = DEPTH_UNSET};

static const option attach_specs[] = {
    {.name = "output",
     .letter = 'o',
     OPTION_TAKES(FILE, attach_options, output, "FILE"),
     .help = "write the trace to FILE (default: PROGRAM.PID.ctf in the current folder); %p in FILE "
             "stands for the process id. An earlier trace of the process is kept: x.ctf becomes "
             "x.1.ctf",
     .brief = "write to FILE (default: PROGRAM.PID.ctf)"},
    {.name = "rate",
     .letter = 'r',
     OPTION_TAKES(RATE, attach_options, rate, "RATE"),
     .help = "sample each allocated word with this probability (default: 1e-5)",
     .brief = "sampling probability of a word (default 1e-5)"},
    OPTION_MMAP(attach_options),
    {.name = "depth",
     .letter = 'd',
     OPTION_TAKES(COUNT, attach_options, depth, "N"),
     .help = "keep at most N frames of a call stack (default: 256)",
     .brief = "keep at most N frames of a stack (default 256)"},
    OPTION_CONTEXT(attach_options),
    {.name = "duration",
     OPTION_TAKES(TIME, attach_options, duration, "TIME"),
     .help = "record for TIME, such as 30s or 5min, or until Ctrl-C, then show a summary (default: "
             "return immediately and record until `allotrace detach` or the end of the process; "
             "with --push, record until Ctrl-C or the end of the process)",
     .brief = "record for TIME, such as 30s, or until Ctrl-C (default: until `allotrace detach`)"},
    {.name = "go",
     OPTION_SETS(FLAG, attach_options, go),
     .help = "read Go's own profile; if the process has none, fail instead of recording malloc",
     .brief = "read Go's own profile, or fail"},
    {.name = "native",
     OPTION_SETS(FLAG, attach_options, native),
     .help = "of a Go program with C code, record malloc instead of reading Go's own profile",
     .brief = "of a Go program with C code, record malloc"},
    OPTIONS_RING(attach_options),
    {.name = "no-symbolize",
     OPTION_SETS(FLAG, attach_options, no_symbolize),
     .help = "leave addresses in the trace, for `allotrace symbolize` to resolve later",
     .brief = "leave addresses for `allotrace symbolize`"},
    OPTION_QUIET(attach_options),
    OPTIONS_SYMBOLIZE(attach_options),
    OPTIONS_PUSH(attach_options),
};

/* ---- the end ----------------------------------------------------------------------------- */

static void say_where(pid_t pid, const char *path, int files) {
    if (files >= 0)
        message_note(
            "process %d has its own file system; while it runs, the trace is at /proc/%d/root%s",
            (int)pid, (int)pid, path);
}

/* Disables debuginfod if the trace is completed with the process's rights or file system: its
 * library would be loaded from there, and its cache is in our home folder. */
static void disable_debuginfod(int files, const rights *whose, debug_file_options *debug_files) {
    if (!debug_files->debuginfod || (files < 0 && whose->uid == geteuid()))
        return;
    message_warning("--debuginfod does not work for processes of other users or in containers");
    debug_files->debuginfod = false;
}

static struct clock_anchor anchor; /* from when the recording begins */

/* Returns the time since the epoch as the recorder counts it, whatever steps the wall clock has
 * made since. */
static uint64_t now_us(void) {
    return clock_anchored_us(anchor, clock_monotonic_us());
}

/* Completes the trace. `gone` is when the process ended by itself, us since the epoch, or 0.
 * Returns an exit status. */
static int complete(pid_t pid, const char *path, int files, const rights *whose, uint64_t gone,
                    bool no_symbolize, bool quiet, debug_file_options debug_files) {
    run_traces traces = {.n_locked = 0};
    struct stat status;
    disable_debuginfod(files, whose, &debug_files);
    const int refused = attach_enter_files(files, whose);
    if (refused)
        return message_error(
            "the recording has ended, but its trace is not symbolized, because the "
            "rights of process %d cannot be assumed: %s",
            (int)pid, strerror(refused));
    if (stat(path, &status) != 0)
        return message_error("the recording has ended, but its trace cannot be found: %s: %s", path,
                             strerror(errno));
    if (gone)
        run_rescue_note_lost(path, (uint64_t)pid, gone);
    if (!run_traces_add(&traces, path, -1))
        return STATUS_FAILED;
    run_traces_complete(&traces, no_symbolize ? NULL : &debug_files, NULL, NULL);
    run_summary_report(&traces, (run_summary_how){.quiet = quiet});
    if (!quiet)
        say_where(pid, path, files);
    run_traces_free(&traces);
    return STATUS_OK;
}

/* Ends the recording, and stores the name of its trace in `path`; empty: there was no recording.
 * Returns false after reporting an error. */
static bool end_recording(pid_t pid, char *path, size_t size, rights *whose) {
    static control request;
    remote_reason why;
    request = (control){.action = CONTROL_END};
    *path = '\0';
    if (!attach_control(pid, NULL, &request, whose, &why)) {
        message_error("%s", why.text);
        return false;
    }
    if (*request.linked)
        message_warning("calls in process %d still pass through the recorder, which forwards them, "
                        "since its code could not be restored: %s; to try again: allotrace detach "
                        "%d",
                        (int)pid, request.linked, (int)pid);
    if (request.outcome == CONTROL_DONE)
        snprintf(path, size, "%s", request.reply);
    return true;
}

/* ---- attach ------------------------------------------------------------------------------ */

static void add_setting(control *c, size_t *used, enum setting setting, const char *value) {
    size_t room = sizeof c->text - 2 - *used;
    int n = snprintf(c->text + *used, room, "%s=%s", setting_infos[setting].name, value);
    if (n > 0 && (size_t)n < room)
        *used += (size_t)n + 1;
    else
        c->text[*used] = '\0';
}

static void fill_request(control *c, const attach_options *opts, const ring_plan *ring,
                         const char *path) {
    char text[64], pattern[2 * PATH_MAX];
    size_t used = 0;
    *c = (control){.action = CONTROL_BEGIN, .is_paced = ring->overhead > 0};
    trace_name_pattern(path, pattern, sizeof pattern);
    add_setting(c, &used, SETTING_FILE, pattern);
    if (opts->rate > 0) {
        snprintf(text, sizeof text, "%.15g", opts->rate);
        add_setting(c, &used, SETTING_RATE, text);
    }
    if (ring->on) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)ring_spool_space(ring));
        add_setting(c, &used, SETTING_SPACE, text);
    }
    if (opts->mmap)
        add_setting(c, &used, SETTING_MMAP, "1");
    if (opts->depth != DEPTH_UNSET) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)opts->depth);
        add_setting(c, &used, SETTING_DEPTH, text);
    }
    if (opts->context)
        add_setting(c, &used, SETTING_CONTEXT, opts->context);
}

/* Finds the program of the process, after which recordings are named. */
static void find_program(pid_t pid, char program[PATH_MAX]) {
    if (!attach_program(pid, program, PATH_MAX))
        snprintf(program, PATH_MAX, "process");
}

/* Makes the absolute name of the trace, since the process may have another current folder. */
static bool choose_path(pid_t pid, const attach_options *opts, char path[PATH_MAX]) {
    char program[PATH_MAX], folder[PATH_MAX] = "", name[PATH_MAX];
    find_program(pid, program);
    if (opts->output && (!trace_name_is_pattern(opts->output) ||
                         !trace_name_for(opts->output, (uint64_t)pid, name, sizeof name)))
        return false;
    if (!opts->output &&
        snprintf(name, sizeof name, "%s.%d.ctf", path_base(program), (int)pid) >= (int)sizeof name)
        return false;
    if (name[0] != '/' && !getcwd(folder, sizeof folder))
        return false;
    int n = snprintf(path, PATH_MAX, "%s%s%s", folder, *folder ? "/" : "", name);
    return n > 0 && n < PATH_MAX;
}

static int refuse_path(const attach_options *opts) {
    return message_usage(&command_attach,
                         "--output: `%s` is not a valid trace name: it is too long, or "
                         "contains a %% that is not followed by p (the process id) or %%",
                         opts->output ? opts->output : "PROGRAM.PID.ctf");
}

/* Returns whether the process has ended. A zombie still counts as a process for kill, so `process`,
 * its pidfd, is used unless it is -1. */
static bool has_ended(pid_t pid, int process) {
    return process >= 0 ? file_is_ready(process, 0) : kill(pid, 0) != 0;
}

/* Waits until `duration` is over (microseconds; 0: no limit), the user interrupts, the process
 * ends, or the recording into `spool` ends, which may be NULL. */
static void wait_while_recording(pid_t pid, int process, uint64_t duration, const char *spool) {
    sigset_t enough = signals_of_end();
    const struct timespec tick = {.tv_nsec = 100000000};
    const uint64_t end = clock_monotonic_us() + duration;
    for (uint64_t at = 0; (!duration || at < end) && !has_ended(pid, process) &&
                          !(spool && !symbolize_file_is_recording(spool));) {
        if (sigtimedwait(&enough, NULL, &tick) > 0)
            break;
        at = clock_monotonic_us();
    }
}

/* A process that is being recorded. */
typedef struct recorded {
    pid_t pid;
    int process, files; /* `process`: pidfd, or -1; `files`: see attach_open_files */
    const char *path;
    rights began;
    push_session *push; /* NULL: nothing is pushed */
} recorded;

/* Ends the recording, unless the process has ended, at time `gone`. */
static int finish(const recorded *r, const attach_options *opts, uint64_t gone) {
    char ended[CONTROL_REPLY] = "";
    rights whose;
    sigset_t enough = signals_of_end();
    if (gone || !end_recording(r->pid, ended, sizeof ended, &whose) || !*ended)
        whose = r->began;
    file_close(r->process);
    /* before names are added to the trace, which may replace the file */
    push_finish(r->push, signals_interrupted, NULL);
    sigprocmask(SIG_UNBLOCK, &enough, NULL);
    return complete(r->pid, r->path, r->files, &whose, gone, opts->no_symbolize, opts->quiet,
                    opts->debug_files);
}

static const struct timespec always; /* all zero: any trace is recent enough, since it has begun */

static int finish_after(recorded *r, const attach_options *opts) {
    char seen[PATH_MAX + 32];
    top_path(seen, sizeof seen, r->pid, r->files, r->path);
    r->push = push_flags_start(&opts->push, seen, always, 0, NULL, opts->quiet);
    wait_while_recording(r->pid, r->process, opts->duration, NULL);
    return finish(r, opts, has_ended(r->pid, r->process) ? now_us() : 0);
}

/* Shows the table until the user leaves it. Returns when the process ended, us since the epoch; 0:
 * it has not. */
static uint64_t show_while_recording(const recorded *r, const top_options *how) {
    const struct timespec tick = {.tv_nsec = 100000000};
    const sigset_t enough = signals_of_end();
    char path[PATH_MAX + 32];
    uint64_t gone = 0;
    top_output held;
    int status;
    top_path(path, sizeof path, r->pid, r->files, r->path);
    if (!top_output_begin(&held, false))
        return 0;
    top_session *s = top_start(path, true, how, &held, &status);
    while (s && !top_is_over(s) && sigtimedwait(&enough, NULL, &tick) < 0)
        if (!gone && has_ended(r->pid, r->process))
            gone = now_us();
    top_stop(s);
    top_output_end(&held);
    return gone || !has_ended(r->pid, r->process) ? gone : now_us();
}

/* Keeps a ring until the recording ends. */
static int keep_recording(pid_t pid, const attach_options *opts, const ring_plan *ring,
                          const char *spool) {
    debug_file_options debug_files = opts->debug_files;
    const pid_t inner = process_inner_id(pid); /* the process id that the trace contains */
    debug_files.in = ring->files;
    const uint64_t began = now_us();
    char ended[CONTROL_REPLY] = "";
    rights whose;
    keeper keeps;
    sigset_t enough = signals_of_end();
    const int process = (int)syscall(SYS_pidfd_open, pid, 0);
    keeper_spools_remove_abandoned(ring, pid);
    if (!keeper_start(&keeps, ring, pid, -1, opts->push.urls)) {
        end_recording(pid, ended, sizeof ended, &whose);
        return STATUS_FAILED;
    }
    push_session *push =
        push_flags_start(&opts->push, spool, always, ring->files, keeps.position, opts->quiet);
    wait_while_recording(pid, process, opts->duration, spool);
    if (!has_ended(pid, process) && symbolize_file_is_recording(spool))
        end_recording(pid, ended, sizeof ended, &whose);
    file_close(process);
    push_finish(push, signals_interrupted, NULL);
    const bool kept = keeper_finish(&keeps, now_us());
    if (!kept)
        keeper_spools_remove_abandoned(ring, pid);
    sigprocmask(SIG_UNBLOCK, &enough, NULL);
    const ring_made made = ring_complete(ring, (uint64_t)inner, began / 1000000,
                                         opts->no_symbolize ? NULL : &debug_files, NULL, NULL);
    if (!opts->quiet)
        ring_report(ring, &made);
    return kept ? STATUS_OK : STATUS_FAILED;
}

static bool is_recorded(const control *request) {
    return request->outcome == CONTROL_REFUSED &&
           strcmp(request->reply, CONTROL_REPLY_RECORDED) == 0;
}

/* Reports why the process is not recorded. The process itself opens the trace, so it may be refused
 * a name that we could write to. */
static void say_refused(pid_t pid, const control *request, const char *path) {
    if (request->outcome == CONTROL_UNKNOWN)
        message_error("process %d is not recorded: it contains a different version of the recorder",
                      (int)pid);
    else if (request->error)
        message_error("process %d is not recorded: %s to %s by the process itself, with its own "
                      "rights: %s; use -o to name another file",
                      (int)pid, request->reply, path, strerror(request->error));
    else if (is_recorded(request))
        message_error("process %d is not recorded: %s; to end that: allotrace detach %d", (int)pid,
                      request->reply, (int)pid);
    else
        message_error("process %d is not recorded: %s", (int)pid, request->reply);
}

int attach_check_options(const void *options) {
    const attach_options *opts = options;
    if (opts->depth != DEPTH_UNSET && (opts->depth < 1 || opts->depth > SETTING_MAX_DEPTH))
        return message_usage(&command_attach, "--depth must be from 1 to %d", SETTING_MAX_DEPTH);
    if (!push_flags_check(&opts->push))
        return STATUS_USAGE;
    return ring_options_check(&command_attach, &opts->ring, opts->rate);
}

/* Makes the plan of a ring. We write the segments, on our side. In another file system, whose names
 * are under others' control, we would read and remove files with root's rights, so that is
 * refused. */
static int plan_ring(ring_plan *ring, pid_t pid, const attach_options *opts) {
    char program[PATH_MAX];
    find_program(pid, program);
    const int status = ring_plan_make(ring, &command_attach, &opts->ring, opts->output, program);
    const int files = status == STATUS_OK && ring->on ? attach_open_files(pid) : -1;
    if (files < 0)
        return status;
    const long user = process_status(pid, "Uid", -1);
    if (user == (long)geteuid())
        return ring_plan_elsewhere(ring, pid, files) ? STATUS_OK : STATUS_FAILED;
    return message_error(
        "process %d has its own file system, as in a container, so --keep has to run as "
        "its user, %ld, which `allotrace agent` does",
        (int)pid, user);
}

/* Lets the keeper adjust the rate to the cost that the recorder measures. */
static void begin_pace(ring_plan *ring, pid_t pid, const control *begun) {
    if (ring->overhead <= 0)
        return;
    if (!begun->pace) {
        message_warning("--overhead: the rate of process %d stays as it is, since it records "
                        "objects of a language, not only malloc",
                        (int)pid);
        return;
    }
    const int memory = proc_open((uint64_t)pid, "mem", O_RDWR);
    if (memory < 0 || !ring_plan_pace(ring, memory, begun->pace))
        message_warning("--overhead: the rate of process %d stays as it is: its memory cannot be "
                        "written: %s",
                        (int)pid, strerror(errno));
}

static const char *name_program(pid_t pid, char program[PATH_MAX]) {
    if (!attach_program(pid, program, PATH_MAX))
        snprintf(program, PATH_MAX, "process %d", (int)pid);
    return program;
}

/* Says what is recorded of an allocator that is linked into the program, or why nothing is. */
static void say_linked(pid_t pid, const control *begun) {
    char program[PATH_MAX];
    if (!*begun->linked)
        return;
    name_program(pid, program);
    if (begun->n_linked > 0)
        message_note("%s: %s", program, begun->linked);
    else
        message_warning(
            "%s: %s%s", program, begun->linked,
            begun->n_codes == 0 && attach_has_own_malloc(pid) ? "; calls from libraries are" : "");
}

/* Says that the recording has begun. The agent takes earlier messages for problems. */
static void say_begun(const recorded *r, const attach_options *opts, const control *begun) {
    if (opts->duration) {
        message_note(ATTACH_NOTE_BEGUN "%d for %.6g s; press Ctrl-C to stop earlier", (int)r->pid,
                     (double)opts->duration / 1e6);
    } else if (opts->push.urls) {
        message_note(ATTACH_NOTE_BEGUN "%d and pushing its profiles; press Ctrl-C to stop",
                     (int)r->pid);
    } else {
        message_note(ATTACH_NOTE_BEGUN "%d into %s", (int)r->pid, r->path);
        say_where(r->pid, r->path, r->files);
    }
    if (begun->n_linked > 0)
        say_linked(r->pid, begun);
    if (!opts->duration && !opts->push.urls)
        message_note("to stop: allotrace detach %d", (int)r->pid);
}

/* ---- Go ---------------------------------------------------------------------------------- */

/* Options of the recorder have no effect on Go, which samples as the process has set it up. */
static void warn_without_effect(const attach_options *opts) {
    if (opts->rate > 0 || opts->mmap || opts->depth != DEPTH_UNSET || opts->context)
        message_warning("Go's profile is read as it is: --rate, --depth, --mmap and --context have "
                        "no effect");
}

/* Writes the profile that the Go runtime has collected so far. */
static int snapshot_go(run_go *g, pid_t pid, const attach_options *opts, const char *program,
                       const char *path) {
    if (run_go_snapshot(g, pid))
        return run_go_write(g, &command_attach, pid, program, path, opts->quiet);
    return message_error("process %d is a Go program (%s) that is not recorded: %s", (int)pid,
                         g->program.version, g->why.text);
}

static void say_begun_go(const recorded *r, const attach_options *opts, const ring_plan *ring) {
    const char *slash = ring->on ? "/" : "", *to = ring->on ? ring->folder : r->path;
    if (opts->quiet)
        return;
    if (opts->duration)
        message_note(ATTACH_NOTE_BEGUN "%d, a Go program, for %.6g s into %s%s; press Ctrl-C to "
                                       "stop earlier",
                     (int)r->pid, (double)opts->duration / 1e6, to, slash);
    else
        message_note(ATTACH_NOTE_BEGUN "%d, a Go program, into %s%s; press Ctrl-C to stop",
                     (int)r->pid, to, slash);
}

/* Reads the profile again and again into a growing trace, which is pushed, shown, or kept in
 * segments. */
static int follow_go(run_go *g, recorded *r, const attach_options *opts, const top_options *live,
                     const ring_plan *ring) {
    keeper keeps = {.pid = -1, .fd = -1};
    const uint64_t began = now_us();
    const pid_t inner = process_inner_id(r->pid); /* as a recorder in the process would name it */
    sigset_t enough = signals_of_end();
    bool kept = true;
    if (ring->on) {
        keeper_spools_remove_abandoned(ring, r->pid);
        if (!keeper_start(&keeps, ring, r->pid, -1, opts->push.urls))
            return STATUS_FAILED;
    }
    if (!run_go_watch(g, &(run_go_feed_how){
                             .path = r->path,
                             .program = g->profile.program,
                             .pid = r->pid,
                             .inner = inner,
                             .start_time = began,
                             .every_us = opts->push.every,
                             .space = ring->on ? ring_spool_space(ring) : 0,
                             .from_now = true,
                         })) {
        if (ring->on)
            keeper_finish(&keeps, now_us());
        return STATUS_FAILED;
    }
    if (!live)
        say_begun_go(r, opts, ring);
    push_session *push =
        push_flags_start(&opts->push, r->path, always, 0, keeps.position, opts->quiet);
    if (live)
        show_while_recording(r, live);
    else
        wait_while_recording(r->pid, r->process, opts->duration, NULL);
    run_go_close(g);
    push_finish(push, signals_interrupted, NULL);
    if (ring->on)
        kept = keeper_finish(&keeps, now_us());
    if (!kept)
        keeper_spools_remove_abandoned(ring, r->pid);
    sigprocmask(SIG_UNBLOCK, &enough, NULL);
    if (!ring->on)
        return run_go_write_watched(g, r->path, opts->quiet);
    if (!run_go_has_watched(g, ring->folder))
        return STATUS_FAILED;
    const ring_made made = ring_complete(ring, (uint64_t)inner, began / 1000000, NULL, NULL, NULL);
    if (!opts->quiet)
        ring_report(ring, &made);
    return kept ? STATUS_OK : STATUS_FAILED;
}

static int attach_go(run_go *g, pid_t pid, const attach_options *opts, const top_options *live) {
    char path[PATH_MAX], program[PATH_MAX];
    recorded r = {.pid = pid, .path = path, .files = -1};
    ring_plan ring = {0};
    sigset_t enough = signals_of_end();
    warn_without_effect(opts);
    find_program(pid, program);
    int status = ring_plan_make(&ring, &command_attach, &opts->ring, opts->output, program);
    if (status != STATUS_OK)
        return status;
    if (ring.on ? !ring_spool_path(&ring, (uint64_t)pid, path, sizeof path)
                : !choose_path(pid, opts, path))
        return refuse_path(opts);
    if (symbolize_file_is_recording(path)) {
        status = message_error("process %d is being recorded already, into %s", (int)pid, path);
    } else if (!ring.on && !opts->push.urls && !opts->duration && !live) {
        status = snapshot_go(g, pid, opts, program, path);
    } else if (!run_go_open(g, pid)) {
        status = message_error("process %d is a Go program (%s) that is not recorded: %s", (int)pid,
                               g->program.version, g->why.text);
    } else {
        g->profile.program = program;
        r.process = (int)syscall(SYS_pidfd_open, pid, 0);
        sigprocmask(SIG_BLOCK, &enough, NULL);
        status = follow_go(g, &r, opts, live, &ring);
        file_close(r.process);
    }
    run_go_free(g);
    return status;
}

/* Returns whether the profile of a Go program with C can be read; otherwise says why only malloc is
 * recorded. Go's heap is preferred, because most such programs use C only to look up host names. */
static bool prefers_go(const run_go *g, pid_t pid, go_kind kind, const import_error *error) {
    run_go probe = *g;
    if (kind == GO_REFUSED) {
        message_warning("process %d is %s: only malloc is recorded", (int)pid, error->reason);
        return false;
    }
    const bool is_there = run_go_open(&probe, pid);
    if (!is_there)
        message_warning("process %d is a Go program: only malloc is recorded: %s", (int)pid,
                        probe.why.text);
    run_go_free(&probe);
    return is_there;
}

/* Records a Go program by reading its runtime's profile, unless malloc was asked for. Returns false
 * if malloc is to be recorded; otherwise *status is the exit status. */
static bool attach_if_go(pid_t pid, const attach_options *opts, const top_options *live,
                         int *status) {
    char loader[PATH_MAX];
    import_error error;
    run_go g = {.memory = -1};
    if (!process_loader(pid, loader, sizeof loader))
        return false;
    const go_kind kind = run_go_find(&g, pid, &error);
    if (kind == GO_NONE && !opts->go)
        return false;
    if (*loader && !opts->go && (opts->native || !prefers_go(&g, pid, kind, &error)))
        return false;
    if (*loader && !opts->go && !opts->quiet)
        message_note("process %d is a Go program with C: Go's own heap is recorded; --native "
                     "records what C takes from malloc instead",
                     (int)pid);
    *status = STATUS_FAILED;
    if (kind == GO_NONE)
        message_error("--go: process %d is no Go program", (int)pid);
    else if (kind == GO_REFUSED)
        message_error("process %d is %s", (int)pid, error.reason);
    else if (kind == GO_KNOWN)
        *status = attach_go(&g, pid, opts, live);
    return true;
}

/* Asks the process to begin. If it is recording to a spool whose keeper was killed, that recording
 * is useless, and is ended first. */
static bool begin_recording(pid_t pid, const char *library, control *request, const ring_plan *ring,
                            rights *whose, remote_reason *why) {
    static control asked;
    char ended[CONTROL_REPLY];
    asked = *request;
    if (!attach_control(pid, library, request, whose, why))
        return false;
    if (!ring->on || !is_recorded(request) || !keeper_has_gone(ring, (uint64_t)pid) ||
        !end_recording(pid, ended, sizeof ended, whose))
        return true;
    *request = asked;
    return attach_control(pid, library, request, whose, why);
}

/* Warns about allocations that cannot be recorded by attaching. */
static void warn_unseen(pid_t pid, const control *begun) {
    char program[PATH_MAX];
    if (begun->n_linked == 0)
        say_linked(pid, begun);
    if (!*begun->linked && attach_has_own_malloc(pid))
        message_warning("process %d has its own malloc linked into the program, without symbols "
                        "for its functions: calls from the program are not recorded, calls from "
                        "libraries are",
                        (int)pid);
    if (*begun->declined)
        message_warning("%s: %s", name_program(pid, program), begun->declined);
    const char *unreached = attach_unreached_heap(pid);
    if (unreached)
        message_warning("process %d is %s program: only malloc is recorded; to record its own "
                        "heap, start the program with `allotrace run`",
                        (int)pid, unreached);
}

/* With `live`, shows a table, and ends the recording when the user leaves it. */
static int attach(pid_t pid, const attach_options *opts, const top_options *live) {
    static control request;
    char library[PATH_MAX], path[PATH_MAX];
    sigset_t enough = signals_of_end();
    recorded r = {.pid = pid, .path = path};
    remote_reason why;
    ring_plan ring = {0};
    anchor = clock_anchor_now();
    int status = attach_check_options(opts);
    if (status == STATUS_OK && attach_if_go(pid, opts, live, &status))
        return status;
    if (status == STATUS_OK)
        status = plan_ring(&ring, pid, opts);
    if (status != STATUS_OK)
        return status;
    if (ring.on ? !ring_spool_path(&ring, (uint64_t)pid, path, sizeof path)
                : !choose_path(pid, opts, path))
        return refuse_path(opts);
    if (!preload_file_find(library))
        return message_error("%s is missing from the folder where it was installed", PRELOAD_NAME);
    char there[PATH_MAX]; /* the trace's path in the process's file system */
    if (!ring.on || !ring_spool_path_there(&ring, (uint64_t)pid, there, sizeof there))
        snprintf(there, sizeof there, "%s", path);
    fill_request(&request, opts, &ring, there);
    /* A signal to end that comes while the recording begins takes effect later, when we can say
     * that it has begun, or end it. */
    sigprocmask(SIG_BLOCK, &enough, NULL);
    if (!begin_recording(pid, library, &request, &ring, &r.began, &why))
        return message_error("%s", why.text);
    if (request.outcome != CONTROL_DONE) {
        say_refused(pid, &request, there);
        return STATUS_FAILED;
    }
    warn_unseen(pid, &request);
    r.files = attach_open_files(pid);
    if (ring.on) {
        if (!opts->quiet) {
            message_note(ATTACH_NOTE_BEGUN "%d into %s/; press Ctrl-C to stop", (int)pid,
                         ring.folder);
            if (request.n_linked > 0)
                say_linked(pid, &request);
        }
        begin_pace(&ring, pid, &request);
        return keep_recording(pid, opts, &ring, path);
    }
    if (live || opts->duration || opts->push.urls)
        r.process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (live)
        return finish(&r, opts, show_while_recording(&r, live));
    if (!opts->quiet)
        say_begun(&r, opts, &request);
    if (opts->duration || opts->push.urls)
        return finish_after(&r, opts);
    sigprocmask(SIG_UNBLOCK, &enough, NULL);
    return STATUS_OK;
}

static int run_attach(const void *opts_, char **operands) {
    const attach_options *opts = opts_;
    pid_t pid;
    if (!attach_parse_pid(operands[0], &pid))
        return message_usage(&command_attach, "`%s` is not a process id", operands[0]);
    return attach(pid, opts, NULL);
}

int attach_live(pid_t pid, const top_options *how) {
    static control request;
    char path[PATH_MAX + 32];
    rights whose;
    remote_reason why;
    request = (control){.action = CONTROL_STATUS};
    if (!attach_control(pid, NULL, &request, &whose, &why))
        return message_error("%s", why.text);
    if (request.outcome != CONTROL_DONE)
        return attach(pid, &attach_defaults, how);
    top_path(path, sizeof path, pid, attach_open_files(pid), request.reply);
    return top_show(path, how);
}

const command command_attach = {
    .name = "attach",
    .group = GROUP_RECORD,
    .operand = OPERAND_PROCESS,
    .usage = "PID",
    .summary = "record a running process",
    .description =
        "Records where a running process allocates, without restarting it. To load the recorder, "
        "it stops one thread for a few milliseconds.\n"
        "\n"
        "From then on, it records the allocations and frees of all threads, in all modules loaded "
        "at that moment. It does not record libraries loaded later, or blocks allocated before.\n"
        "\n"
        "attach refuses, and says why, if it would be unsafe: for processes that belong to another "
        "user, are being traced, are stopped or are statically linked; without glibc 2.34 or "
        "later; with a seccomp filter that forbids recording; and, except for root, in a container "
        "that cannot see the recorder.",
    .example = "allotrace attach --duration 30s 4711\n"
               "allotrace attach -o server.ctf 4711; sleep 60; allotrace detach 4711\n",
    OPTIONS_OF(attach_specs, attach_defaults),
    .run = run_attach,
};

/* ---- detach ------------------------------------------------------------------------------ */

typedef struct detach_options {
    bool no_symbolize, quiet;
    debug_file_options debug_files;
} detach_options;

static const detach_options detach_defaults = {0};

static const option detach_specs[] = {
    {.name = "no-symbolize",
     OPTION_SETS(FLAG, detach_options, no_symbolize),
     .help = "leave addresses in the trace, for `allotrace symbolize` to resolve later"},
    OPTION_QUIET(detach_options),
    OPTIONS_SYMBOLIZE(detach_options),
};

static int run_detach(const void *opts_, char **operands) {
    const detach_options *opts = opts_;
    char path[CONTROL_REPLY], folder[CONTROL_REPLY];
    rights whose;
    pid_t pid;
    if (!attach_parse_pid(operands[0], &pid))
        return message_usage(&command_detach, "`%s` is not a process id", operands[0]);
    int files = attach_open_files(pid);
    if (!end_recording(pid, path, sizeof path, &whose))
        return STATUS_FAILED;
    if (!*path)
        return message_error("process %d is not being recorded", (int)pid);
    if (ring_is_spool(path, folder, sizeof folder)) {
        if (files >= 0)
            message_note("the recording has ended; its segments are where they were to be kept");
        else
            message_note("the recording has ended; its segments are in %s/", folder);
        return STATUS_OK;
    }
    return complete(pid, path, files, &whose, 0, opts->no_symbolize, opts->quiet,
                    opts->debug_files);
}

const command command_detach = {
    .name = "detach",
    .group = GROUP_RECORD,
    .minor = true,
    .operand = OPERAND_PROCESS,
    .usage = "PID",
    .summary = "stop recording a process",
    .description = "Stops a recording that `allotrace attach` or `allotrace run` started, and "
                   "prints the same summary as `allotrace run`. The process continues at full "
                   "speed. The recorder stays loaded, but after `attach` it is no longer called.",
    .example = "allotrace detach 4711\n",
    OPTIONS_OF(detach_specs, detach_defaults),
    .run = run_detach,
};
