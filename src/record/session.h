/* session.h: one recording by one process: its file, its trace writer, its engine and its threads.
 * Converts what happens into events of the trace; native.h does so for malloc's blocks. Does not
 * know how calls are intercepted or when a recording starts and ends: that is recorder.c. */
#ifndef RECORD_SESSION_H
#define RECORD_SESSION_H

#include "allotrace/memprof.h"
#include "allotrace/memtrace.h"
#include "platform/clock.h"
#include "platform/cpu.h"
#include "record/calls.h"
#include "record/code.h"
#include "record/config.h"
#include "record/domain.h"
#include "record/gauges.h"
#include "record/memory.h"
#include "record/pools.h"
#include "record/regions.h"
#include "record/rescue.h"
#include "record/sink.h"

/* A thread's state, in thread-local storage. */
struct self {
    memprof_thread sampler;
    struct domain *domain; /* NULL until the thread's first sample */
    bool registered;       /* the end of this thread will be noticed */
    bool mapping;          /* the thread is inside mapping.c */
    bool paused;           /* the thread is in a language runtime's allocator: see recorder_pause */
    bool interrupted;      /* it forks in a signal handler, maybe inside the recorder */
    uint8_t linked; /* whether it is in an allocator linked into the program: enum linked_call */
    bool waits;     /* its countdown is a gap that was drawn before there was a session */
    uint16_t scope; /* number of its scope: see scope.h */
    struct session *owner; /* session of `domain`; NULL if there is no domain or if it is fenced */
    unsigned session;      /* number of the session of sampler and domain; 0: none yet */
    unsigned births;       /* number of blocks that were to be recorded, modulo 2^32 */
    struct moved {         /* the block that realloc has moved and is recording now */
        const void *from, *to; /* old and new address, or NULL */
    } moved;
};

/* Every function of the recorder gets its thread's state from here. */
extern __thread struct self self __attribute__((tls_model("initial-exec"), visibility("hidden")));
_Static_assert(sizeof(struct self) <= 80, "static TLS is scarce for libraries that come late");

/* The shortest entries to a session. A gate that is open is not NULL: it is the session, and
 * nothing is wrong with it. */
struct session_gates {
    _Atomic(struct session *) everything; /* every block is recorded */
    _Atomic(struct session *) fast;       /* some or all blocks are recorded, and `ids` is used */
};

enum { SESSION_RUNTIME_TYPES = 12 }; /* most allocating functions of a language runtime */

struct session {
    memory memory;
    sink sink;
    code_table codes;
    struct domain_table domains;
    rescue rescue; /* memory of streams; guarded by domains.lock */
    gauges gauges;
    memtrace_writer *writer;
    bool maps; /* memory that the program maps is recorded, too, by mapping.c */
    lock regions_lock;
    regions regions;    /* the program's mappings; guarded by regions_lock */
    struct pools pools; /* the program's own pools and their blocks */
    bool records_malloc;
    struct ids *ids;               /* ids of malloc's live blocks; NULL: the engine keeps them */
    struct session_gates *gates;   /* NULL: there are none */
    memprof *engine;               /* samples malloc; NULL: all or nothing is recorded */
    const struct runtime *runtime; /* runtime whose heap is recorded; NULL: none */
    bool splices;                  /* it is recorded like malloc, its frames among native ones */
    uint64_t pid;
    unsigned number; /* counts the sessions that this process and its ancestors have begun */
    uint64_t start;  /* start of the trace on the monotonic clock, µs */
    uintptr_t own_low, own_high; /* the recorder's own code, whose frames are left out */
    unsigned n_object_types;     /* how many of the runtime's types, from the first, give objects */
    const char *type_names[N_CALL_TYPES + SESSION_RUNTIME_TYPES]; /* by allocating function */
    uint32_t depth;                                               /* most frames kept of a stack */
    uint32_t runtime_depth;                                       /* of the runtime's stacks */
    double rate;
    uint64_t runtime_seed;
    _Atomic uint64_t latest;         /* latest result of session_now_nearly, trace time, µs */
    _Atomic uint64_t next_sweep;     /* when old packets are looked for again, trace time, µs */
    struct pace *pace;               /* the pace that the rate follows; NULL: the rate is fixed */
    _Atomic bool pace_begun;         /* the first sample was taken */
    _Atomic bool cpu_due;            /* pace->cpu must be updated */
    _Atomic uint64_t cpu;            /* CPU time already included in pace->cpu, µs */
    _Atomic bool tells_written;      /* a thread is making the statement of session_begin_written */
    bool ended_early;                /* the trace already says that it ended early */
    _Atomic bool failed;             /* nothing more can be written: the recording should end */
    _Atomic uint64_t lost_domain;    /* samples dropped: there was no domain for the thread */
    _Atomic uint64_t lost_event;     /* events dropped: the writer had no memory */
    _Atomic uint64_t lost_busy;      /* events dropped: in a signal handler, inside the recorder */
    _Atomic uint64_t lost_room;      /* events dropped: in a signal handler, on a small stack */
    _Atomic uint64_t lost_id;        /* blocks whose ids could not be kept: no memory */
    _Atomic uint64_t implied_deaths; /* frees that were not seen: another block got the address */
};

/* From this rate on, `ids` takes no more memory than the engine's table, and far less time. */
#define SESSION_IDS_RATE 0.01

/* What a session records. */
struct session_plan {
    const config *config;          /* must outlive the session */
    const struct runtime *runtime; /* runtime to record, too, or NULL; must outlive the session */
    uint32_t runtime_depth;        /* maximum depth of the runtime's stacks */
    const char *parameters;        /* the runtime's settings; NULL: none */
    bool records_malloc;
    bool is_late;              /* the program is already running */
    struct pace *pace;         /* that the rate follows; NULL: the run's, if there is one */
    rescue *waited;            /* may have the run's memory mapped; the mapping is taken over */
    uint64_t cpu;              /* CPU time of the process that pace->cpu excludes, µs */
    size_t room;               /* bytes of room for names, at rate 1 */
    struct clock_anchor began; /* start of the trace; zero: now */
};

/* Returns the CPU time of the process so far, µs. This call may end the thread's time slice, so
 * where time is measured, it comes after the measurement. */
uint64_t session_process_cpu(void);

/* Adds the CPU time since the last call to the pace. */
void session_put_cpu(struct session *s);

/* Starts a recording; the calling thread's sampler becomes active at once. On failure returns NULL
 * and sets *error to an errno; EWOULDBLOCK: another process is recording to this file. */
struct session *session_open(const struct session_plan *plan, memprof_filter *filter, int *error);

/* Returns whether any thread seems to have buffered data. Takes no lock. */
bool session_has_pending(const struct session *s);

/* Writes out the data that all threads have buffered. Gives up on a thread that stays inside its
 * domain for long: a signal handler may be running there. Returns false if not everything was
 * written. */
bool session_flush(struct session *s);

/* ---- for the parts of a session ------------------------------------------------------------ */

/* Returns the time since the session's start, µs. */
static inline uint64_t session_now(const struct session *s) {
    return clock_monotonic_us() - s->start;
}

/* Reading the clock is the most expensive part of a small event. So a thread reads it only now and
 * then. At each event it reads a counter of the CPU, `cycles`, which tells whether the clock must
 * be read again. */
static inline bool session_clock_is_old(const struct domain *d, uint64_t cycles, uint64_t most) {
    return __builtin_expect(cycles - d->now_cycles >= most, 0);
}

static inline void session_raise_latest(struct session *s, uint64_t now) {
    uint64_t latest = atomic_load_explicit(&s->latest, memory_order_relaxed);
    while (latest < now && !atomic_compare_exchange_weak(&s->latest, &latest, now))
        ;
}

static inline void session_read_clock(struct session *s, struct domain *d, uint64_t cycles) {
    const uint64_t now = session_now(s);
    if (now > d->now)
        d->now = now;
    d->now_cycles = cycles;
    session_raise_latest(s, d->now);
}

/* Returns the time at which the calling thread last read its clock, but never one before a time
 * that another thread has already used: the event may be about a block of that thread. */
static inline uint64_t session_now_nearly(struct session *s, struct domain *d) {
    uint64_t latest = atomic_load_explicit(&s->latest, memory_order_relaxed);
    if (latest > d->now)
        d->now = latest;
    return d->now;
}

/* Returns whether every block of malloc is recorded. */
static inline bool session_is_of_everything(const struct session *s) {
    return s->records_malloc && !s->engine;
}

static inline bool session_is_own(const struct session *s, uintptr_t return_address) {
    return return_address - 1 - s->own_low < s->own_high - s->own_low;
}

/* Returns the calling thread's domain; NULL if there is none. */
struct domain *session_domain(struct session *s);

/* Opens the gates that the session may use, or with false closes all. */
void session_open_gates(struct session *s, bool open);

/* Handles the writer's status for an event. */
void session_note(struct session *s, memtrace_status status);

/* Adds a remark to the domain, which the calling thread must have entered. */
void session_put_remark(struct session *s, struct domain *d, uint64_t now, uint64_t code,
                        uint64_t value);

/* From now on, neither names of threads nor single mappings are asked for: a filter would end the
 * process. */
void session_forbid_asking(void);

/* Writes the name of the calling thread to the trace if it has changed. The thread must have
 * entered its domain. Threads are mostly named soon after their start, so checks are close together
 * at first. */
void session_name_thread(struct session *s, struct domain *d);
static inline void session_look_at_name(struct session *s, struct domain *d) {
    if (__builtin_expect(d->now >= d->name_due, 0))
        session_name_thread(s, d);
}

/* session_look_at_scope writes the calling thread's scope to the trace if it has changed. It is
 * called before an allocation's stack is taken, and the thread must have entered its domain. `type`
 * is that of the allocating function. */
void session_tell_scope(struct session *s, struct domain *d, uint64_t now, uint16_t scope);
uint16_t session_scope_of_task(struct session *s, struct domain *d, unsigned type);
static inline void session_look_at_scope(struct session *s, struct domain *d, uint64_t now,
                                         unsigned type) {
    const uint16_t scope = s->splices ? session_scope_of_task(s, d, type) : self.scope;
    if (__builtin_expect(scope != d->scope, 0))
        session_tell_scope(s, d, now, scope);
}

/* session_look_at_span does the same for the thread's span, which is read only if the program
 * publishes spans. */
void session_tell_span(struct session *s, struct domain *d, uint64_t now);
static inline void session_look_at_span(struct session *s, struct domain *d, uint64_t now) {
    if (span_is_published())
        session_tell_span(s, d, now);
}

/* session_sweep is called now and then. If a sweep is due, it reads the gauges and writes out old
 * data of all streams. The calling thread must have entered its own domain. Domains that are in use
 * at the moment are left out: their threads will do it themselves. */
void session_sweep_due(struct session *s, uint64_t now, uint64_t due);
static inline void session_sweep(struct session *s, uint64_t now) {
    const uint64_t due = atomic_load_explicit(&s->next_sweep, memory_order_relaxed);
    if (__builtin_expect(now >= due, 0))
        session_sweep_due(s, now, due);
}

/* ---- at the end ---------------------------------------------------------------------------- */

/* Adds a mark to the calling thread's stream. */
void session_mark(struct session *s, const char *remark);

/* Write to the trace how the recording ended. session_say_failed: nothing more can be written, with
 * the time from which events are missing. session_end_early: the recording of all heaps, or of one,
 * has ended before the program. session_say_whole: nothing is missing, if `all` was written.
 * session_say_open: the recording goes on after all. */
void session_say_failed(struct session *s);
void session_end_early(struct session *s, const char *why);
void session_say_whole(struct session *s, bool all, const char *why);
void session_say_open(struct session *s);

/* Writes the last marks (losses and their reasons), and flushes everything to the file. */
void session_finish(struct session *s);

/* Called after the end in a process that continues. Others may then use the file, and memory that
 * grows with the heap is freed. Threads may still be inside their last event, so their own state
 * stays. */
void session_leave(struct session *s);

/* Called around a fork in a signal handler that may have interrupted the calling thread inside the
 * session. They keep the child's half of an event apart from the parent's. session_after_fork is
 * called in the parent. */
void session_before_fork(struct session *s);
void session_after_fork(struct session *s);

/* Called in the child of a fork, while it has one thread: lets go of the parent's files. Afterwards
 * the session may only be abandoned. */
void session_let_go(const struct session *s);

/* Called instead if that thread was interrupted inside the session. The thread can continue to the
 * end of its event there, which is then discarded. */
void session_orphan(struct session *s);

/* Discards the parent's recording without touching its file, and frees the memory. No thread may be
 * in the session or return to it. */
void session_abandon(struct session *s);

/* Called before session_abandon in the child of a fork: hands over the parent's mapping of the
 * run's memory. */
void session_give_head(struct session *s, rescue *to);

/* Called at the end of a thread: gives its domain back. */
void session_thread_exit(struct session *s);

#endif
