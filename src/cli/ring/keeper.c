/* keeper.c: the keeper reads one spool after another in a loop: it passes new events to the cutter,
 * begins a new segment when one is full or old, trims the folder, frees the part of the spool that
 * it has read, and lowers the sampling rate when recording costs more than allowed. It ends when
 * its starter says that the recording has ended, or when both its starter and the process are gone.
 * The keeper of a child process ends when nobody holds the lock of the spool any more. */
#include "cli/ring/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path_rights.h"
#include "cli/message.h"
#include "cli/ring/keeper_pace.h"
#include "cli/ring/keeper_spool.h"
#include "cli/ring/ring_folder.h"
#include "cli/ring/ring_push.h"
#include "cli/run/run_rescue.h"
#include "cli/run/symbolize_file.h"
#include "contract/rescue.h"
#include "contract/trace_name.h"
#include "platform/clock.h"
#include "trace/cutter.h"
#include "trace/end.h"
#include "trace/reader.h"

enum {
    LOOK_MS = 100,       /* between checks of the spool */
    RARELY_MS = 250,     /* if little is expected: each check takes 0.1 ms of CPU time */
    HURRY_MS = 10,       /* if much arrives */
    FLUSH_MS = 1000,     /* until events that were read are written to the segment */
    HOLD_MS = 500,       /* maximum time for which a planned cut holds events back */
    PATIENCE = 10,       /* how often a planned cut may be put off */
    N_PERIODS = 16,      /* minimum number of segments in the time that is kept */
    HELD_MOST = 1 << 24, /* maximum bytes that a planned cut holds back, in up to twice the
                            memory, */
    HELD_SEGMENTS = 16,  /* or so many times the size of a segment, if that is less */
    KEPT_TAIL = 1 << 17, /* maximum bytes of the spool that stay after they were read: events that a
                         killed program had not written are compared with them */
};

#define LEAST_SEGMENT (UINT64_C(1) << 15)
#define RARE          1e-4 /* at a lower rate, a spool hardly grows in a second */

/* ---- state of a keeper --------------------------------------------------------------------- */

typedef struct keeping {
    ring_plan plan;
    pid_t pid;
    int process;    /* pidfd of `pid`; -1: the process is gone */
    int fd;         /* pipe from our starter; -1: the starter is gone */
    int rescue;     /* file descriptor of the rescue memory; -1: none */
    uint64_t ended; /* when the recording ended, according to our starter: us since the epoch; 0:
                       not yet */
    push_position *position; /* how far the pusher has read; NULL: nobody else reads the spool */
    ring_pushed *pushed;     /* the owner of `position`; NULL: the run does not record child
                                processes */
    keeper_pace pace;
    bool over;       /* nothing more will be recorded, and the spool is complete */
    bool torn;       /* the reader has read a part of a packet that is no longer there */
    bool is_known;   /* `pid` is certainly the process that records, not one with the same id in
                        another namespace */
    bool states_end; /* the process itself stated how the recording ended */
    bool of_child;   /* of a child process: keeps one spool, while that is locked */
    char spool[PATH_MAX];

    /* Of the current spool. */
    int spool_fd;
    ino_t inode;
    memtrace_reader *reader;
    cutter cutter;
    int fd_segment; /* -1: there is none */
    char segment[PATH_MAX];
    uint64_t segment_began, flushed, trimmed; /* monotonic, ms */
    uint64_t holds_since;                     /* monotonic, ms; 0: the planned cut holds nothing
                                                 back */
    uint64_t n_put_off;                       /* how often the planned cut was put off */
    uint64_t name;                            /* number for the name of the next segment */
    uint64_t size;                            /* of the spool at the last check */
    uint64_t spooled, writing; /* bytes on the disk of the spool and of the segment, as last added
                                  to plan.run */
    bool hurries, grows;       /* much has arrived since the last check; anything has */
    uint64_t front;            /* bytes at the start of the spool that are never freed: they state
                                  how the recording ended */
    uint64_t flushed_to;       /* offset in the spool up to which everything is in segments */
    uint64_t next_freed;       /* offset up to which to free next */
    uint64_t freed;            /* offset up to which the spool is freed */
    bool failed;               /* a segment could not be written */
} keeping;

/* ---- segments ------------------------------------------------------------------------------ */

/* Publishes what the spool and the segment take on the disk, in bytes, for all keepers of the
 * run. */
static void note_taken(keeping *k, uint64_t spooled, uint64_t writing) {
    if (k->plan.run) {
        atomic_fetch_add(&k->plan.run->spooled, spooled - k->spooled);
        atomic_fetch_add(&k->plan.run->writing, writing - k->writing);
    }
    k->spooled = spooled;
    k->writing = writing;
}

static void trim(keeping *k) {
    const uint64_t since =
        ring_clock_limit(&k->plan.clock, k->plan.keep, clock_wall_us(), clock_us(CLOCK_BOOTTIME));
    ring_folder_trim(k->plan.folder, k->segment, ring_kept_space(&k->plan),
                     k->plan.keep ? since * 1000 : 0);
    k->trimmed = clock_monotonic_ms();
}

/* Trimming a folder of very many segments takes long. So that thousands of processes with small
 * recordings do not trim it again and again, they leave that to others for a while. */
static void trim_if_due(keeping *k, uint64_t size) {
    enum { PAUSE_MS = 100, TIMES = 20 };
    ring_run *run = k->plan.run;
    const uint64_t began = clock_monotonic_ms();
    if (run && began < atomic_load(&run->trim_after) && size < ring_segment_space(&k->plan) / 2)
        return;
    trim(k);
    if (run)
        atomic_store(&run->trim_after, k->trimmed + PAUSE_MS + TIMES * (k->trimmed - began));
}

/* The lock tells readers that the file is being written. */
static void lock_segment(int fd) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &whole) != 0)
        return; /* file systems without locks */
}

/* Creates the next segment. Never replaces a file: a process may have begun two recordings in the
 * same second. Returns a file descriptor, or -1 with errno set. */
static int open_segment(keeping *k) {
    const memtrace_info *info = memtrace_reader_info(k->reader);
    int fd;
    do {
        errno = ENAMETOOLONG;
        if (!ring_segment_path(k->plan.folder, info, k->name++, k->segment, sizeof k->segment))
            return -1;
        fd = open(k->segment, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST);
    if (fd >= 0)
        lock_segment(fd);
    return fd;
}

static bool begin_segment(keeping *k, int fd) {
    k->fd_segment = fd;
    if (k->plan.run)
        ring_run_add(k->plan.run, memtrace_reader_info(k->reader)->pid);
    k->segment_began = clock_monotonic_ms();
    return cutter_begin(&k->cutter, fd) == MEMTRACE_OK;
}

static bool end_segment(keeping *k, const memtrace_end *end) {
    const memtrace_status status = cutter_end(&k->cutter, end);
    close(k->fd_segment);
    k->fd_segment = -1;
    note_taken(k, k->spooled, 0);
    trim_if_due(k, k->cutter.out.size);
    return status == MEMTRACE_OK;
}

/* Live blocks are repeated at the start of each segment. If they take much room, a segment becomes
 * larger accordingly. */
static bool is_full(const keeping *k) {
    uint64_t most = ring_segment_space(&k->plan);
    most = most > LEAST_SEGMENT ? most : LEAST_SEGMENT;
    return k->cutter.out.size >= most && k->cutter.out.size >= 2 * k->cutter.carried_size;
}

static bool is_old(const keeping *k) {
    return k->plan.keep &&
           clock_monotonic_ms() - k->segment_began >= k->plan.keep / 1000 / N_PERIODS &&
           k->cutter.out.size > k->cutter.carried_size;
}

/* No more segments can be written: the recorder continues into the spool until that is full.
 * Reports the error once. */
static bool give_up(keeping *k, int error) {
    if (!k->failed && !k->of_child)
        message_error("%s: %s; the recording ends", k->segment,
                      error ? strerror(error) : "cannot be written");
    if (!k->failed && k->of_child)
        ring_run_failed(k->plan.run, error ? error : EIO);
    k->failed = true;
    return false;
}

/* Ends the segment and begins the next one. Readers see by the lock that the recording continues,
 * so it is released only when the next segment exists. If that cannot be made, the current segment
 * is the last one, and says so. */
static bool cut(keeping *k) {
    const int ended = k->fd_segment, next = open_segment(k);
    const uint64_t size = k->cutter.out.size;
    if (next < 0)
        return give_up(k, errno);
    k->fd_segment = -1;
    const bool ok = cutter_end(&k->cutter, NULL) == MEMTRACE_OK && begin_segment(k, next);
    close(ended);
    if (k->fd_segment < 0) {
        unlink(k->segment);
        close(next);
    }
    if (!ok)
        return give_up(k, k->cutter.out.os_error);
    k->holds_since = k->n_put_off = 0;
    note_taken(k, k->spooled, 0);
    trim_if_due(k, size);
    return true;
}

static bool flush_segment(keeping *k) {
    return cutter_flush(&k->cutter) == MEMTRACE_OK || give_up(k, k->cutter.out.os_error);
}

/* Held events should have been in a file for a while, so they are flushed at once. */
static bool cut_at_time(keeping *k) {
    const bool held = k->holds_since;
    return cut(k) && (!held || flush_segment(k));
}

static bool holds_too_much(const keeping *k) {
    const uint64_t share = HELD_SEGMENTS * ring_segment_space(&k->plan);
    return cutter_held_bytes(&k->cutter) > (share < HELD_MOST ? share : HELD_MOST);
}

/* The events that the planned cut waits for do not arrive, mostly because the program is idle. If
 * the cut was put off too often, a thread stays inside the recorder: then cuts at once, although
 * the cut is not exact. */
static bool put_off(keeping *k) {
    if (++k->n_put_off > PATIENCE || k->cutter.out.size > 2 * ring_segment_space(&k->plan))
        return cut(k);
    k->holds_since = 0;
    if (cutter_put_off(&k->cutter) != MEMTRACE_OK)
        return give_up(k, k->cutter.out.os_error);
    return flush_segment(k);
}

static bool cut_if_due(keeping *k) {
    const uint64_t now = clock_monotonic_ms();
    if (is_full(k) || is_old(k))
        cutter_plan(&k->cutter);
    if (cutter_is_ripe(&k->cutter))
        return cut_at_time(k);
    if (!k->holds_since && cutter_held_bytes(&k->cutter) > 0)
        k->holds_since = now;
    return !k->holds_since || now - k->holds_since < HOLD_MS || put_off(k);
}

/* Like cut_if_due, but called at each event, while there is more to read. */
static bool cut_if_full(keeping *k) {
    if (cutter_is_ripe(&k->cutter))
        return cut_at_time(k);
    if (cutter_held_bytes(&k->cutter) > 0)
        return !holds_too_much(k) || put_off(k);
    if (k->cutter.out.size > ring_segment_space(&k->plan) && is_full(k))
        cutter_plan(&k->cutter);
    return true;
}

/* ---- the pusher of the spool --------------------------------------------------------------- */

/* Offers the spool to the pusher. If too many spools are waiting, this is tried again later, and
 * the pusher misses what was freed before. */
static void offer(keeping *k) {
    if (k->pushed || !k->plan.push_ends[1])
        return;
    k->pushed = ring_push_offer(&k->plan, k->spool_fd, k->pid);
    k->position = k->pushed ? &k->pushed->position : NULL;
    if (k->pushed && k->freed)
        atomic_store(&k->position->overrun, 1);
}

static void end_offer(keeping *k) {
    offer(k);
    if (k->pushed)
        ring_push_done(&k->plan, k->pushed, k->spool_fd, k->spooled);
    else if (ring_push_is_on(&k->plan))
        atomic_fetch_add(&k->plan.run->n_unpushed, 1);
    if (k->pushed)
        k->position = NULL;
    k->pushed = NULL;
}

/* Returns the offset up to which the spool is pushed. UINT64_MAX: nobody needs the rest. */
static uint64_t pushed_to(const keeping *k) {
    const push_position *p = k->position;
    if (!p || atomic_load(&p->offset) == UINT64_MAX || (k->pushed && !ring_push_is_on(&k->plan)))
        return UINT64_MAX;
    return atomic_load(&p->inode) == k->inode ? atomic_load(&p->offset) : 0;
}

/* Like pushed_to, but does not wait for a pusher that is too far behind: the spool would fill
 * up, and the recording end. */
static uint64_t read_by_others(const keeping *k) {
    const bool is_far =
        k->flushed_to >= k->freed + ring_spool_space(&k->plan) / 2 || ring_push_is_tight(&k->plan);
    const uint64_t at = pushed_to(k);
    return is_far && at < k->flushed_to ? UINT64_MAX : at;
}

static uint64_t kept_tail(const keeping *k) {
    const uint64_t share = ring_spool_space(&k->plan) / 16;
    return k->plan.run && share < KEPT_TAIL ? share : KEPT_TAIL;
}

/* Frees part of what is both read and in segments. The latest part stays. The freed range ends at
 * the start of a packet, so that whoever scans the spool finds the next packet right after the
 * hole. */
static void free_spool(keeping *k) {
    const uint64_t read = memtrace_reader_packet(k->reader)->offset, other = read_by_others(k),
                   at = other < read ? other : read;
    const uint64_t from = k->freed > k->front ? k->freed : k->front;
    if (!k->front || at < k->next_freed + kept_tail(k))
        return;
    if (k->next_freed > pushed_to(k))
        atomic_store(&k->position->overrun, 1);
    if (k->next_freed > from && fallocate(k->spool_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                          (off_t)from, (off_t)(k->next_freed - from)) == 0)
        k->freed = k->next_freed;
    k->next_freed = at;
}

/* Returns whether much of the spool's space is taken by events that are not in segments yet. */
static bool is_crowded(const keeping *k) {
    return memtrace_reader_packet(k->reader)->offset - k->flushed_to >
           ring_spool_space(&k->plan) / 8;
}

static bool flush(keeping *k) {
    if (clock_monotonic_ms() - k->flushed < FLUSH_MS && !is_crowded(k))
        return true;
    if (!flush_segment(k))
        return false;
    k->flushed = clock_monotonic_ms();
    k->flushed_to = memtrace_reader_packet(k->reader)->offset;
    offer(k);
    free_spool(k);
    keeper_pace_steer(&k->pace, &k->plan, k->pid, &k->cutter);
    if (k->plan.keep && clock_monotonic_ms() - k->trimmed >= k->plan.keep / 1000 / N_PERIODS)
        trim(k);
    return true;
}

/* ---- waiting ------------------------------------------------------------------------------- */

/* At low rates, little arrives between two checks. There may be very many child processes, most of
 * them idle: their spools are checked only as often as segments are flushed. */
static int look_ms(const keeping *k) {
    const double rate = k->reader ? memtrace_reader_info(k->reader)->sample_rate : 1;
    if (k->hurries)
        return HURRY_MS;
    if (k->of_child)
        return rate < RARE && !k->grows ? FLUSH_MS : rate < RARE ? RARELY_MS : LOOK_MS;
    return rate < RING_RATE ? RARELY_MS : LOOK_MS;
}

/* Waits for a message from the starter, the end of the process, or the next check. */
static void wait_a_moment(keeping *k) {
    struct pollfd looked[] = {{.fd = k->process, .events = POLLIN},
                              {.fd = k->fd, .events = POLLIN}};
    if (poll(looked, 2, look_ms(k)) <= 0)
        return;
    if (looked[1].revents && read(k->fd, &k->ended, sizeof k->ended) != sizeof k->ended) {
        close(k->fd); /* our starter was killed: keep going */
        k->fd = -1;
    }
    if (looked[0].revents) {
        close(k->process);
        k->process = -1;
    }
}

/* After an exec, the process begins another trace of the same name. (If somebody still locks this
 * trace, the new one gets a numbered name instead.) */
static bool is_replaced(const keeping *k) {
    struct stat st;
    return stat(k->spool, &st) == 0 && st.st_ino != k->inode && !file_is_locked(k->spool_fd);
}

/* Returns whether the recording has ended, according to our starter, or else as far as can be
 * observed. A program may close its spool, and open it again when there is something to write. */
static bool has_ended(const keeping *k) {
    if (k->of_child)
        return !file_is_locked(k->spool_fd) && (!k->is_known || k->process < 0 || is_replaced(k));
    if (k->ended || k->fd >= 0)
        return k->ended;
    return k->process < 0 || (k->rescue < 0 && !symbolize_file_is_recording(k->spool));
}

enum { TAIL = 64 * 1024 }; /* more than a packet */

/* Reads again the part of a packet with which what was read ends. Returns its size. */
static size_t read_tail(const keeping *k, uint8_t tail[TAIL]) {
    uint64_t begin, total;
    memtrace_reader_progress(k->reader, &begin, &total);
    const uint64_t size = reader_bytes_read(k->reader) - begin;
    const ssize_t n = pread(k->spool_fd, tail, size < TAIL ? size : TAIL, (off_t)begin);
    return n > 0 ? (size_t)n : 0;
}

/* Adds to the spool the events that a killed program had not written. The program may have been
 * killed while it wrote a packet. If that is replaced by another one, the reader cannot go on. */
static void add_unwritten(keeping *k) {
    uint8_t before[TAIL], after[TAIL];
    const size_t n = read_tail(k, before);
    run_rescue_finish_open(k->rescue, k->spool_fd);
    k->torn |= read_tail(k, after) != n || memcmp(before, after, n) != 0;
}

static void rescue(keeping *k) {
    k->states_end = run_rescue_states_end(k->spool_fd);
    add_unwritten(k);
    if (k->of_child || (k->rescue < 0 && k->process < 0))
        run_rescue_note_lost(k->spool, (uint64_t)k->pid, k->ended ? k->ended : clock_wall_us());
    k->over = true;
}

static bool has_grown(keeping *k, uint64_t size) {
    enum { BLOCK = 512 };
    struct stat st;
    if (fstat(k->spool_fd, &st) != 0)
        return false;
    note_taken(k, (uint64_t)st.st_blocks * BLOCK, k->cutter.out.size);
    const uint64_t now = (uint64_t)st.st_size;
    k->hurries = now - k->size > ring_spool_space(&k->plan) / 64;
    k->grows = now > k->size;
    k->size = now;
    return now > size;
}

/* The reader has reached the end of the spool: waits for more. Returns false if there will be
 * none. */
static bool wait_for_more(void *context) {
    keeping *k = context;
    const uint64_t done = reader_bytes_read(k->reader); /* maybe a part of a packet, too */
    for (;;) {
        if (!cut_if_due(k) || !flush(k))
            return false;
        if (has_grown(k, done))
            return !k->torn;
        const bool replaced = is_replaced(k);
        if (replaced) /* other threads recorded until the exec was complete */
            add_unwritten(k);
        if (replaced || k->over)
            return has_grown(k, done) && !k->torn;
        if (has_ended(k) && !is_replaced(k))
            rescue(k);
        else
            wait_a_moment(k);
    }
}

/* ---- a spool ------------------------------------------------------------------------------- */

static void note_front(keeping *k) {
    if (!k->front)
        k->front = memtrace_reader_packet(k->reader)->offset;
}

static void read_spool(keeping *k) {
    memtrace_event event;
    memtrace_status status = MEMTRACE_OK;
    while (!k->failed && (status = memtrace_reader_next(k->reader, &event)) == MEMTRACE_OK) {
        note_front(k);
        if (is_crowded(k) && !flush(k))
            break;
        if (cutter_take(&k->cutter, &event) != MEMTRACE_OK ||
            (cutter_is_due(&k->cutter) && !cut(k)) || !cut_if_full(k))
            give_up(k, k->cutter.out.os_error);
    }
    const memtrace_end end = k->failed || status != MEMTRACE_END
                                 ? end_make(MEMTRACE_END_EARLY, cutter_whole_until(&k->cutter), 0,
                                            "the segments cannot be written")
                                 : memtrace_reader_end(k->reader);
    if (k->fd_segment >= 0 && !end_segment(k, &end))
        give_up(k, k->cutter.out.os_error);
}

/* Returns the name of the next spool to read. If a process has exec'ed before its spool was opened,
 * that spool has a numbered name. */
static const char *next_spool(const keeping *k, char earlier[PATH_MAX]) {
    enum { MOST_AT_ONCE = 99 };
    for (unsigned n = 1; n <= MOST_AT_ONCE; n++)
        if (trace_name_earlier(k->spool, n, earlier, PATH_MAX) && access(earlier, F_OK) == 0)
            return earlier;
    return k->spool;
}

/* Opens the spool for reading by its file descriptor, since it may have been renamed. */
static bool open_reader(keeping *k) {
    struct stat st;
    file_path again;
    const bool ok = fstat(k->spool_fd, &st) == 0 && st.st_size > 0 &&
                    memtrace_reader_open(file_path_of(k->spool_fd, again), NULL, &k->reader,
                                         NULL) == MEMTRACE_OK;
    if (ok)
        k->inode = st.st_ino;
    return ok;
}

static bool open_spool(keeping *k) {
    char earlier[PATH_MAX];
    k->spool_fd = keeper_spool_open(&k->plan, next_spool(k, earlier));
    if (k->spool_fd < 0)
        return false;
    if (open_reader(k)) {
        flock(k->spool_fd, LOCK_SH);
        return true;
    }
    close(k->spool_fd);
    k->spool_fd = -1;
    return false;
}

static void keep_spool(keeping *k) {
    memtrace_reader_on_end(k->reader, wait_for_more, k);
    k->cutter = (cutter){.first_level = (uint8_t)keeper_pace_level(&k->pace)};
    segment_writer_read(&k->cutter.out, k->reader);
    k->front = k->flushed_to = k->freed = k->next_freed = k->size = k->name = 0;
    offer(k);
    const int fd = open_segment(k);
    if (fd < 0)
        give_up(k, errno);
    else if (begin_segment(k, fd))
        read_spool(k);
    else
        give_up(k, k->cutter.out.os_error);
    cutter_free(&k->cutter);
    memtrace_reader_close(k->reader);
    k->reader = NULL;
    end_offer(k);
    if (!k->failed)
        keeper_spool_remove(&k->plan, k->spool_fd, k->inode);
    close(k->spool_fd);
    k->spool_fd = -1;
    if (!k->failed)
        note_taken(k, 0, 0);
}

/* Keeps one spool after another, as the process execs other programs. */
static void keep_all(keeping *k) {
    while (!k->failed) {
        if (open_spool(k)) {
            keep_spool(k);
            continue;
        }
        if (k->over)
            break;
        if (has_ended(k))
            rescue(k);
        else
            wait_a_moment(k);
    }
}

/* ---- the process --------------------------------------------------------------------------- */

static void share_pace(keeping *k) {
    struct rescue_head *shared = k->plan.overhead > 0 ? run_rescue_share(k->rescue) : NULL;
    k->pace.shared = shared ? &shared->pace : NULL;
}

void keeper_become(const char *name) {
    sigset_t all;
    setsid();
    prctl(PR_SET_NAME, name);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
}

static _Noreturn void be_keeper(keeping *k) {
    keeper_become("run-keeper");
    share_pace(k);
    k->process = (int)syscall(SYS_pidfd_open, k->pid, 0);
    keep_all(k);
    _exit(k->failed ? EXIT_FAILURE : EXIT_SUCCESS);
}

static bool is_gone(const keeping *k) {
    return k->is_known ? k->process < 0 : k->states_end && kill(k->pid, 0) != 0 && errno == ESRCH;
}

/* Keeps the spool of a child process. If the process is gone at the end, or was from the start,
 * frees its rescue memory. */
static void keep_child(keeping *k) {
    const uint64_t start_time = memtrace_reader_info(k->reader)->start_time;
    k->is_known = k->process >= 0 && keeper_spool_is_open(k->pid, k->inode);
    keep_spool(k);
    if (is_gone(k))
        run_rescue_release(k->rescue, (uint64_t)k->pid, start_time);
}

_Noreturn void keeper_of_child(const ring_plan *plan, const char *path, int fd, pid_t pid,
                               int rescue_fd) {
    static keeping own;
    own.plan = *plan;
    own.pid = pid;
    own.rescue = rescue_fd;
    own.spool_fd = fd;
    own.fd = own.fd_segment = -1;
    own.of_child = true;
    snprintf(own.spool, sizeof own.spool, "%s", path);
    prctl(PR_SET_NAME, "run-keeper");
    own.process = (int)syscall(SYS_pidfd_open, pid, 0);
    share_pace(&own);
    if (open_reader(&own))
        keep_child(&own);
    else if (file_is_locked(fd))
        give_up(&own, EIO);
    else
        unlink(path); /* its header is incomplete: there is nothing to keep */
    _exit(own.failed ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* Makes a position shared by keeper and pusher. Returns NULL if there is no memory; then the keeper
 * frees the spool without regard to the pusher. */
static push_position *new_position(void) {
    void *shared = mmap(NULL, sizeof(push_position), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? NULL : shared;
}

bool keeper_start(keeper *k, const ring_plan *plan, pid_t pid, int rescue_fd, bool pushed) {
    static keeping own;
    int ends[2];
    own.plan = *plan;
    own.pid = pid;
    own.rescue = rescue_fd;
    own.fd_segment = -1;
    *k = (keeper){.pid = -1, .fd = -1, .position = pushed ? new_position() : NULL};
    own.position = k->position;
    if (!ring_spool_path(plan, (uint64_t)pid, own.spool, sizeof own.spool))
        return false;
    if (pipe2(ends, O_CLOEXEC) != 0 || (k->pid = fork()) < 0) {
        message_error("the segments cannot be written: %s", strerror(errno));
        return false;
    }
    if (k->pid == 0) {
        close(ends[1]);
        own.fd = ends[0];
        ring_push_be_sender(&own.plan);
        be_keeper(&own);
    }
    close(ends[0]);
    k->fd = ends[1];
    return true;
}

bool keeper_finish(keeper *k, uint64_t end) {
    int status = 0;
    if (k->pid < 0)
        return false;
    const bool told = write(k->fd, &end, sizeof end) == (ssize_t)sizeof end;
    close(k->fd);
    const pid_t waited = TEMP_FAILURE_RETRY(waitpid(k->pid, &status, 0));
    k->pid = -1;
    if (waited >= 0 && WIFEXITED(status)) /* otherwise the keeper has reported the error */
        return told && WEXITSTATUS(status) == EXIT_SUCCESS;
    message_warning(
        "the process that wrote the segments was killed; everything after that is missing");
    return false;
}
