/* family.c: a thread scans the folder of the traces, gives new traces to sessions, and tells a
 * session when its process has ended. A process has ended when nobody holds the lock of its trace.
 * A trace is identified by process id and inode, since the trace that a process wrote before exec
 * is renamed. */
#include "push/family.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/map64.h"
#include "base/path.h"
#include "contract/trace_name.h"
#include "platform/clock.h"
#include "push/http.h"
#include "push/shared.h"

enum {
    LOOK_MS = 200,   /* between looks at the processes, and at the folder if it has changed */
    AGAIN_MS = 2000, /* between looks at a folder that has not changed: a file may be rewritten
                        under its old name */
    HURRY_MS = 10,   /* between looks at the end */
    ENOUGH_MS = 100, /* between questions whether somebody ends the wait */
    LINE_MAX_ = TARGET_URL_MAX + TARGET_REASON + 256,
};

/* A place for one process. */
typedef struct member {
    push_session *session; /* NULL: the place is free */
    push_options options;  /* of the session */
    family_trace trace;
    char path[32]; /* of the trace, for the session */
    bool ended;
} member;

struct push_family {
    family_options options;
    push_shared shared;
    char folder[PATH_MAX]; /* of the traces, with a trailing slash; may be empty */
    const char *name;      /* last component of the pattern */
    char beside[PATH_MAX]; /* pattern of the traces of heaps that are read from outside */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool finishing;
    _Atomic uint64_t end_ms; /* on the monotonic clock: then everything is given up */

    /* The thread's own state. */
    member members[FAMILY_PLACES];
    map64 known;              /* traces that got a place */
    struct timespec modified; /* of the folder, at the last look */
    uint64_t looked_ms;
    uint64_t n_waiting; /* traces without a place at the last look; with a source, 1 means there may
                           be more */
    bool comes;         /* there is a trace that is still empty */
    bool hurries;       /* a place was taken or became free at the last look */
    uint64_t n_lost;    /* traces that the source could not hand over */
    uint64_t n_overrun; /* processes whose trace was partly gone before it was read */
};

/* ---- traces ------------------------------------------------------------------------------ */

static uint64_t key_of(uint64_t pid, ino_t inode) {
    return hash_u64(pid) ^ (uint64_t)inode;
}

static member *free_place(push_family *f) {
    for (size_t i = 0; i < FAMILY_PLACES; i++)
        if (!f->members[i].session)
            return &f->members[i];
    return NULL;
}

static bool has_source(const push_family *f) {
    return f->options.source.next;
}

/* Releases a trace that is no longer read. */
static void end_trace(push_family *f, const family_trace *t) {
    if (t->position)
        f->n_overrun += atomic_load(&t->position->overrun);
    if (has_source(f))
        f->options.source.end(f->options.source.context, t);
    if (t->fd >= 0)
        close(t->fd);
}

/* Starts a session, which reads the file through its descriptor, so that a rename does not
 * matter. */
static void start(push_family *f, member *m, const family_trace *t) {
    char error[LINE_MAX_];
    *m = (member){.options = f->options.push, .trace = *t};
    snprintf(m->path, sizeof m->path, "/proc/self/fd/%d", t->fd);
    m->options.shared = &f->shared;
    m->options.position = t->position;
    m->session = push_start(m->path, &m->options, error, sizeof error);
    f->hurries = true;
    if (m->session)
        return;
    push_tell(&f->options.push, true, "process %" PRIu64 " is not pushed: %s", t->pid, error);
    end_trace(f, t);
}

static int open_trace(const char *path) {
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Gives a trace a place if it belongs to this run and has none yet. `fd` may be -1. */
static void take_in(push_family *f, int fd, uint64_t pid) {
    struct stat st;
    member *m = free_place(f);
    if (fd < 0)
        return;
    const bool is_trace = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
                          !clock_is_before(st.st_mtim, f->options.push.since);
    const uint64_t key = key_of(pid, st.st_ino);
    f->comes |= st.st_size == 0;
    uint32_t *known = NULL;
    if (is_trace && map64_get(&f->known, key) == MAP64_NONE) {
        f->n_waiting += !m;
        known = m ? map64_put(&f->known, key) : NULL;
    }
    if (known) {
        *known = 1;
        start(f, m, &(family_trace){.fd = fd, .pid = pid});
    } else {
        close(fd);
    }
}

/* Takes in the trace of what process `pid` runs now, and those of the programs it ran before exec.
 * The latest one is opened first: an earlier trace is renamed before the next one appears, so it
 * must have its final name by then. The caller skips a process whose latest trace is known, so the
 * earlier ones are not looked for again. */
static void take_in_all(push_family *f, const char *path, uint64_t pid) {
    char earlier[PATH_MAX];
    const int latest = open_trace(path);
    for (unsigned n = 1;
         n <= TRACE_NAME_EARLIER_MAX && trace_name_earlier(path, n, earlier, sizeof earlier) &&
         access(earlier, F_OK) == 0;
         n++)
        take_in(f, open_trace(earlier), pid);
    take_in(f, latest, pid);
}

static void look_at_folder(push_family *f) {
    char path[PATH_MAX];
    f->n_waiting = 0;
    f->comes = false;
    f->looked_ms = clock_monotonic_ms();
    DIR *folder = opendir(*f->folder ? f->folder : ".");
    for (struct dirent *e; folder && (e = readdir(folder));) {
        uint64_t pid = 0;
        if ((!trace_name_matches(f->name, e->d_name, &pid) &&
             !trace_name_matches(f->beside, e->d_name, &pid)) ||
            snprintf(path, sizeof path, "%s%s", f->folder, e->d_name) >= (int)sizeof path)
            continue;
        if (map64_get(&f->known, key_of(pid, e->d_ino)) == MAP64_NONE)
            take_in_all(f, path, pid);
    }
    if (folder)
        closedir(folder);
}

/* Takes traces from the source while places are free. */
static void look_at_source(push_family *f) {
    const family_source *from = &f->options.source;
    family_trace t;
    member *m;
    while ((m = free_place(f)) && from->next(from->context, &t)) {
        if (t.fd >= 0)
            start(f, m, &t);
        else
            end_trace(f, &t);
        f->n_lost += t.fd < 0;
    }
    f->n_waiting = !m;
}

static void look_for_traces(push_family *f) {
    if (has_source(f))
        look_at_source(f);
    else
        look_at_folder(f);
}

/* Whether it is worth looking for traces. */
static bool is_due(push_family *f) {
    return has_source(f) || f->n_waiting || f->comes ||
           clock_monotonic_ms() - f->looked_ms >= AGAIN_MS ||
           file_folder_changed(*f->folder ? f->folder : ".", &f->modified);
}

/* ---- processes --------------------------------------------------------------------------- */

/* Whether the trace is complete. */
static bool is_over(push_family *f, const family_trace *t) {
    if (has_source(f))
        return f->options.source.is_over(f->options.source.context, t);
    if (file_is_locked(t->fd))
        return false;
    f->options.complete(f->options.context, t->pid);
    return true;
}

static void free_member(push_family *f, member *m) {
    push_finish(m->session, NULL, NULL);
    end_trace(f, &m->trace);
    m->session = NULL;
    f->hurries = true;
}

static void look_at_members(push_family *f, uint64_t end_ms) {
    for (size_t i = 0; i < FAMILY_PLACES; i++) {
        member *m = &f->members[i];
        if (!m->session)
            continue;
        if (!m->ended && is_over(f, &m->trace)) {
            m->ended = true;
            push_end_trace(m->session);
        }
        if (end_ms)
            push_hurry(m->session, end_ms);
        if (push_is_over(m->session))
            free_member(f, m);
    }
}

static bool any_left(const push_family *f) {
    for (size_t i = 0; i < FAMILY_PLACES; i++)
        if (f->members[i].session)
            return true;
    return f->n_waiting > 0;
}

/* Waits a moment. Returns false once the run has ended. The wait is short where processes come and
 * go, as the next one is probably near. */
static bool pause_a_moment(push_family *f) {
    const struct timespec until = clock_in_ms(f->hurries ? HURRY_MS : LOOK_MS);
    f->hurries = false;
    pthread_mutex_lock(&f->lock);
    if (!f->finishing)
        pthread_cond_clockwait(&f->change, &f->lock, CLOCK_MONOTONIC, &until);
    const bool goes_on = !f->finishing;
    pthread_mutex_unlock(&f->lock);
    return goes_on;
}

/* Ends and counts the traces that the source still has. */
static void give_up_waiting(push_family *f) {
    const family_source *from = &f->options.source;
    family_trace t;
    f->n_waiting = 0;
    while (from->next(from->context, &t)) {
        end_trace(f, &t);
        f->n_waiting++;
    }
}

/* Sends all that is there. Traces without a place get one as others are finished. */
static void end_all(push_family *f) {
    do {
        const uint64_t end_ms = atomic_load(&f->end_ms);
        if (clock_monotonic_ms() < end_ms - PUSH_END_MS / 2) /* still time to read new traces */
            look_for_traces(f);
        look_at_members(f, end_ms);
        if (!any_left(f))
            return;
        nanosleep(&(struct timespec){.tv_nsec = HURRY_MS * 1000000L}, NULL);
    } while (clock_monotonic_ms() < atomic_load(&f->end_ms));
    look_at_members(f, atomic_load(&f->end_ms));
    for (size_t i = 0; i < FAMILY_PLACES; i++)
        if (f->members[i].session)
            free_member(f, &f->members[i]);
    if (has_source(f))
        give_up_waiting(f);
}

static void tell_account(push_family *f, const shared_account *a) {
    const char *more = a->n_processes == 1 ? "" : "es";
    if (a->n_lacking && a->n_taken == 0)
        push_tell(&f->options.push, true, "nothing was pushed to %s: %s", a->url, a->reason);
    else if (a->n_lacking)
        push_tell(&f->options.push, true,
                  "%s has not accepted all of %" PRIu64 " of %" PRIu64 " process%s: %s", a->url,
                  a->n_lacking, a->n_processes, more, a->reason);
    else
        push_tell(&f->options.push, a->n_refused > 0,
                  "pushed %" PRIu64 " times to %s, for %" PRIu64 " process%s%s%s", a->n_taken,
                  a->url, a->n_processes, more, a->n_refused ? "; parts were refused: " : "",
                  a->n_refused ? a->reason : "");
}

/* Reports what the accounts do not show. */
static void tell_missing(push_family *f) {
    const family_source *from = &f->options.source;
    const uint64_t n_missed = f->n_lost + (has_source(f) ? from->n_missed(from->context) : 0);
    if (f->n_overrun)
        push_tell(&f->options.push, true,
                  "receivers were too slow: some of what %" PRIu64 " process%s recorded was not "
                  "pushed, since the recording's space was used up before",
                  f->n_overrun, f->n_overrun == 1 ? "" : "es");
    if (n_missed)
        push_tell(&f->options.push, true,
                  "receivers were too slow: %" PRIu64 " process%s ended and could not wait to be "
                  "pushed, as too many did",
                  n_missed, n_missed == 1 ? "" : "es");
    if (f->n_waiting)
        push_tell(&f->options.push, true,
                  "%" PRIu64 " more process%s could not be pushed in the %d s after the end",
                  f->n_waiting, f->n_waiting == 1 ? "" : "es", PUSH_END_MS / 1000);
}

static void *run(void *context) {
    push_family *f = context;
    do {
        look_at_members(f, 0);
        if (is_due(f))
            look_for_traces(f);
    } while (pause_a_moment(f));
    end_all(f);
    for (size_t i = 0; i < PUSH_TARGETS_MAX; i++)
        if (*f->shared.accounts[i].url)
            tell_account(f, &f->shared.accounts[i]);
    tell_missing(f);
    return NULL;
}

/* ---- start and end ----------------------------------------------------------------------- */

static bool name_folder(push_family *f) {
    char pattern[PATH_MAX];
    if (has_source(f))
        return true;
    f->name = path_base(f->options.pattern);
    snprintf(pattern, sizeof pattern, "%.*s", (int)(f->name - f->options.pattern),
             f->options.pattern);
    return trace_name_for(pattern, 0, f->folder, sizeof f->folder) &&
           trace_name_beside(f->name, f->beside, sizeof f->beside);
}

static void release(push_family *f) {
    shared_end(&f->shared);
    map64_free(&f->known);
    free(f);
}

push_family *family_start(const family_options *o, char *error, size_t size) {
    push_family *f = calloc(1, sizeof *f);
    const char *why = f ? push_check(&o->push, error, size) : "--push: not enough memory";
    if (f && !why) {
        f->options = *o;
        pthread_mutex_init(&f->lock, NULL);
        pthread_cond_init(&f->change, NULL);
        if (shared_begin(&f->shared, (uint64_t)o->push.since.tv_sec * 1000000) && name_folder(f) &&
            pthread_create(&f->thread, NULL, run, f) == 0)
            return f;
        release(f);
        why = "--push: cannot start a thread";
    } else {
        free(f);
    }
    if (why != error)
        snprintf(error, size, "%s", why);
    return NULL;
}

/* Waits for the thread, a moment. */
static bool has_ended(const push_family *f) {
    const struct timespec until = clock_in_ms(ENOUGH_MS);
    return pthread_clockjoin_np(f->thread, NULL, CLOCK_MONOTONIC, &until) != ETIMEDOUT;
}

void family_finish(push_family *f, bool (*enough)(void *context), void *context) {
    if (!f)
        return;
    atomic_store(&f->end_ms, clock_monotonic_ms() + PUSH_END_MS);
    pthread_mutex_lock(&f->lock);
    f->finishing = true;
    pthread_cond_signal(&f->change);
    pthread_mutex_unlock(&f->lock);
    while (!has_ended(f))
        if (enough && enough(context))
            atomic_store(&f->end_ms, clock_monotonic_ms());
    pthread_cond_destroy(&f->change);
    pthread_mutex_destroy(&f->lock);
    release(f);
}
