/* run_go_feed.c: the thread that reads the profile, and the trace file. */
#include "cli/run/run_go_feed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/proc.h"
#include "cli/signals.h"
#include "contract/trace_name.h"
#include "platform/clock.h"

enum {
    LEAST_MS = 100,
    MOST_MS = 1000,
    SHARE = 50 /* a reading uses at most 1/50 of a processor */
};

struct run_go_feed {
    go_program program;
    pid_t pid;
    int memory, fd; /* -1: the trace has not begun, or has ended */
    char *path, *name;
    uint64_t period_ms, space;
    struct clock_anchor begin;
    bool reads_first;
    go_trace trace;
    go_heap heap, latest; /* `heap` is being read; `latest` is the last successful reading */
    import_error failure; /* of the last reading that failed */
    int os_error;

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool stops, is_stopped;
};

/* ---- the file ------------------------------------------------------------------------------ */

void run_go_feed_keep_earlier(pid_t pid, const char *path) {
    char head[MEMTRACE_FRONT_SIZE], name[PATH_MAX];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : -1;
    file_close(fd);
    if (n <= 0 || !memtrace_is_of_process(head, (size_t)n, (uint64_t)pid))
        return;
    for (unsigned i = 1; i <= TRACE_NAME_EARLIER_MAX; i++)
        if (!trace_name_earlier(path, i, name, sizeof name) ||
            renameat2(AT_FDCWD, path, AT_FDCWD, name, RENAME_NOREPLACE) == 0)
            return;
}

/* Creates and locks the file, like a recorder, before anything is in it. Only regular files are
 * supported: a pipe, for example, can be written only once, at the end. */
static bool open_file(run_go_feed *f) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat st;
    if (f->fd >= 0)
        return true;
    if (f->os_error)
        return false;
    run_go_feed_keep_earlier((pid_t)f->trace.tables.pid, f->path);
    f->fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (f->fd < 0 || fstat(f->fd, &st) != 0) {
        f->os_error = errno;
    } else if (!S_ISREG(st.st_mode)) {
        f->os_error = EINVAL;
    } else if (fcntl(f->fd, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES)) {
        f->os_error = EBUSY;
    } else if (ftruncate(f->fd, 0) != 0) {
        f->os_error = errno;
    }
    if (!f->os_error)
        return true;
    file_close(f->fd);
    f->fd = -1;
    return false;
}

/* ---- readings ------------------------------------------------------------------------------ */

static uint64_t now_us(const run_go_feed *f) {
    const uint64_t now = clock_anchored_us(f->begin, clock_monotonic_us());
    return now > f->trace.tables.start_time ? now - f->trace.tables.start_time : 0;
}

/* With from_now, blocks of the first reading were allocated before, so they are put at the start of
 * the trace. */
static uint64_t time_of_reading(const run_go_feed *f) {
    return f->trace.from_now && !f->trace.writer ? 0 : now_us(f);
}

static uint64_t rss_of(const run_go_feed *f) {
    char text[128];
    unsigned long long pages = 0;
    if (proc_read((uint64_t)f->pid, "statm", text, sizeof text) == 0 ||
        sscanf(text, "%*u %llu", &pages) != 1)
        return 0;
    return pages * (uint64_t)sysconf(_SC_PAGESIZE) / sizeof(uint64_t);
}

/* Returns whether the spool is full because its keeper is slow or gone. Then nothing is added: the
 * next reading includes what this one would add. */
static bool is_full(const run_go_feed *f) {
    enum { BLOCK = 512 };
    struct stat st;
    return f->space && fstat(f->fd, &st) == 0 && (uint64_t)st.st_blocks * BLOCK >= f->space;
}

static void put(run_go_feed *f, const go_heap *h, bool is_last) {
    const go_reading reading = {
        .heap = h, .time = time_of_reading(f), .rss = rss_of(f), .is_last = is_last};
    if (h->period > 0 && h->buckets.count > 0 && open_file(f) && !is_full(f))
        go_trace_add(&f->trace, f->fd, &reading, &f->program, f->memory, &f->failure);
}

/* A reading that fails, since the program is ending or in its exec, is ignored. */
static void read_once(run_go_feed *f) {
    if (go_heap_read(&f->heap, &f->program, f->memory, GO_HEAP_RUNS, &f->failure) != GO_HEAP_READ)
        return;
    const go_heap before = f->latest;
    f->latest = f->heap;
    f->heap = before;
    put(f, &f->latest, false);
}

/* Returns false if the thread must stop. */
static bool pause_for(run_go_feed *f, uint64_t ms) {
    const struct timespec until = clock_in_ms(ms);
    int error = 0;
    pthread_mutex_lock(&f->lock);
    while (!f->stops && !error)
        error = pthread_cond_clockwait(&f->change, &f->lock, CLOCK_MONOTONIC, &until);
    const bool goes_on = !f->stops;
    pthread_mutex_unlock(&f->lock);
    return goes_on;
}

static void *run(void *context) {
    run_go_feed *f = context;
    uint64_t pause = f->reads_first ? 0 : f->period_ms;
    while (pause_for(f, pause)) {
        const uint64_t began = clock_us(CLOCK_THREAD_CPUTIME_ID);
        read_once(f);
        const uint64_t least = SHARE * (clock_us(CLOCK_THREAD_CPUTIME_ID) - began) / 1000;
        pause = least > f->period_ms ? least : f->period_ms;
    }
    return NULL;
}

run_go_feed *run_go_feed_start(const run_go_feed_how *how, const go_program *p, int memory) {
    run_go_feed *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    const uint64_t every = how->every_us ? how->every_us / 1000 : MOST_MS;
    f->program = *p;
    f->memory = memory;
    f->pid = how->pid;
    f->space = how->space;
    f->fd = -1;
    f->path = strdup(how->path);
    f->name = strdup(how->program);
    f->period_ms = every < LEAST_MS ? LEAST_MS : every > MOST_MS ? MOST_MS : every;
    f->begin = clock_anchor_now();
    f->reads_first = how->from_now;
    f->trace.from_now = how->from_now;
    f->trace.is_cut = how->space > 0;
    f->trace.tables.pid = (uint64_t)(how->inner ? how->inner : how->pid);
    f->trace.tables.program = f->name;
    f->trace.tables.start_time = how->start_time;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->change, NULL);
    const int error = f->path && f->name ? signals_start_thread(&f->thread, run, f) : ENOMEM;
    if (!error)
        return f;
    f->is_stopped = true;
    run_go_feed_free(f);
    errno = error;
    return NULL;
}

/* ---- the end ------------------------------------------------------------------------------- */

void run_go_feed_stop(run_go_feed *f, const go_heap *last) {
    if (f->is_stopped)
        return;
    pthread_mutex_lock(&f->lock);
    f->stops = true;
    pthread_cond_signal(&f->change);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    f->is_stopped = true;
    if (!last)
        read_once(f);
    put(f, last ? last : &f->latest, true);
}

const go_trace *run_go_feed_trace(const run_go_feed *f) {
    return f->trace.rate > 0 ? &f->trace : NULL;
}

const char *run_go_feed_why_not(const run_go_feed *f) {
    return *f->failure.reason ? f->failure.reason : "its profile has nothing in it";
}

const go_heap *run_go_feed_heap(const run_go_feed *f) {
    return &f->latest;
}

int run_go_feed_end(run_go_feed *f) {
    if (f->fd < 0)
        return f->os_error;
    f->os_error = go_trace_end(&f->trace, now_us(f));
    if (!run_go_feed_trace(f))
        unlink(f->path);
    if (close(f->fd) != 0 && !f->os_error)
        f->os_error = errno;
    f->fd = -1;
    return f->os_error;
}

void run_go_feed_free(run_go_feed *f) {
    if (!f)
        return;
    run_go_feed_stop(f, NULL);
    if (f->fd >= 0)
        run_go_feed_end(f);
    go_trace_free(&f->trace);
    go_heap_free(&f->heap);
    go_heap_free(&f->latest);
    pthread_cond_destroy(&f->change);
    pthread_mutex_destroy(&f->lock);
    free(f->path);
    free(f->name);
    free(f);
}
