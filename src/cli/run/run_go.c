/* run_go.c: decides when the memory of a Go program is read, and writes the resulting trace. For a
 * program that `run` starts, it is read once, when the program ends, in whatever way; for a running
 * process, once, at once. A feed (run_go_feed.h) reads it repeatedly. */
#include "cli/run/run_go.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/follow.h"
#include "attach/process.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/shell.h"
#include "cli/message.h"
#include "cli/result_file.h"
#include "contract/trace_name.h"
#include "platform/clock.h"
#include "query/figure.h"

/* ---- the process --------------------------------------------------------------------------- */

/* Returns how long the process has been running, in microseconds; 0: unknown. */
static uint64_t age_of(pid_t pid) {
    const uint64_t began = proc_stat_us((uint64_t)pid, PROC_STARTTIME);
    const uint64_t us = clock_us(CLOCK_BOOTTIME);
    return began && us > began ? us - began : 0;
}

/* Opens the memory of the process, and finds the runtime's variables in it. */
static bool open_process(run_go *g, pid_t pid) {
    import_error error = {.reason = "not enough memory"};
    const uint64_t entry = process_auxv(pid, AT_ENTRY);
    g->memory = proc_open((uint64_t)pid, "mem", O_RDWR);
    if (!entry || g->memory < 0)
        return remote_refuse(&g->why, "its memory cannot be read: %s",
                             strerror(errno ? errno : EIO));
    go_program_move(&g->program, entry);
    if (go_program_locate(&g->program, g->memory, &error))
        return true;
    return remote_refuse(&g->why, "%s", error.reason);
}

static void take_profile(run_go *g) {
    import_error error = {.reason = "not enough memory"};
    if (!go_heap_import(&g->profile, &g->heap, &g->program, g->memory, &error))
        remote_refuse(&g->why, "%s", error.reason);
    else
        g->is_read = true;
    go_heap_free(&g->heap);
}

/* ---- a program from its start --------------------------------------------------------------- */

bool run_go_prepare(run_go *g, pid_t pid) {
    import_error error;
    const struct clock_anchor now = clock_anchor_now();
    g->began = now.monotonic_us;
    g->profile.start_time = now.wall_us;
    if (!open_process(g, pid))
        return false;
    if (go_program_enable(&g->program, g->memory, &g->period, &error))
        return true;
    return remote_refuse(&g->why, "%s", error.reason);
}

bool run_go_follow(run_go *g, pid_t pid) {
    return follow_begin(pid) ||
           remote_refuse(&g->why, "it cannot be followed: %s", strerror(ESRCH));
}

/* Returns whether there is a growing trace. */
static bool has_watched(const run_go *g) {
    return g->feed && run_go_feed_trace(g->feed);
}

/* The process is about to end: reads the profile that it leaves. */
void run_go_end(run_go *g, pid_t pid) {
    import_error error;
    follow_await_others(pid);
    g->profile.duration = clock_monotonic_us() - g->began;
    const bool is_read =
        go_heap_read(&g->heap, &g->program, g->memory, GO_HEAP_OVER, &error) == GO_HEAP_READ;
    if (g->feed)
        run_go_feed_stop(g->feed, is_read ? &g->heap : NULL);
    if (is_read && has_watched(g))
        g->is_read = true;
    else if (is_read)
        take_profile(g);
    else
        remote_refuse(&g->why, "%s", error.reason);
    follow_let_go(pid);
}

bool run_go_take(run_go *g, pid_t pid, int status) {
    switch (follow_take(pid, status)) {
    case FOLLOW_STOPPED:
        return true;
    case FOLLOW_ENDS:
        run_go_end(g, pid);
        break;
    case FOLLOW_BECAME:
        g->has_become = true;
        run_go_close(g); /* the new program may write a trace of the same name */
        break;
    case FOLLOW_NONE:
        break;
    }
    return false;
}

/* ---- a running process ----------------------------------------------------------------------- */

go_kind run_go_find(run_go *g, pid_t pid, import_error *error) {
    const int file = proc_open((uint64_t)pid, "exe", O_RDONLY);
    const go_kind kind = file >= 0 ? go_program_find(&g->program, file, error) : GO_NONE;
    file_close(file);
    return kind;
}

static const char switched_off[] =
    "its sampling is switched off, as its linker does where nothing in the program uses "
    "runtime.MemProfile; start it by `allotrace run`";

/* If the runtime is changing the profile, lets the process run for a moment, and tries again. */
static bool read_running(run_go *g, pid_t pid) {
    enum { PATIENCE = 200, PAUSE = 1000000 /* ns */ };
    go_heap_status status = GO_HEAP_BUSY;
    import_error error;
    for (int i = 0; i < PATIENCE && status == GO_HEAP_BUSY; i++) {
        follow_halt halt;
        if (!follow_stop(&halt, pid, 0, &g->why))
            return false;
        status = go_heap_read(&g->heap, &g->program, g->memory, GO_HEAP_STANDS, &error);
        follow_resume(&halt);
        if (status == GO_HEAP_BUSY)
            nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
    }
    if (status == GO_HEAP_FAILED)
        remote_refuse(&g->why, "%s", error.reason);
    else if (status == GO_HEAP_BUSY)
        remote_refuse(&g->why, "its profile is being changed all the time");
    return status == GO_HEAP_READ;
}

bool run_go_open(run_go *g, pid_t pid) {
    uint64_t period = 0;
    if (!open_process(g, pid))
        return false;
    if (file_read_at(g->memory, &period, sizeof period, g->program.at[GO_RATE]) == 0 && period > 0)
        return true;
    return remote_refuse(&g->why, "%s", switched_off);
}

bool run_go_snapshot(run_go *g, pid_t pid) {
    g->profile.duration = age_of(pid);
    g->profile.start_time = clock_wall_us() - g->profile.duration;
    if (!open_process(g, pid) || !read_running(g, pid))
        return false;
    if (g->heap.period == 0)
        remote_refuse(&g->why, "%s", switched_off);
    else
        take_profile(g);
    return g->is_read;
}

/* ---- the trace ----------------------------------------------------------------------------- */

/* Prints the summary. The next line is the command that shows what is live, which many users look
 * for first. */
static void sum_up(const go_heap *h, const char *path, size_t n_stacks, double all, double live) {
    char since[128] = "";
    if (h->since > 0)
        snprintf(since, sizeof since, ", after which %s was allocated",
                 figure_bytes(h->since).text);
    message_note("%s: %zu stacks, %s allocated, %s of it live %s%s", path, n_stacks,
                 figure_bytes(all).text, figure_bytes(live).text,
                 h->is_collected ? "after the last garbage collection"
                                 : "(there was no garbage collection)",
                 since);
}

static void say_live(const char *path) {
    char *word = shell_word(path);
    message_note("what is live: allotrace tree --measure live %s", word ? word : path);
    free(word);
}

static void sum_up_profile(const run_go *g, const char *path, double rate) {
    double live = 0, all = 0;
    for (size_t i = 0; i < g->profile.records.count; i++) {
        live += (double)g->profile.records.items[i].live_bytes;
        all += (double)g->profile.records.items[i].bytes;
    }
    sum_up(&g->heap, path, g->profile.records.count, all, live);
    const double word_size = sizeof(uint64_t), period = (double)g->heap.period;
    if (rate < (period > word_size ? word_size / period : 1))
        message_note("%s: it holds a sample, at rate %s, because there are too many blocks", path,
                     figure_rate(rate).text);
    say_live(path);
}

int run_go_write(run_go *g, const command *cmd, pid_t pid, const char *program, const char *path,
                 bool quiet) {
    result_file out;
    memtrace_error error;
    double rate;
    g->profile.program = program;
    g->profile.pid = (uint64_t)pid;
    run_go_feed_keep_earlier(pid, path);
    int status = result_file_begin(&out, cmd, path, true);
    if (status != STATUS_OK)
        return status;
    if (import_write(&g->profile, out.fd, compression_of(out.path), &rate, &error) != MEMTRACE_OK)
        status = result_file_say(&out, &error);
    status = result_file_end(&out, status);
    if (status == STATUS_OK && !quiet)
        sum_up_profile(g, path, rate);
    return status;
}

void run_go_free(run_go *g) {
    run_go_feed_free(g->feed);
    g->feed = NULL;
    go_heap_free(&g->heap);
    import_free(&g->profile);
    file_close(g->memory);
    g->memory = -1;
}

/* ---- a program whose trace is read while it runs --------------------------------------------- */

bool run_go_watch(run_go *g, const run_go_feed_how *how) {
    g->feed = run_go_feed_start(how, &g->program, g->memory);
    if (!g->feed)
        message_warning("%s: Go's profile is not read while the program runs: %s", how->path,
                        strerror(errno));
    return g->feed;
}

void run_go_close(run_go *g) {
    if (!g->feed)
        return;
    run_go_feed_stop(g->feed, NULL);
    run_go_feed_end(g->feed);
}

bool run_go_has_watched(const run_go *g, const char *path) {
    if (!has_watched(g))
        message_error("%s: nothing is recorded: %s", path, run_go_feed_why_not(g->feed));
    return has_watched(g);
}

int run_go_write_watched(run_go *g, const char *path, bool quiet) {
    memtrace_error error = {.status = MEMTRACE_OK};
    double all, live;
    run_go_close(g);
    int os_error = run_go_feed_end(g->feed);
    const go_trace *t = run_go_feed_trace(g->feed);
    if (!os_error && !run_go_has_watched(g, path))
        return STATUS_FAILED;
    if (!os_error && compressor_by_name(path, &error) != MEMTRACE_OK)
        os_error = error.os_error ? error.os_error : EIO;
    if (os_error)
        return message_error("%s: the trace could not be written: %s", path, strerror(os_error));
    if (quiet)
        return STATUS_OK;
    go_trace_sums(t, &all, &live);
    sum_up(g->is_read ? &g->heap : run_go_feed_heap(g->feed), path, t->buckets.count, all, live);
    say_live(path);
    return STATUS_OK;
}

/* ---- of a program that `run` starts ------------------------------------------------------ */

uint64_t run_go_period(double rate) {
    const double bytes = rate >= 1 ? 1 : rate > 0 ? (double)sizeof(uint64_t) / rate : 0;
    return bytes > (double)INT64_MAX / 2 ? INT64_MAX / 2 : (uint64_t)(bytes + 0.5);
}

void run_go_say_ring(const run_go_case *c) {
    if (c->with_malloc)
        message_warning("%s is a Go program with C; what C takes from malloc is kept, not Go's own "
                        "heap",
                        c->command);
    else if (!c->quiet)
        message_note("%s is a Go program with C; Go's own heap is kept; to keep what C takes from "
                     "malloc instead: --native",
                     c->command);
}

void run_go_say_followed(const run_go *g, bool is_followed, uint64_t asked, const run_go_case *c) {
    const char *beside = c->with_malloc ? ", and malloc" : "";
    if (!is_followed) {
        message_warning("%s: it is a Go program, and Go's own heap is not recorded: %s", c->command,
                        g->why.text);
        return;
    }
    if (!c->quiet && g->period == 1)
        message_note("%s is a Go program (%s): recording Go's heap profile, every block%s",
                     c->command, g->program.version, beside);
    else if (!c->quiet)
        message_note("%s is a Go program (%s): recording Go's heap profile, a sample every %s%s",
                     c->command, g->program.version, figure_bytes((double)g->period).text, beside);
    if (asked && g->period != asked)
        message_warning("--rate has no effect on Go %s, which sets its own when it starts",
                        g->program.version);
    if (c->is_shown && c->with_malloc)
        message_warning("--view and --live show what C takes from malloc; Go's own heap is in the "
                        "trace beside that");
}

bool run_go_name(const char *name, bool is_beside, char path[PATH_MAX]) {
    if (is_beside)
        return *name && trace_name_beside(name, path, PATH_MAX);
    return *name && snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
}

void run_go_begin_watch(run_go *g, pid_t pid, const char *name, uint64_t every_us,
                        const run_go_case *c) {
    char path[PATH_MAX];
    if (run_go_name(name, c->with_malloc, path))
        run_go_watch(g, &(run_go_feed_how){.path = path,
                                           .program = c->command,
                                           .pid = pid,
                                           .start_time = g->profile.start_time,
                                           .every_us = every_us,
                                           .space = c->space});
}

static void say_lost(const run_go *g, const run_go_case *c) {
    message_warning("%s: Go's profile was %s: %s", c->command,
                    has_watched(g) ? "recorded up to its last reading" : "not recorded",
                    g->has_become  ? "the program became another one by exec"
                    : *g->why.text ? g->why.text
                                   : "it was gone at once");
}

void run_go_finish(run_go *g, const command *cmd, pid_t pid, const char *name,
                   const run_go_case *c) {
    char path[PATH_MAX];
    if (pid && (*g->why.text || g->has_become || (!g->is_read && !g->feed)))
        say_lost(g, c);
    if (pid && run_go_name(name, c->with_malloc, path)) {
        if (has_watched(g))
            run_go_write_watched(g, path, c->quiet || c->space);
        else if (g->is_read)
            run_go_write(g, cmd, pid, c->command, path, c->quiet);
    }
    run_go_free(g);
}
