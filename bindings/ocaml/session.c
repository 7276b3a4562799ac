/* session.c: the session is one static value. A lock guards its beginning and end; each domain has
 * its own lock, and its events take only that. A domain outlives the session: a late event finds
 * it, sees another session number, and is dropped. The clock is read only when a counter of the CPU
 * shows that microseconds have passed. */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "write_all.h"

/* A domain of this process. It lives as long as the process; its stream lives as long as a session.
 * A new domain takes over the one left by an earlier domain with the same number. */
typedef struct domain {
    pthread_mutex_t lock;    /* guards all below */
    memtrace_stream *stream; /* NULL: not opened in this session */
    uint64_t *codes;         /* room for a stack */
    uint64_t now;            /* microseconds since the session's start, read at `ticks` */
    uint64_t ticks;          /* of the CPU's counter */
} domain;

/* Fields without a comment are set before `number`, and do not change until the session has
 * ended. */
static struct {
    pthread_mutex_t lock;    /* held while a session begins or ends */
    _Atomic uint64_t number; /* of the current session; 0: none */
    _Atomic int failure;     /* errno of what ended writing; 0: none */
    _Atomic uint64_t due; /* when old packets are written out next, microseconds since the start */
    _Atomic uint64_t latest; /* latest time of any event, microseconds since the start */
    _Atomic(domain *) domains[SESSION_DOMAINS]; /* the ones met so far */
    uint64_t n_sessions;                        /* guarded by `lock` */
    memtrace_writer *writer;
    uint64_t start; /* microseconds on the monotonic clock */
    _Atomic double rate;
    size_t depth;
    pthread_mutex_t file; /* guards all below */
    int fd;
    dev_t device; /* device and inode identify our file */
    ino_t inode;
    bool regular;
    off_t size; /* bytes of complete packets written */
} session = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

uint64_t session_number(void) {
    return atomic_load_explicit(&session.number, memory_order_acquire);
}

double session_rate(void) {
    return session.rate;
}

size_t session_depth(void) {
    return session.depth;
}

int session_failure(void) {
    return atomic_load(&session.failure);
}

static uint64_t clock_us(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Whether the domain's clock must be read, which is the most expensive part of a small event. A
 * counter of the CPU shows whether some microseconds have passed. */
static bool clock_is_old(domain *d) {
#if defined __x86_64__
    enum { SHORT = 1 << 13 };
    uint64_t ticks = __builtin_ia32_rdtsc();
#elif defined __aarch64__
    enum { SHORT = 1 << 7 };
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
#else
    enum { SHORT = 1 };
    uint64_t ticks = d->ticks + SHORT;
#endif
    bool is_old = ticks - d->ticks >= SHORT;
    if (is_old)
        d->ticks = ticks;
    return is_old;
}

/* Returns the time for an event in a locked domain. It may be some microseconds old, but is never
 * before the time of an event in another domain, since this event may be about that one's block. */
static uint64_t domain_now(domain *d) {
    uint64_t latest = atomic_load_explicit(&session.latest, memory_order_relaxed);
    if (clock_is_old(d)) {
        uint64_t now = clock_us(CLOCK_MONOTONIC) - session.start;
        while (latest < now && !atomic_compare_exchange_weak(&session.latest, &latest, now))
            ;
        d->now = now;
    }
    if (d->now < latest)
        d->now = latest;
    return d->now;
}

/* ---- the file ---------------------------------------------------------------------------- */

static int file_lock(int fd) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &whole) == 0)
        return 0;
    return errno == EAGAIN || errno == EACCES ? EAGAIN : 0; /* else there are no locks */
}

static int file_begin(int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return errno;
    session.fd = fd;
    session.device = status.st_dev;
    session.inode = status.st_ino;
    session.regular = S_ISREG(status.st_mode);
    session.size = 0;
    if (!session.regular)
        return 0;
    int error = file_lock(fd);
    if (!error && ftruncate(fd, 0) != 0)
        error = errno;
    return error;
}

/* Whether the descriptor still refers to our file. A program that closes descriptors which it did
 * not open may have opened a file of its own there. */
static bool file_is_ours(void) {
    struct stat status;
    return session.fd >= 0 && fstat(session.fd, &status) == 0 && status.st_dev == session.device &&
           status.st_ino == session.inode;
}

static void file_end(void) {
    if (file_is_ours())
        close(session.fd);
    session.fd = -1;
}

/* Writes without raising signals: the program only expects those of its own writes. */
static int write_quietly(int fd, const void *bytes, size_t size) {
    sigset_t quiet, before, pending;
    sigemptyset(&quiet);
    sigaddset(&quiet, SIGPIPE);
    sigaddset(&quiet, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &quiet, &before);
    sigpending(&pending);
    int error = write_all(fd, bytes, size);
    int raised = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
    if (raised && !sigismember(&pending, raised)) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, raised);
        sigtimedwait(&set, NULL, &(struct timespec){0});
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Writes packets. If that fails, only complete packets remain in the file. */
static int file_write(const void *packets, size_t size) {
    if (!file_is_ours())
        return EBADF;
    int error = write_quietly(session.fd, packets, size);
    if (!error)
        session.size += (off_t)size;
    else if (session.regular && ftruncate(session.fd, session.size) == 0)
        lseek(session.fd, session.size, SEEK_SET);
    return error;
}

static int hook_sink(void *context, const void *packets, size_t size) {
    (void)context;
    pthread_mutex_lock(&session.file);
    int error = file_write(packets, size);
    pthread_mutex_unlock(&session.file);
    if (error)
        atomic_store(&session.failure, error);
    return error;
}

/* Overwrites part of the file. That works even where writing has failed, as on a full disk. */
static int file_amend(uint64_t offset, const void *bytes, size_t size) {
    int flags = file_is_ours() ? fcntl(session.fd, F_GETFL) : -1;
    if (flags < 0)
        return EBADF;
    if (!session.regular || flags & O_APPEND)
        return ESPIPE;
    ssize_t n = pwrite(session.fd, bytes, size, (off_t)offset);
    return n < 0 ? errno : (size_t)n == size ? 0 : EIO;
}

static int hook_amend(void *context, uint64_t offset, const void *bytes, size_t size) {
    (void)context;
    pthread_mutex_lock(&session.file);
    int error = file_amend(offset, bytes, size);
    pthread_mutex_unlock(&session.file);
    return error;
}

/* ---- domains ----------------------------------------------------------------------------- */

static domain *domain_create(void) {
    domain *d = calloc(1, sizeof *d);
    if (d)
        pthread_mutex_init(&d->lock, NULL);
    return d;
}

/* Returns the domain with that number; only its own threads create it. Returns NULL when there is
 * no memory. */
static domain *domain_of(unsigned number) {
    if (number >= SESSION_DOMAINS)
        return NULL;
    domain *d = atomic_load_explicit(&session.domains[number], memory_order_acquire);
    domain *none = NULL;
    if (d || !(d = domain_create()))
        return d;
    if (atomic_compare_exchange_strong(&session.domains[number], &none, d))
        return d;
    pthread_mutex_destroy(&d->lock);
    free(d);
    return none;
}

static bool domain_open_locked(domain *d, unsigned number) {
    if (d->stream)
        return true;
    if (!d->codes)
        d->codes = calloc(session.depth + 1, sizeof *d->codes);
    return d->codes &&
           memtrace_stream_open(session.writer, (uint16_t)number, &d->stream) == MEMTRACE_OK;
}

/* Returns the domain, locked and ready for writing in session `number`; NULL if that session is
 * over. */
static domain *domain_enter(uint64_t number, unsigned index) {
    domain *d = session_number() == number ? domain_of(index) : NULL;
    if (!d)
        return NULL;
    pthread_mutex_lock(&d->lock);
    if (session_number() == number && domain_open_locked(d, index))
        return d;
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* Ignores a status: a failure that ends a session has been noted in hook_sink. */
static void ignore_status(memtrace_status status) {
    (void)status;
}

static void domain_close(domain *d, uint64_t now) {
    pthread_mutex_lock(&d->lock);
    if (d->stream)
        ignore_status(memtrace_stream_close_at(d->stream, now));
    free(d->codes);
    d->stream = NULL;
    d->codes = NULL;
    d->ticks = 0;
    pthread_mutex_unlock(&d->lock);
}

/* Writes out what is buffered, except in domains that are busy, which will do it themselves. */
static void domains_flush(void) {
    for (unsigned i = 0; i < SESSION_DOMAINS; i++) {
        domain *d = atomic_load_explicit(&session.domains[i], memory_order_acquire);
        if (!d || pthread_mutex_trylock(&d->lock) != 0)
            continue;
        if (d->stream && memtrace_stream_oldest(d->stream) != UINT64_MAX)
            ignore_status(memtrace_stream_flush(d->stream));
        pthread_mutex_unlock(&d->lock);
    }
}

/* ---- beginning and end ------------------------------------------------------------------- */

/* The child of a fork is not traced: the file and what is buffered for it belong to the parent, and
 * are abandoned. The locks are reset, since threads that no longer exist may have held them. */
static void on_fork_child(void) {
    if (session_number() == 0)
        return;
    atomic_store(&session.number, 0);
    pthread_mutex_init(&session.lock, NULL);
    pthread_mutex_init(&session.file, NULL);
    for (unsigned i = 0; i < SESSION_DOMAINS; i++)
        atomic_store(&session.domains[i], NULL);
    file_end();
}

/* The parent may end silently after the fork, as a process that becomes a daemon does. */
static void before_fork(void) {
    if (session_number() != 0)
        domains_flush();
}

static void register_fork(void) {
    pthread_atfork(before_fork, NULL, on_fork_child);
}

static void session_close_locked(void) {
    const uint64_t now = clock_us(CLOCK_MONOTONIC) - session.start;
    for (unsigned i = 0; i < SESSION_DOMAINS; i++) {
        domain *d = atomic_load_explicit(&session.domains[i], memory_order_acquire);
        if (d)
            domain_close(d, now);
    }
    ignore_status(memtrace_writer_close(session.writer));
    file_end();
}

static int writer_begin(const session_plan *plan) {
    memtrace_info info = plan->info;
    memtrace_writer_options options = {
        .sink = hook_sink, .locate = plan->locate, .amend = hook_amend};
    info.start_time = clock_us(CLOCK_REALTIME);
    info.pid = (uint64_t)getpid();
    session.start = clock_us(CLOCK_MONOTONIC);
    session.rate = plan->info.sample_rate;
    session.depth = plan->depth;
    atomic_store(&session.due, 0);
    atomic_store(&session.latest, 0);
    atomic_store(&session.failure, 0);
    if (memtrace_writer_open(&info, &options, &session.writer, NULL) == MEMTRACE_OK)
        return 0;
    return session_failure() ? session_failure() : ENOMEM;
}

static int session_open_locked(const session_plan *plan) {
    int error = file_begin(plan->fd);
    if (!error)
        error = writer_begin(plan);
    if (error)
        session.fd = -1;
    return error;
}

uint64_t session_begin(const session_plan *plan, int *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint64_t number = 0;
    pthread_once(&once, register_fork);
    pthread_mutex_lock(&session.lock);
    *error = session_number() ? EBUSY : 0;
    if (!*error)
        *error = session_open_locked(plan);
    if (!*error)
        atomic_store(&session.number, number = ++session.n_sessions);
    pthread_mutex_unlock(&session.lock);
    return number;
}

bool session_end(uint64_t number) {
    bool ended = false;
    if (number == 0)
        return false;
    pthread_mutex_lock(&session.lock);
    if (atomic_compare_exchange_strong(&session.number, &number, 0)) {
        session_close_locked();
        ended = true;
    }
    pthread_mutex_unlock(&session.lock);
    return ended;
}

/* ---- events ------------------------------------------------------------------------------ */

/* Returns the interval of looking for old packets. If the process is killed, an eighth of its life
 * is lost, and at most a tenth of a second. */
static uint64_t flush_interval(uint64_t now) {
    enum { LEAST = 1000, MOST = 100000 }; /* microseconds */
    uint64_t part = now / 8;
    return part < LEAST ? LEAST : part < MOST ? part : MOST;
}

/* Unlocks the domain after an event, and does what is due. */
static void domain_leave(domain *d, uint64_t now, memtrace_status status) {
    uint64_t due = atomic_load_explicit(&session.due, memory_order_relaxed);
    if (status == MEMTRACE_NOMEM)
        atomic_store(&session.failure, ENOMEM);
    pthread_mutex_unlock(&d->lock);
    if (session_failure())
        session_end(session_number());
    else if (now >= due &&
             atomic_compare_exchange_strong(&session.due, &due, now + flush_interval(now)))
        domains_flush();
}

uint64_t *session_stack(uint64_t number, unsigned index) {
    domain *d = domain_enter(number, index);
    return d ? d->codes : NULL;
}

bool session_alloc(unsigned index, const session_block *block, size_t n, uint64_t *id) {
    domain *d = domain_of(index);
    uint64_t now = domain_now(d);
    memtrace_status status = memtrace_stream_alloc(d->stream, now, block->source, block->length,
                                                   block->samples, d->codes, n, 0, id);
    domain_leave(d, now, status);
    return status == MEMTRACE_OK;
}

static void session_change(uint64_t number, unsigned index, uint64_t id,
                           memtrace_status put(memtrace_stream *, uint64_t time, uint64_t id)) {
    domain *d = domain_enter(number, index);
    if (!d)
        return;
    uint64_t now = domain_now(d);
    domain_leave(d, now, put(d->stream, now, id));
}

void session_promote(uint64_t number, unsigned index, uint64_t id) {
    session_change(number, index, id, memtrace_stream_promote);
}

void session_collect(uint64_t number, unsigned index, uint64_t id) {
    session_change(number, index, id, memtrace_stream_collect);
}
