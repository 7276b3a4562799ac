/* cmd_run.c: `allotrace run -- PROGRAM ARGS`: records a program.
 *
 * The recording is done by a library that is preloaded into the program (src/record). This command
 * sets up its environment, stays out of the program's way while it runs, and afterwards completes
 * the trace. Whatever goes wrong here, the program runs, and its exit status is ours.
 *
 * The steps are: run_check finds out whether the program can be recorded at all. run_rescue makes
 * shared memory (contract/rescue.h), so that no events are lost if the program is killed.
 * run_program starts the program, and passes on signals that were meant for it (run_witness).
 * run_rescue adds events that were not written. run_traces symbolizes the traces (symbolize_file).
 * run_summary prints totals and top sites, and run_findings prints what deserves a look. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/color.h"
#include "cli/message.h"
#include "cli/record_options.h"
#include "cli/ring/keeper.h"
#include "cli/ring/keeper_spool.h"
#include "cli/ring/keepers.h"
#include "cli/ring/ring_push.h"
#include "cli/ring/ring_report.h"
#include "cli/run/preload_file.h"
#include "cli/run/push_options.h"
#include "cli/run/run_check.h"
#include "cli/run/run_children.h"
#include "cli/run/run_go.h"
#include "cli/run/run_program.h"
#include "cli/run/run_rescue.h"
#include "cli/run/run_summary.h"
#include "cli/run/run_traces.h"
#include "cli/run/symbolize_file.h"
#include "cli/top/top.h"
#include "cli/view/view_session.h"
#include "contract/rescue.h"
#include "contract/settings.h"
#include "contract/trace_name.h"
#include "platform/clock.h"
#include "trace/compressor.h"

enum { STATUS_CANNOT_EXECUTE = 126, STATUS_NOT_FOUND = 127 }; /* as in shells */

typedef struct run_options {
    const char *output, *context;
    double rate;    /* 0: not given */
    uint64_t depth; /* DEPTH_UNSET: not given */
    bool native, no_ocaml, mmap, view, live;
    bool no_symbolize, quiet;
    ring_options ring;
    debug_file_options debug_files;
    push_flags push;
} run_options;

static const run_options defaults = {.depth = DEPTH_UNSET};

static const option options[] = {
    {.name = "output",
     .letter = 'o',
     OPTION_TAKES(FILE, run_options, output, "FILE"),
     .help = "write the trace to FILE (default: $MEMTRACE, or PROGRAM.PID.ctf in the current "
             "folder; at rate 1, PROGRAM.PID.ctf.zst). If FILE contains %p, which stands for the "
             "process id, child processes are recorded, too; below rate 0.01, only those that have "
             "a sample. If FILE ends in .zst or .gz, the trace is compressed",
     .brief = "write to FILE (default: PROGRAM.PID.ctf); with %p (process id), child processes are "
              "recorded, too"},
    {.name = "rate",
     .letter = 'r',
     OPTION_TAKES(RATE, run_options, rate, "RATE"),
     .help = "sample each allocated word with this probability (default: $MEMTRACE_RATE, or 1e-5)",
     .brief = "sampling probability of a word (default 1e-5)"},
    {.name = "depth",
     .letter = 'd',
     OPTION_TAKES(COUNT, run_options, depth, "N"),
     .help =
         "keep at most N frames of a call stack (default: $MEMTRACE_DEPTH, or 256, or 128 for an "
         "OCaml heap)",
     .brief = "keep at most N frames of a stack (default 256)"},
    OPTION_CONTEXT(run_options),
    {.name = "native",
     OPTION_SETS(FLAG, run_options, native),
     .help = "record malloc in addition to the OCaml heap of OCaml programs; for a Go program with "
             "C, --keep then keeps malloc instead of Go's own heap",
     .brief = "record malloc and the heap of OCaml programs"},
    {.name = "no-ocaml",
     OPTION_SETS(FLAG, run_options, no_ocaml),
     .help = "record only malloc in OCaml programs"},
    OPTION_MMAP(run_options),
    OPTIONS_RING(run_options),
    {.name = "view",
     OPTION_SETS(FLAG, run_options, view),
     .help = "show the trace in a browser while it is recorded, and afterwards until Ctrl-C; see "
             "`allotrace view`",
     .brief = "show the trace in a browser while it is recorded"},
    {.name = "live",
     OPTION_SETS(FLAG, run_options, live),
     .help = "show a live table in the terminal, as `allotrace top` does; the program's terminal "
             "output appears when you quit the table, and it cannot read from the terminal",
     .brief = "show a live table in the terminal: see `help top`"},
    {.name = "no-symbolize",
     OPTION_SETS(FLAG, run_options, no_symbolize),
     .help =
         "leave addresses in the trace, for `allotrace symbolize` to resolve later on this machine",
     .brief = "leave addresses for `allotrace symbolize`"},
    {.name = "quiet",
     .letter = 'q',
     OPTION_SETS(FLAG, run_options, quiet),
     .help = "print no summary; problems are still reported",
     .brief = "print no summary"},
    OPTIONS_SYMBOLIZE(run_options),
    OPTIONS_PUSH(run_options),
};

/* ---- setting up -------------------------------------------------------------------------- */

/* What is pushed while the program runs. */
typedef struct pushing {
    push_session *trace; /* NULL: nothing is pushed, or `family` is */
    push_session *go;    /* like `trace`, for the separate trace of Go's heap */
    char trace_path[PATH_MAX], go_path[PATH_MAX];
    push_family *family;    /* NULL: child processes are not pushed */
    family_options members; /* options of `family` */
} pushing;

/* The rescue memory, which all recorders of the run share. */
typedef struct rescue {
    int fd;               /* -1: none */
    char name[64];        /* see run_rescue_name; empty: none */
    pthread_mutex_t lock; /* held while adding unwritten events to traces */
} rescue;

/* State of the run, and what the new process needs to become the program. */
typedef struct launch {
    const run_options *options;
    const char *command;
    const char *preload;           /* NULL: no recorder is preloaded */
    char static_library[PATH_MAX]; /* the library for static programs; empty: it is missing */
    const char *pattern;           /* of the trace's name; NULL: the default */
    ring_plan ring;                /* if on, the recording goes into segments */
    bool has_children;             /* child processes are recorded into the ring, too */
    bool only_children;            /* child processes load the recorder, but not the program */
    keepers keepers;               /* of child processes */
    rescue rescue;
    uint64_t replaced;       /* see run_traces_replaces */
    struct timespec started; /* before the program, by the clock of file times */
    struct clock_anchor begin;
    uint64_t end; /* of the program, us since the epoch */
    pushing push;
    run_entry entry;       /* for a static or Go program */
    run_go go;             /* state of a Go program, if entry.go points to it */
    run_go_case go_case;   /* for `go` */
    run_children children; /* the process that follows other static and Go programs */
} launch;

/* Returns the value of a setting in our environment; NULL: it is not set. */
static const char *value_of(enum setting setting) {
    return getenv(setting_infos[setting].name);
}

/* Returns the rate that the user has set; 0: none. */
static double rate_asked(const run_options *given) {
    const char *set = value_of(SETTING_RATE);
    double rate;
    return given->rate > 0                                            ? given->rate
           : set && number_parse(set, &rate) && rate > 0 && rate <= 1 ? rate
                                                                      : 0;
}

/* Returns whether the rate is 1, so that every block is recorded. */
static bool is_exact(const run_options *given) {
    return rate_asked(given) == 1;
}

/* Makes the default name, as a pattern: percent signs in the program's name are doubled. */
static void default_pattern(char *pattern, size_t size, const launch *l, pid_t pid) {
    const char *program = l->command, *end = is_exact(l->options) ? ".zst" : "";
    enum { ROOM = NAME_MAX + 1 - (int)sizeof ".4194304.ctf.zst" };
    const size_t used = trace_name_pattern(path_base(program), pattern, ROOM);
    snprintf(pattern + used, size - used, ".%lld.ctf%s", (long long)pid, end);
}

/* Returns the pattern of the traces' names, perhaps in `room`. `pid` is the program's process. */
static const char *pattern_of(const launch *l, pid_t pid, char room[PATH_MAX]) {
    char spool[PATH_MAX];
    if (l->ring.run && ring_spool_pattern(&l->ring, room, PATH_MAX))
        return room;
    if (l->ring.on && ring_spool_path(&l->ring, (uint64_t)pid, spool, sizeof spool)) {
        trace_name_pattern(spool, room, PATH_MAX);
        return room;
    }
    if (l->pattern)
        return l->pattern;
    default_pattern(room, PATH_MAX, l, pid);
    return room;
}

static void set_setting(enum setting setting, const char *value) {
    setenv(setting_infos[setting].name, value, 1);
}

static bool is_set(enum setting setting) {
    const char *value = value_of(setting);
    return value && *value;
}

/* Sets an environment variable to two texts, joined by a colon. Either may be NULL. */
static void add_to_environment(const char *name, const char *first, const char *second) {
    const bool both = first && *first && second && *second;
    char *all = both ? text_format("%s:%s", first, second) : NULL;
    setenv(name, all ? all : first && *first ? first : second, 1);
    free(all);
}

/* AddressSanitizer refuses to start a program if another library is loaded before its own, unless
 * ASAN_OPTIONS allows that. It works nevertheless. */
static void set_preload(const char *preload) {
    const char *asan = getenv("ASAN_OPTIONS");
    add_to_environment("LD_PRELOAD", preload, getenv("LD_PRELOAD"));
    if (!asan || !strstr(asan, "verify_asan_link_order"))
        add_to_environment("ASAN_OPTIONS", asan, "verify_asan_link_order=0");
}

/* Makes the pattern absolute, since the program may change its folder. Percent signs in the current
 * folder's path are doubled. */
static void set_file_setting(const char *pattern) {
    char folder[PATH_MAX], absolute[3 * PATH_MAX];
    size_t used = 0;
    if (pattern[0] != '/' && getcwd(folder, sizeof folder)) {
        used = trace_name_pattern(folder, absolute, sizeof absolute - 1);
        absolute[used++] = '/';
    }
    snprintf(absolute + used, sizeof absolute - used, "%s", pattern);
    set_setting(SETTING_FILE, absolute);
}

/* Returns whether to reserve room in the trace for names, which are then added in place. So nobody
 * may have read the trace before. A compressed trace is copied anyway. */
static bool wants_room(const launch *l, const char *pattern) {
    return !l->options->no_symbolize && !l->options->view && !l->options->live &&
           !l->options->push.urls && !l->ring.on && compression_of(pattern) == COMPRESSION_NONE;
}

/* Runs in the new process, before its exec. */
static void set_environment(void *context) {
    const launch *l = context;
    char text[PATH_MAX];
    if (!l->preload)
        return;
    if (l->only_children && !l->entry.go && !run_children_ask(&l->children))
        message_warning(
            "%s: it is a Go program, and Go's own heap is not recorded: nobody follows it",
            l->command);
    set_preload(l->preload);
    const char *pattern = pattern_of(l, getpid(), text);
    set_file_setting(pattern);
    set_setting(SETTING_ROOM, wants_room(l, pattern) ? "1" : "0");
    snprintf(text, sizeof text, "%lld", (long long)getpid());
    set_setting(SETTING_PROCESS, text);
    set_setting(SETTING_RESCUE, l->rescue.name);
    set_setting(SETTING_HANDOVER, l->children.name);
    if (l->options->rate > 0) {
        snprintf(text, sizeof text, "%.15g", l->options->rate);
        set_setting(SETTING_RATE, text);
    } else if (!is_set(SETTING_RATE)) {
        set_setting(SETTING_RATE, setting_infos[SETTING_RATE].value); /* for other recorders */
    }
    if (l->options->depth != DEPTH_UNSET) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)l->options->depth);
        set_setting(SETTING_DEPTH, text);
    }
    if (l->options->native || l->options->no_ocaml)
        set_setting(SETTING_OCAML, l->options->no_ocaml ? "malloc" : "both");
    if (l->ring.on) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)ring_spool_space(&l->ring));
        set_setting(SETTING_SPACE, text);
    }
    if (l->options->mmap)
        set_setting(SETTING_MMAP, "1");
    if (l->options->context)
        set_setting(SETTING_CONTEXT, l->options->context);
}

/* Files opened here must not get the numbers of closed standard streams, or messages would be
 * written into them. The program still finds these streams closed. */
static void occupy_standard_streams(void) {
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    file_close(fd);
}

static bool records_mapped(const run_options *given) {
    const char *set = value_of(SETTING_MMAP);
    return given->mmap || (set && strcmp(set, "1") == 0);
}

static uint64_t go_period(const run_options *given) {
    return run_go_period(rate_asked(given));
}

/* Reports how a static or Go program is recorded, or why it is not. */
static void say_entered(const launch *l, const run_program *program) {
    if (l->entry.go && !program->has_ended)
        run_go_say_followed(&l->go, program->go, go_period(l->options), &l->go_case);
    if (!l->entry.library)
        return;
    if (!l->entry.is_entered || !l->options->quiet)
        run_check_say_entered(l->command, l->entry.is_entered, l->entry.outcome.text);
    if (l->entry.is_entered && records_mapped(l->options))
        message_warning("%s: it is statically linked, so what it maps is not recorded: --mmap has "
                        "no effect on it",
                        l->command);
}

/* ---- afterwards -------------------------------------------------------------------------- */

static bool interrupted(void *context) {
    return run_program_interrupted(context);
}

static void say_why_nothing(const char *pattern) {
    struct stat status;
    if (stat(pattern, &status) == 0 && !S_ISREG(status.st_mode))
        message_warning(
            "%s is not a regular file; the trace written there contains addresses instead of names",
            pattern);
    else
        message_warning("nothing was recorded: the recorder was not loaded, or could not write; it "
                        "is not loaded into programs started with an empty environment");
}

/* Makes the -o name that would give each process a trace of its own. */
static void name_for_each(const launch *l, char *name, size_t size) {
    if (!l->pattern) {
        snprintf(name, size, "%s.%%p.ctf", path_base(l->command));
        return;
    }
    const char *last = path_base(l->pattern), *end = strstr(last, ".ctf");
    int before = (int)(end ? end - l->pattern : (ssize_t)strlen(l->pattern));
    snprintf(name, size, "%.*s.%%p%s", before, l->pattern, l->pattern + before);
}

static const char *counted_twice(const run_options *given) {
    const char *set = value_of(SETTING_OCAML);
    const bool both = !given->no_ocaml && (given->native || (set && strcmp(set, "both") == 0));
    return both ? "memory that the OCaml runtime takes from malloc for its heap and bigarrays "
                  "counts twice: as malloc, and as OCaml allocations"
                : NULL;
}

static void say_left_to_program(const char *name) {
    message_warning(
        "%s was not written: the program records itself, but did not do so this time; a program "
        "linked with Memtrace does so when it calls Memtrace.trace_if_requested",
        name);
}

enum { PATIENCE = 20 /* times 5 ms, for a child that holds its parent's lock */ };

/* Adds unwritten events to the trace of the program. If it was killed, also notes when it ended,
 * which other programs record in their last gauges. Returns the remaining patience. */
static unsigned complete_killed(launch *l, const run_program *program, const char *pattern) {
    unsigned patience = PATIENCE;
    const uint64_t only = l->ring.run ? (uint64_t)program->pid : 0; /* children have keepers */
    pthread_mutex_lock(&l->rescue.lock);
    run_rescue_finish(l->rescue.fd, pattern, only, &patience);
    if (WIFSIGNALED(program->status))
        run_rescue_note_end(l->rescue.fd, pattern, (uint64_t)program->pid, l->begin.wall_us,
                            l->end);
    pthread_mutex_unlock(&l->rescue.lock);
    return patience;
}

/* Both sessions get one deadline, so that their last pushes are waited for together. */
static void finish_push(const launch *l, run_program *program) {
    const uint64_t end_ms = clock_monotonic_ms() + PUSH_END_MS;
    if (l->push.trace && l->push.go)
        push_hurry(l->push.go, end_ms);
    push_finish(l->push.trace, interrupted, program);
    push_finish(l->push.go, interrupted, program);
    family_finish(l->push.family, interrupted, program);
}

/* Reports that the program was killed, since its recording may be short. After Ctrl-C, users
 * know. */
static bool say_killed(const launch *l, const run_program *program) {
    const int sig = WIFSIGNALED(program->status) ? WTERMSIG(program->status) : 0;
    if (l->options->quiet || sig == 0 || sig == SIGINT)
        return false;
    message_note("%s was killed by signal %d (%s)", l->command, sig, strsignal(sig));
    return true;
}

static void finish(launch *l, run_program *program) {
    const bool killed = say_killed(l, program);
    char pattern[PATH_MAX], for_each[PATH_MAX];
    run_traces traces;
    const char *name = pattern_of(l, program->pid, pattern);
    name_for_each(l, for_each, sizeof for_each);
    unsigned patience = complete_killed(l, program, name);
    finish_push(l, program); /* before names are added to the trace, which may replace the file */
    run_traces_find(&traces, name, &(run_began){l->started, l->begin.wall_us}, l->rescue.fd,
                    &patience);
    traces.replaced = l->replaced;
    const uint64_t notes = run_rescue_hear(l->rescue.fd).notes;
    bool unfinished =
        traces.n_locked || (trace_name_is_per_process(name) && run_rescue_is_in_use(l->rescue.fd));
    run_traces_complete(&traces, l->options->no_symbolize ? NULL : &l->options->debug_files,
                        interrupted, program);
    if (run_program_interrupted(program))
        message_warning("interrupted: the trace is complete, but contains addresses instead of "
                        "names; to resolve them: allotrace symbolize %s",
                        traces.all.count == 1 ? traces.all.items[0].path : "FILE");
    else if (traces.all.count)
        run_summary_report(
            &traces, (run_summary_how){.quiet = l->options->quiet,
                                       .told = notes & RESCUE_TOLD,
                                       .killed = killed,
                                       .from_start = true,
                                       .counted_twice = counted_twice(l->options),
                                       .mapped = records_mapped(l->options),
                                       .n_silent = run_rescue_hear(l->rescue.fd).n_silent,
                                       .left_out = notes & RESCUE_LEFT_CHILD ? for_each : NULL});
    else if (!unfinished && notes & RESCUE_LEFT_TO_PROGRAM)
        say_left_to_program(name);
    else if (!unfinished && !(notes & RESCUE_TOLD) && !l->only_children &&
             (!l->entry.library || l->entry.is_entered))
        say_why_nothing(name);
    if (unfinished)
        run_traces_warn_unfinished(&traces, name);
    run_traces_warn_refused(run_rescue_hear(l->rescue.fd).n_refused, name);
    run_traces_free(&traces);
}

/* Names the trace of the program's own process. */
static bool own_trace(const launch *l, const run_program *program, char path[PATH_MAX]) {
    char pattern[PATH_MAX];
    return trace_name_for(pattern_of(l, program->pid, pattern), (uint64_t)program->pid, path,
                          PATH_MAX);
}

/* Names the trace to show: Go's, if it grows beside that of malloc. */
static bool shown_trace(const launch *l, const run_program *program, char path[PATH_MAX]) {
    char name[PATH_MAX];
    return own_trace(l, program, name) && run_go_name(name, l->preload && l->go.feed, path);
}

/* Completes the heap profile of a Go program. Only the program's own process is followed. */
static void finish_go(launch *l, const run_program *program) {
    char name[PATH_MAX];
    if (!l->preload && !l->ring.on)
        say_killed(l, program);
    if (!own_trace(l, program, name))
        name[0] = '\0';
    run_go_finish(&l->go, &command_run, program->go ? program->pid : 0, name, &l->go_case);
}

/* Says how many child processes left no trace. */
static void say_silent(const launch *l) {
    const uint64_t n = l->ring.run && l->preload ? run_rescue_hear(l->rescue.fd).n_silent : 0;
    if (n)
        message_note("%llu more program%s had no samples and left no trace", (unsigned long long)n,
                     n == 1 ? "" : "s");
}

static void say_left_out(const launch *l) {
    const uint64_t notes = run_rescue_hear(l->rescue.fd).notes;
    if (notes & RESCUE_LEFT_CHILD && !(notes & RESCUE_TOLD))
        message_note("child processes were not recorded; to record each, use -o %s/%%p",
                     l->ring.folder);
}

/* Completes a ring: waits for its segments, symbolizes them, and says where they are. */
static void finish_ring(launch *l, run_program *program, keeper *keeps) {
    char pattern[PATH_MAX];
    keepers_left left = {0};
    say_killed(l, program);
    if (l->preload)
        complete_killed(l, program, pattern_of(l, program->pid, pattern));
    if (!l->ring.run)
        finish_push(l, program); /* the keeper waits for the pusher */
    bool kept = keeper_finish(keeps, l->end);
    if (l->ring.run) {
        kept &= keepers_finish(&l->keepers, &l->ring, &left);
        finish_push(l, program); /* the spools of all processes that have ended are complete */
        ring_push_end(&l->ring);
    }
    if (!kept)
        keeper_spools_remove_abandoned(&l->ring, program->pid);
    const ring_made made = ring_complete(
        &l->ring, (uint64_t)program->pid, (uint64_t)l->started.tv_sec,
        l->options->no_symbolize ? NULL : &l->options->debug_files, interrupted, program);
    if (made.n_segments > 0 && !l->options->quiet) {
        say_silent(l);
        ring_report(&l->ring, &made);
        say_left_out(l);
    } else if (made.n_segments == 0 && kept && !left.n_recording && !left.n_silent && l->preload &&
               !(run_rescue_hear(l->rescue.fd).notes & RESCUE_TOLD))
        say_why_nothing(pattern_of(l, program->pid, pattern));
    keepers_say_left(&left, &l->ring);
}

/* ---- the viewer -------------------------------------------------------------------------- */

/* Returns whether the program is recorded: by a recorder in it, or by reading Go's heap profile. */
static bool is_recorded(const launch *l) {
    return l->preload || l->entry.go;
}

/* Shows the trace of the program, whose name is stored in `path`. Returns NULL after an error. */
static view_session *start_view(const launch *l, const run_program *program, char path[PATH_MAX]) {
    int status;
    if (!shown_trace(l, program, path))
        return NULL;
    char *const paths[] = {path};
    view_session *s = view_session_start(paths, 1, &(view_session_options){.wait = true}, &status);
    if (s)
        message_hint("view: %s", view_session_address(s));
    return s;
}

static void end_view(view_session *s) {
    if (!s)
        return;
    message_hint("the viewer keeps running; press Ctrl-C to stop");
    view_session_wait();
    view_session_stop(s);
}

/* ---- pushing -------------------------------------------------------------------------------- */

/* Adds the unwritten events of a process of the pushed family that has ended. */
static void complete_member(void *context, uint64_t pid) {
    launch *l = context;
    pthread_mutex_lock(&l->rescue.lock);
    run_rescue_finish_one(l->rescue.fd, l->push.members.pattern, pid);
    pthread_mutex_unlock(&l->rescue.lock);
}

/* Pushes the trace of the program's own process, or, if each process is recorded, all traces. */
static void start_push(launch *l, const run_program *program, push_position *position,
                       char room[PATH_MAX]) {
    const push_flags *flags = &l->options->push;
    const bool quiet = l->options->quiet;
    pushing *p = &l->push;
    if (!flags->urls || !is_recorded(l))
        return;
    const char *pattern = pattern_of(l, program->pid, room);
    if (l->ring.run) {
        p->members =
            (family_options){.push.since = l->started, .source = ring_push_source(&l->ring)};
        if (l->ring.push_ends[0])
            p->family = push_flags_start_family(flags, &p->members, quiet);
        if (!p->family)
            ring_push_end(&l->ring);
    } else if (trace_name_is_per_process(pattern)) {
        p->members = (family_options){.push.since = l->started,
                                      .pattern = pattern,
                                      .complete = complete_member,
                                      .context = l};
        p->family = push_flags_start_family(flags, &p->members, quiet);
    } else if (trace_name_for(pattern, (uint64_t)program->pid, p->trace_path, PATH_MAX)) {
        p->trace = push_flags_start(flags, p->trace_path, l->started, 0, position, quiet);
        if (l->entry.go && l->preload && run_go_name(p->trace_path, true, p->go_path))
            p->go = push_flags_start(flags, p->go_path, l->started, 0, NULL, quiet);
    }
}

/* ---- the live table ---------------------------------------------------------------------- */

/* Returns NULL after reporting why there is no table. */
static top_session *start_live(const launch *l, const run_program *program, char path[PATH_MAX],
                               const top_options *how, top_output *held) {
    int status;
    if (!shown_trace(l, program, path))
        return NULL;
    return top_start(path, true, how, held, &status);
}

/* If no recorder was preloaded, there is only Go's heap profile, which finish_go completes. */
static void finish_trace(launch *l, run_program *program) {
    if (l->preload)
        finish(l, program);
    else
        finish_push(l, program);
}

/* Messages about the recording are printed at once if the user has left the table, otherwise when
 * the user leaves it. If Ctrl-C ended the program, it ends the table, too. */
static void finish_live(top_session *s, top_output *held, launch *l, run_program *program) {
    if (s)
        top_program_ended(s);
    const bool left = s && top_is_over(s);
    if (left)
        top_stop(s);
    finish_trace(l, program);
    if (s && !left && !(WIFSIGNALED(program->status) && WTERMSIG(program->status) == SIGINT))
        top_wait(s);
    if (!left)
        top_stop(s);
    top_output_end(held);
}

/* ---- the command ------------------------------------------------------------------------- */

static int refuse_start(const char *program, int error) {
    if (error == ENOENT && !strchr(program, '/'))
        message_error("%s: command not found", program);
    else
        message_error("%s: %s", program, strerror(error));
    return error == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_EXECUTE;
}

/* Checks that the trace can be written. Otherwise, an earlier one could be mistaken for it. */
static bool check_output(launch *l) {
    char room[PATH_MAX];
    const char *pattern = pattern_of(l, getpid(), room);
    const int error = l->ring.on ? 0 : run_traces_check_output(pattern, getpid());
    l->replaced = run_traces_replaces(pattern);
    if (error)
        message_error("%s: the trace cannot be written: %s; %s was not started", pattern,
                      strerror(error), l->command);
    return !error;
}

static int check_options(const run_options *o) {
    if (o->depth != DEPTH_UNSET && (o->depth < 1 || o->depth > SETTING_MAX_DEPTH))
        return message_usage(&command_run, "--depth must be from 1 to %d", SETTING_MAX_DEPTH);
    if (o->output && !trace_name_is_pattern(o->output))
        return message_usage(&command_run,
                             "--output: `%s` is not a valid trace name: each %% must be followed "
                             "by p (the process id) or %%",
                             o->output);
    if (!push_flags_check(&o->push))
        return STATUS_USAGE;
    if ((o->view || o->live) && (o->ring.keep || o->ring.max_size))
        return message_usage(&command_run,
                             "--keep cannot be combined with --view or --live, which read one "
                             "trace; open the folder afterwards");
    return ring_options_check(&command_run, &o->ring, o->rate);
}

/* A Go program without C loads no recorder, but its child processes may, or are followed. */
static bool records_only_children(const launch *l, char preload[PATH_MAX]) {
    return !l->preload && l->entry.go && l->pattern && trace_name_is_per_process(l->pattern) &&
           *preload && preload_file_make_nameable(preload);
}

/* A ring holds one trace of a process. For a Go program with C, that is Go's heap, because most
 * such programs use C only to look up host names, and take next to nothing from malloc. */
static bool keeps_go(const launch *l) {
    return l->ring.on && l->go.program.layout && !l->has_children && !l->options->native;
}

/* Decides how to record the program, if that is possible. Returns false if it must not start. */
static bool prepare(launch *l, char preload[PATH_MAX], char entering[PATH_MAX]) {
    const char *set_name = value_of(SETTING_FILE);
    if (!l->pattern && set_name && *set_name)
        l->pattern = set_name;
    if (!preload_file_find(preload))
        preload[0] = '\0';
    if (!*preload || !preload_file_find_static(preload, l->static_library))
        l->static_library[0] = '\0';
    const bool is_recordable = run_check_recordable(l->command, preload, entering, &l->go.program);
    if (is_recordable && !keeps_go(l))
        l->preload = preload;
    l->go_case = (run_go_case){.command = l->command,
                               .with_malloc = l->preload,
                               .quiet = l->options->quiet,
                               .space = l->ring.on ? ring_spool_space(&l->ring) : 0};
    l->entry.go = l->go.program.layout && !(l->ring.on && l->preload) ? &l->go : NULL;
    if (l->ring.on && l->go.program.layout && is_recordable && !l->options->native)
        run_go_say_ring(&l->go_case);
    l->only_children = records_only_children(l, preload);
    if (l->only_children)
        l->preload = preload;
    l->go.period = go_period(l->options);
    l->entry.library = l->preload && *entering ? entering : NULL;
    return (!l->preload && !l->entry.go) || check_output(l);
}

/* Makes the memory in which events of a killed program survive. */
static void share_memory(launch *l) {
    l->rescue.fd = l->preload ? run_rescue_open() : -1;
    struct rescue_head *head = l->ring.overhead > 0 ? run_rescue_share(l->rescue.fd) : NULL;
    if (!head)
        return;
    atomic_store(&head->pace.follows, 1);
    munmap(head, sizeof *head); /* mappings count as use: run_rescue_is_in_use */
}

/* Names the trace of a process that becomes a static or a Go program. */
static bool name_of_child(const void *context, pid_t program, pid_t pid, char path[PATH_MAX]) {
    const launch *l = context;
    char room[PATH_MAX];
    const char *pattern = pattern_of(l, program, room);
    return (pid == program || l->has_children || trace_name_is_per_process(pattern)) &&
           trace_name_for(pattern, (uint64_t)pid, path, PATH_MAX);
}

/* The period at which Go's heap profile is read, see run_go_watch. */
static uint64_t watch_us(const run_options *o) {
    return !o->push.urls ? 0 : o->push.every ? o->push.every : PUSH_EVERY_US;
}

/* Starts a growing trace of Go's heap if somebody reads it while the program runs. */
static void watch_go(launch *l, const run_program *program) {
    const run_options *o = l->options;
    const bool is_read = o->push.urls || o->view || o->live || l->ring.on;
    char name[PATH_MAX];
    if (program->go && is_read && own_trace(l, program, name))
        run_go_begin_watch(&l->go, program->pid, name, watch_us(o), &l->go_case);
}

static void start_children(launch *l) {
    static launch context;
    const run_options *given = l->options;
    const run_children_how how = {.command = &command_run,
                                  .library = *l->static_library ? l->static_library : NULL,
                                  .space = l->ring.on ? ring_spool_space(&l->ring) : 0,
                                  .has_each = l->pattern && trace_name_is_per_process(l->pattern),
                                  .go_period = go_period(given),
                                  .quiet = given->quiet,
                                  .is_shown = given->view || given->live,
                                  .is_watched = l->ring.on || given->push.urls,
                                  .every_us = watch_us(given),
                                  .name = name_of_child,
                                  .context = &context};
    context = *l;
    context.command = strdup(l->command);
    context.pattern = l->pattern ? strdup(l->pattern) : NULL;
    if (l->preload && context.command && !context.pattern == !l->pattern)
        run_children_start(&l->children, &how);
}

/* Starts the helpers that must exist before the program does. */
static bool start_sharing(launch *l) {
    share_memory(l);
    if (l->has_children && l->preload && l->options->push.urls && !ring_push_begin(&l->ring))
        message_warning("--push: nothing is pushed: %s", strerror(errno));
    if (l->has_children && l->preload && !keepers_start(&l->keepers, &l->ring, l->rescue.fd))
        return false;
    if (l->rescue.fd >= 0)
        run_rescue_name(l->rescue.fd, l->keepers.pid > 0 ? l->keepers.pid : getpid(),
                        l->rescue.name, sizeof l->rescue.name);
    return true;
}

/* Waits for the program and for whatever reads its trace, then completes the recording. */
static int accompany(launch *l, run_program *program, bool live, const top_options *how,
                     top_output *held) {
    const run_options *opts = l->options;
    char path[PATH_MAX], push_pattern[PATH_MAX];
    keeper keeps = {.pid = -1, .fd = -1};
    run_children_left children;
    if (l->keepers.pid > 0)
        keepers_leave_out(&l->keepers, program->pid);
    if (l->ring.on && is_recorded(l))
        keeper_start(&keeps, &l->ring, program->pid, l->rescue.fd, opts->push.urls && !l->ring.run);
    signal(SIGPIPE, SIG_IGN); /* write errors are handled at each write, as in other commands */
    signal(SIGXFSZ, SIG_IGN);
    if (l->entry.go)
        watch_go(l, program);
    view_session *view = opts->view && is_recorded(l) ? start_view(l, program, path) : NULL;
    start_push(l, program, keeps.position, push_pattern);
    top_session *table = live && held->file >= 0 ? start_live(l, program, path, how, held) : NULL;
    run_program_wait(program);
    l->end = clock_anchored_us(l->begin, clock_monotonic_us());
    if (l->entry.go)
        run_go_close(&l->go);
    run_children_finish(&l->children, &children);
    if (live)
        finish_live(table, held, l, program);
    else if (l->ring.on && is_recorded(l))
        finish_ring(l, program, &keeps);
    else
        finish_trace(l, program);
    file_close(l->rescue.fd);
    if (l->entry.go)
        finish_go(l, program);
    run_children_say(&children, pattern_of(l, program->pid, path), opts->quiet);
    end_view(view);
    return run_program_end(program);
}

static int start(launch *l, char **operands) {
    const bool live = l->options->live && is_recorded(l);
    const top_options how = {.order = ACTIVITY_BY_LIVE,
                             .color = color_wanted(COLOR_AUTO),
                             .on_leave = "the program continues; its output appears here"};
    top_output held = {.file = -1};
    run_program program;
    if (live && top_check("--live") != STATUS_OK)
        return STATUS_FAILED;
    if (l->ring.on && is_recorded(l))
        keeper_spools_remove_abandoned(&l->ring, 0);
    if (!start_sharing(l))
        return STATUS_FAILED;
    start_children(l); /* after the keepers, since it needs to know where the ring is */
    if (l->only_children && l->children.pid > 0)
        l->entry.go = NULL; /* `children` follows the program as it follows child processes */
    l->started = clock_now(CLOCK_REALTIME_COARSE);
    l->begin = clock_anchor_now();
    if (live && !top_output_begin(&held, true))
        message_warning("--live: cannot create a temporary file for the program's output");
    if (!run_program_start(&program, operands, set_environment, l, &l->entry)) {
        top_output_end(&held);
        if (l->keepers.pid > 0)
            keepers_leave_out(&l->keepers, 0);
        run_children_tell(&l->children, 0);
        return refuse_start(l->command, program.exec_error);
    }
    run_children_tell(&l->children, program.pid);
    say_entered(l, &program);
    return accompany(l, &program, live, &how, &held);
}

static int run(const void *opts_, char **operands) {
    const run_options *opts = opts_;
    char preload[PATH_MAX] = "", entering[PATH_MAX] = "", folder[PATH_MAX];
    const char *name = opts->output;
    launch l = {.options = opts,
                .command = operands[0],
                .pattern = opts->output,
                .go.memory = -1,
                .keepers = {.pid = -1, .fd = -1},
                .children = {.pid = -1, .fd = -1},
                .rescue = {.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER}};
    int status = check_options(opts);
    if (status == STATUS_OK)
        status = ring_options_children(&command_run, &opts->ring, &name, folder, &l.has_children);
    if (status == STATUS_OK)
        status = ring_plan_make(&l.ring, &command_run, &opts->ring, name, l.command);
    if (status != STATUS_OK)
        return status;
    occupy_standard_streams();
    return prepare(&l, preload, entering) ? start(&l, operands) : STATUS_FAILED;
}

const command command_run = {
    .name = "run",
    .group = GROUP_RECORD,
    .operand = OPERAND_PROGRAM,
    .usage = "-- PROGRAM [ARGUMENTS…]",
    .summary = "record a program's allocations",
    .description = "Runs a program and records a random sample of its allocations with their call "
                   "stacks. The program can be written in C, C++, Rust or anything else that calls "
                   "malloc, and need not be rebuilt. Call stacks name functions; with debug "
                   "information (-g), also files, lines and inlined functions. For OCaml programs "
                   "(native code; 4.11 to 4.14, 5.3 and later), the OCaml heap is recorded.\n"
                   "\n"
                   "The program's streams, terminal, signals and exit status are unchanged. When "
                   "it ends, run prints a summary of at most six lines to standard error. "
                   "Setuid programs, and static ones without symbols, are not recorded.",
    .example = "allotrace run --view -- ./server\n"
               "allotrace run -o 'make.%p.ctf' --rate 1e-4 -- make -j4\n",
    .statuses = "  that of the program; if a signal ended it, run ends by the same signal\n"
                "  1    the trace cannot be written to FILE; the program was not started\n"
                "  2    wrong usage\n"
                "  126  the program cannot be executed; 127: there is no such program\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};
