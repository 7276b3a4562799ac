/* view_trace.c: reads a trace for the viewer, and continues while the trace grows.
 *
 * Two threads read a large trace at the same time. The first pass reads it without blocks, which is
 * twice as fast and enough for the first picture. It shows the beginning at once, and then more
 * from time to time until it has read everything. The second pass reads it with blocks. If the
 * program is still running, the second pass waits at the end of the file for more, and publishes a
 * snapshot of the profile whenever there was more. A file that was replaced, or has grown after it
 * seemed complete, is read from its start again. */
#include "cli/view/view_trace.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path_rights.h"
#include "base/proc.h"
#include "cli/message.h"
#include "cli/profile_names.h"
#include "cli/progress.h"
#include "cli/run/symbolize_file.h"
#include "cli/trace_profile.h"
#include "platform/clock.h"

enum {
    LARGE = 8 << 20,     /* bytes: smaller traces are read in one pass */
    FIRST_MS = 50,       /* until the beginning of a large trace is shown */
    FIRST_NICE = 15,     /* lets the page and the browser run before the rest of the first pass */
    ALONE_MS = 1000,     /* the second pass waits for the first one at most this long */
    LOOK_MS = 200,       /* between checks of the file */
    CLOCK_SECONDS = 2,   /* possible difference between clocks */
    COPY_MS = 1000,      /* minimum between snapshots */
    COST_OF_COPIES = 10, /* minimum time between snapshots, as a multiple of what one takes */
};

static bool is_stopping(const view_trace *t) {
    return atomic_load(&t->stopping);
}

/* Called for each block; false ends reading. */
static bool goes_on(void *context, uint32_t node, const memtrace_event *event) {
    (void)node;
    (void)event;
    return !is_stopping(context);
}

/* Like is_stopping, for the first pass. It also ends if the second pass has finished before it, as
 * can happen on a busy machine, since only the first pass is niced. */
static bool is_over(const view_trace *t) {
    return is_stopping(t) || atomic_load(&t->has_whole);
}

static bool first_goes_on(void *context, uint32_t node, const memtrace_event *event) {
    (void)node;
    (void)event;
    return !is_over(context);
}

/* Waits a moment. Returns false if it is time to stop. */
static bool pause_a_moment(view_trace *t) {
    const struct timespec until = clock_in_ms(LOOK_MS);
    pthread_mutex_lock(&t->lock);
    if (!is_stopping(t))
        pthread_cond_clockwait(&t->change, &t->lock, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&t->lock);
    return !is_stopping(t);
}

/* ---- the file ---------------------------------------------------------------------------- */

static const char *path_of(const view_trace *t) {
    return t->viewer->traces[t->index].path;
}

static bool is_file(const view_trace *t) {
    struct stat st;
    return strcmp(path_of(t), "-") != 0 && stat(path_of(t), &st) == 0 && S_ISREG(st.st_mode);
}

static uint64_t changed_at(const struct stat *st) {
    return (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
}

/* A file that was removed while it is followed may still grow. */
static bool find_file(const view_trace *t, struct stat *st) {
    return stat(path_of(t), st) == 0 || (t->fd >= 0 && fstat(t->fd, st) == 0);
}

/* Remembers the state of the file that is about to be read. */
static void note_file(view_trace *t) {
    struct stat st = {0};
    if (strcmp(path_of(t), "-") != 0 && find_file(t, &st)) {
        t->device = st.st_dev;
        t->inode = st.st_ino;
        t->size = (uint64_t)st.st_size;
        t->changed = changed_at(&st);
        t->viewer->traces[t->index].size = S_ISREG(st.st_mode) ? t->size : 0;
    }
}

typedef enum file_change {
    FILE_SAME,
    FILE_GREW,
    FILE_TOUCHED, /* same size, but a later modification time */
    FILE_REPLACED,
} file_change;

static file_change look(const view_trace *t) {
    struct stat st;
    if (!find_file(t, &st))
        return FILE_SAME; /* removed: what was read remains */
    if (st.st_dev != t->device || st.st_ino != t->inode || (uint64_t)st.st_size < t->size)
        return FILE_REPLACED;
    if ((uint64_t)st.st_size > t->size)
        return FILE_GREW;
    return changed_at(&st) != t->changed ? FILE_TOUCHED : FILE_SAME;
}

/* Returns when a process of this machine started, in seconds since the epoch; 0: there is no such
 * process. */
static double process_began(uint64_t pid) {
    const uint64_t began = proc_stat_us(pid, PROC_STARTTIME);
    const uint64_t booted = clock_wall_us() - clock_us(CLOCK_BOOTTIME);
    return began ? (double)(booted + began) / 1e6 : 0;
}

/* Returns whether a recorder may still be writing. Our recorder leaves the end of the trace open
 * and holds a lock; traces of other recorders state nothing about their end. */
static bool is_recording(const view_trace *t, const memtrace_reader *reader) {
    const memtrace_ending how = memtrace_reader_end(reader).how;
    return how == MEMTRACE_END_UNSAID ||
           (how == MEMTRACE_END_OPEN &&
            (t->fd >= 0 ? file_is_locked(t->fd) : symbolize_file_is_recording(path_of(t))));
}

/* Returns whether the program that writes a trace is running on this machine. A process that
 * started after the trace has reused the id. */
static bool is_written(const view_trace *t, const memtrace_reader *reader) {
    const memtrace_info *info = memtrace_reader_info(reader);
    char host[256] = "";
    if (!is_recording(t, reader))
        return false;
    if (gethostname(host, sizeof host - 1) != 0 || strcmp(host, info->host_name) != 0)
        return false;
    double began = process_began(info->pid);
    return began > 0 && began <= (double)info->start_time / 1e6 + CLOCK_SECONDS;
}

/* ---- a growing trace ------------------------------------------------------------------------- */

/* A trace whose reader may wait for more. */
typedef struct following {
    view_trace *trace;
    memtrace_reader *reader;
    profile profile;
    symbolizer *names;  /* NULL: addresses are not resolved */
    uint64_t published; /* size of the file at the last snapshot */
    uint64_t copied_ms, cost_ms;
} following;

static bool naming_goes_on(void *context, size_t done, size_t all) {
    (void)done;
    (void)all;
    return !is_stopping(context);
}

/* Begins to resolve addresses, unless the trace belongs to another user: modules are read with our
 * rights, and a trace names the modules. */
static symbolizer *begin_names(const view_trace *t, const memtrace_info *info) {
    rights theirs;
    if (path_is_others(path_of(t), &theirs))
        return NULL;
    return symbolizer_new(&(symbolize_options){.recorded_at = info->start_time,
                                               .progress = naming_goes_on,
                                               .context = (void *)(uintptr_t)t});
}

/* Resolves addresses. If there is no memory for that, they are shown as they are. */
static void give_names(following *f, profile *p) {
    if (f->names && !profile_names_give(f->names, p)) {
        symbolizer_free(f->names);
        f->names = NULL;
    }
}

static void publish_copy(following *f) {
    profile copy;
    size_t n;
    uint64_t begun = clock_monotonic_ms();
    if (f->published == f->trace->size && f->published > 0)
        return;
    if (f->copied_ms &&
        (begun - f->copied_ms < f->cost_ms * COST_OF_COPIES || begun - f->copied_ms < COPY_MS))
        return;
    if (!profile_snapshot(&f->profile, f->reader, &copy))
        return; /* there may be memory later */
    give_names(f, &copy);
    const memtrace_warning *warnings = memtrace_reader_warnings(f->reader, &n);
    if (viewer_publish(f->trace->viewer, f->trace->index, &copy, warnings, n, READING_GROWING))
        f->published = f->trace->size;
    f->copied_ms = clock_monotonic_ms();
    f->cost_ms = f->copied_ms - begun;
}

/* Called when the reader is at the end of the file: publishes a snapshot, and waits for more.
 * Returns false if there will be no more. */
static bool wait_for_more(void *context) {
    following *f = context;
    for (;;) {
        bool written = is_written(f->trace, f->reader);
        file_change change = look(f->trace); /* after is_written, to see all that an ended program
                                                has written */
        if (change == FILE_TOUCHED || change == FILE_GREW)
            note_file(f->trace);
        if (change == FILE_GREW)
            return true;
        if (change == FILE_REPLACED || !written || is_stopping(f->trace))
            return false;
        publish_copy(f);
        if (!pause_a_moment(f->trace))
            return false;
    }
}

static bool publish_whole(view_trace *t, memtrace_reader *reader, profile *p) {
    size_t n;
    const memtrace_warning *warnings = memtrace_reader_warnings(reader, &n);
    if (!viewer_publish(t->viewer, t->index, p, warnings, n, READING_WHOLE))
        return false;
    atomic_store(&t->has_whole, n == 0);
    return true;
}

static bool read_whole(view_trace *t, memtrace_reader *reader) {
    following f = {.trace = t, .reader = reader};
    const profile_options how = {
        .track_promotion = true, .keep_blocks = true, .block = goes_on, .block_context = t};
    const memtrace_info *info = memtrace_reader_info(f.reader);
    if (is_written(t, f.reader)) {
        f.names = begin_names(t, info);
        memtrace_reader_on_end(f.reader, wait_for_more, &f);
    }
    bool ok = profile_read(&f.profile, f.reader, &how) == MEMTRACE_OK && !is_stopping(t);
    if (ok)
        give_names(&f, &f.profile);
    ok = ok && publish_whole(t, f.reader, &f.profile);
    profile_free(&f.profile);
    symbolizer_free(f.names);
    return ok;
}

/* Reads the whole trace, and whatever is added to it. Returns false if it cannot be read. */
static bool read_on(view_trace *t) {
    memtrace_reader *reader;
    note_file(t);
    if (memtrace_reader_open(path_of(t), &(memtrace_reader_options){.strict = t->strict}, &reader,
                             NULL) != MEMTRACE_OK)
        return t->after && t->size == 0; /* the file will be created */
    t->fd = open(path_of(t), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    /* A trace of an earlier run will be replaced. */
    const bool ok = memtrace_reader_info(reader)->start_time < t->after || read_whole(t, reader);
    file_close(t->fd);
    t->fd = -1;
    memtrace_reader_close(reader);
    return ok;
}

/* Waits for the end of the first pass, for a limited time. */
static void await_first_pass(view_trace *t) {
    const struct timespec until = clock_in_ms(ALONE_MS);
    pthread_mutex_lock(&t->lock);
    int waited = 0;
    while (t->has_first && !t->first_over && !is_stopping(t) && waited == 0)
        waited = pthread_cond_clockwait(&t->change, &t->lock, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&t->lock);
}

static void *run(void *context) {
    view_trace *t = context;
    await_first_pass(t);
    if (t->follow && !read_on(t))
        viewer_fail(t->viewer, t->index);
    while (pause_a_moment(t))
        if (look(t) != FILE_SAME && !read_on(t))
            viewer_fail(t->viewer, t->index);
    return NULL;
}

/* ---- the first picture ------------------------------------------------------------------- */

/* State of the pass that provides the first picture. It is the only pass over a small trace
 * (`whole`). */
typedef struct first_pass {
    view_trace *trace;
    trace_file *in;
    profile profile;
    uint64_t begun_ms, shown_ms; /* `shown_ms`: when the beginning was last shown; 0: never */
} first_pass;

static void set_first(view_trace *t, bool over, int status) {
    pthread_mutex_lock(&t->lock);
    t->first_shown = true;
    t->first_over = over;
    t->first_status = status;
    pthread_cond_broadcast(&t->change);
    pthread_mutex_unlock(&t->lock);
}

/* The interval between updates doubles: each takes as long as all reading before. */
static bool is_due(const first_pass *f) {
    uint64_t now = clock_monotonic_ms();
    return f->shown_ms ? now - f->shown_ms >= f->shown_ms - f->begun_ms
                       : now - f->begun_ms >= FIRST_MS;
}

static void show_beginning(first_pass *f, const memtrace_reader *reader) {
    view_trace *t = f->trace;
    profile copy;
    size_t n;
    uint64_t done, total;
    if (!profile_snapshot(&f->profile, reader, &copy))
        return; /* there may be memory later */
    const memtrace_warning *warnings = memtrace_reader_warnings(reader, &n);
    memtrace_reader_progress(reader, &done, &total);
    atomic_store(&t->viewer->traces[t->index].progress, total ? (double)done / (double)total : 0.0);
    if (viewer_publish(t->viewer, t->index, &copy, warnings, n, READING_BEGUN))
        set_first(t, false, STATUS_OK);
    f->shown_ms = clock_monotonic_ms();
}

static void tick(void *context, const memtrace_reader *reader) {
    first_pass *f = context;
    trace_file_tick(f->in, reader);
    if (f->trace->has_first && is_due(f))
        show_beginning(f, reader);
}

static int read_first(view_trace *t, trace_file *in, bool whole) {
    first_pass f = {.trace = t, .in = in, .begun_ms = clock_monotonic_ms()};
    const profile_options how = {.track_promotion = whole,
                                 .keep_blocks = whole,
                                 .block = t->has_first ? first_goes_on : NULL,
                                 .block_context = t,
                                 .all_read = trace_file_all_read,
                                 .all_read_context = in};
    memtrace_reader_on_packet(in->reader, tick, &f);
    memtrace_status read = profile_read(&f.profile, in->reader, &how);
    if (is_over(t)) {
        progress_end();
        profile_free(&f.profile);
        return STATUS_OK;
    }
    int status = trace_file_report(in, read);
    size_t n;
    const memtrace_warning *warnings = trace_file_warnings(in, &n);
    if (in->growing)
        f.profile.end = (profile_end){0}; /* not known yet */
    if (status == STATUS_OK && !viewer_publish(t->viewer, t->index, &f.profile, warnings, n,
                                               whole ? READING_WHOLE : READING_PARTIAL))
        status = message_error("%s: not enough memory", in->name);
    profile_free(&f.profile);
    return status;
}

/* If the trace turns out to be unreadable, ends the viewer, even if the beginning is already
 * shown. */
static void *run_first(void *context) {
    view_trace *t = context;
    int ignored = nice(FIRST_NICE); /* on Linux, affects only this thread */
    (void)ignored;
    int status = read_first(t, &t->first, false);
    trace_file_close(&t->first);
    bool shown = t->first_shown;
    set_first(t, true, status);
    if (status != STATUS_OK && shown)
        kill(getpid(), SIGTERM);
    return NULL;
}

/* Starts the first pass. Returns when there is something to show. */
static int start_first(view_trace *t) {
    t->has_first = true;
    if (pthread_create(&t->first_thread, NULL, run_first, t) != 0) {
        t->has_first = false;
        int status = read_first(t, &t->first, false);
        trace_file_close(&t->first);
        return status;
    }
    pthread_mutex_lock(&t->lock);
    while (!t->first_shown)
        pthread_cond_wait(&t->change, &t->lock);
    int status = t->first_status;
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* Publishes the profile from the trace's index, which is complete at once. Returns false if there
 * is no index. */
static bool show_index(view_trace *t, int *status) {
    trace_file in;
    profile p = {0};
    const trace_profile_options from = {.strict = t->strict,
                                        .how = {.track_promotion = true, .keep_blocks = true}};
    if (!trace_profile_recall(&in, &p, path_of(t), &from))
        return false;
    size_t n;
    const memtrace_warning *warnings = trace_file_warnings(&in, &n);
    *status = trace_file_report(&in, MEMTRACE_OK);
    if (!viewer_publish(t->viewer, t->index, &p, warnings, n, READING_WHOLE))
        *status = message_error("%s: not enough memory", in.name);
    profile_free(&p);
    trace_file_close(&in);
    return true;
}

void view_trace_set_malloc(void) {
    enum { ARENAS = 2, OWN_PAGES = 256 << 10 /* bytes: larger blocks get pages of their own */ };
    mallopt(M_ARENA_MAX, ARENAS);
    mallopt(M_MMAP_THRESHOLD, OWN_PAGES);
    mallopt(M_TRIM_THRESHOLD, 4 * OWN_PAGES);
}

int view_trace_open(view_trace *t, viewer *v, size_t index, bool strict, bool wait) {
    trace_file *in = &t->first;
    *t = (view_trace){
        .viewer = v, .index = index, .strict = strict, .follow = wait, .growing = wait, .fd = -1};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->change, NULL);
    if (wait) {
        t->after = (clock_wall_us() / 1000000 - CLOCK_SECONDS) * 1000000;
        return STATUS_OK;
    }
    note_file(t);
    int status;
    if (show_index(t, &status))
        return status;
    status = trace_file_open(in, path_of(t), &(memtrace_reader_options){.strict = strict});
    if (status != STATUS_OK)
        return status;
    bool again = is_file(t), large = again && t->size >= LARGE;
    t->growing = in->growing = again && is_written(t, in->reader);
    t->follow = t->growing || large;
    if (large)
        return start_first(t);
    status = read_first(t, in, !t->follow);
    trace_file_close(in);
    return status;
}

void view_trace_start(view_trace *t) {
    bool again = t->follow || is_file(t);
    t->has_thread = again && pthread_create(&t->thread, NULL, run, t) == 0;
    if (again && !t->has_thread)
        viewer_fail(t->viewer, t->index);
}

int view_trace_stop(view_trace *t) {
    if (!t->viewer)
        return STATUS_OK;
    pthread_mutex_lock(&t->lock);
    atomic_store(&t->stopping, true);
    pthread_cond_broadcast(&t->change);
    pthread_mutex_unlock(&t->lock);
    if (t->has_first)
        pthread_join(t->first_thread, NULL);
    if (t->has_thread)
        pthread_join(t->thread, NULL);
    pthread_cond_destroy(&t->change);
    pthread_mutex_destroy(&t->lock);
    t->viewer = NULL;
    return t->first_status;
}
