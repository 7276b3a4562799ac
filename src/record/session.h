/* session.h: one recording by one process: its file, its trace writer, its engine and its threads.
 * Turns what happens into events of the trace, malloc's blocks by native.h. Knows nothing of how
 * calls are caught, nor when a recording starts or ends: that is recorder.c. */
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

/* What a thread carries with it, in its thread-local storage. */
struct self {
    memprof_thread sampler;
    struct domain *domain; /* NULL until its first sample */
    bool registered;       /* the end of this thread will be noticed */
    bool mapping;          /* it is in mapping.c */
    bool paused;           /* it is in the allocator of a language runtime: see recorder_pause */
    bool interrupted;      /* it forks in a signal handler, maybe inside the recorder */
    uint8_t linked; /* whether it is in an allocator of the program's own: enum linked_call */
    bool waits;     /* its countdown is a gap that was drawn before there was a session */
    uint16_t scope; /* the number of the one that it is in; see scope.h */
    struct session *owner; /* of the domain; NULL if there is none, or it is fenced */
    unsigned session; /* the number of the one that sampler and domain belong to; 0: none yet */
    unsigned births;  /* blocks that were to be recorded, modulo 2^32 */
    struct moved {    /* of a block that realloc has moved, and is recording */
        const void *from, *to; /* NULL, or the same */
    } moved;
};

/* Every function of the recorder knows its own thread by this. */
extern __thread struct self self __attribute__((tls_model("initial-exec"), visibility("hidden")));
_Static_assert(sizeof(struct self) <= 80, "static TLS is scarce for libraries that come late");

/* Ways in that are as short as can be: where they are open, all is well, and what is not NULL is
 * the session. */
struct session_gates {
    _Atomic(struct session *) everything; /* every block is recorded */
    _Atomic(struct session *) fast;       /* some are, or all, and there are `ids` */
};

enum { SESSION_RUNTIME_TYPES = 12 }; /* allocating functions of a language runtime, at most */

struct session {
    memory memory;
    sink sink;
    code_table codes;
    struct domain_table domains;
    rescue rescue; /* of streams; guarded by domains.lock */
    gauges gauges;
    memtrace_writer *writer;
    bool maps; /* what the program maps is recorded, too, by mapping.c */
    lock regions_lock;
    regions regions;    /* that it has mapped, guarded by the lock before */
    struct pools pools; /* the program's own, and their blocks */
    bool records_malloc;
    struct ids *ids;               /* of malloc's blocks that live; NULL: the engine knows them */
    struct session_gates *gates;   /* NULL: there are none */
    memprof *engine;               /* that samples malloc; NULL: it is not recorded, or all of it */
    const struct runtime *runtime; /* whose heap is recorded; NULL: none */
    bool splices;                  /* it is recorded as malloc is, and its frames stand in stacks */
    uint64_t pid;
    unsigned number; /* of the sessions that this process and its ancestors have begun */
    uint64_t start;  /* of the trace, on the monotonic clock, µs */
    uintptr_t own_low, own_high; /* the recorder's own code: no frames of interest */
    unsigned n_object_types;     /* of the runtime's types, the first: see newborn.h */
    const char *type_names[N_CALL_TYPES + SESSION_RUNTIME_TYPES]; /* of allocating functions */
    uint32_t depth;                                               /* frames kept of a stack */
    uint32_t runtime_depth;                                       /* the same for the runtime's */
    double rate;
    uint64_t runtime_seed;
    _Atomic uint64_t latest;         /* the latest answer of session_now_nearly, trace time, µs */
    _Atomic uint64_t next_sweep;     /* when old packets are looked for again, trace time, µs */
    struct pace *pace;               /* that the rate follows; NULL: it stays as it is */
    _Atomic bool pace_begun;         /* a sample has been taken */
    _Atomic bool cpu_due;            /* the pace is to know of the processor time */
    _Atomic uint64_t cpu;            /* microseconds of that which it knows of */
    _Atomic bool tells_written;      /* a thread is at it: see session_sweep_due */
    bool ended_early;                /* the trace says so already */
    _Atomic bool failed;             /* nothing more can be written: the recording should end */
    _Atomic uint64_t lost_domain;    /* samples dropped: no domain could be had for the thread */
    _Atomic uint64_t lost_event;     /* events dropped: the writer had no memory */
    _Atomic uint64_t lost_busy;      /* events dropped: a signal handler's, inside the recorder */
    _Atomic uint64_t lost_room;      /* events dropped: a signal handler's, on a small stack */
    _Atomic uint64_t lost_id;        /* blocks whose end cannot be told: no memory for their ids */
    _Atomic uint64_t implied_deaths; /* frees that nobody saw: another block has the address */
};

/* From this rate on, `ids` take no more memory than the engine's table, and far less time. */
#define SESSION_IDS_RATE 0.01

/* What is recorded. */
struct session_plan {
    const config *config;          /* must stay */
    const struct runtime *runtime; /* whose heap is recorded, too; NULL: none. Must stay */
    uint32_t runtime_depth;        /* of its stacks */
    const char *parameters;        /* of that runtime; NULL: none */
    bool records_malloc;
    bool is_late;              /* the program runs already */
    struct pace *pace;         /* that the rate follows; NULL: that of the run, if it has one */
    rescue *waited;            /* has the run's memory mapped, perhaps; it is taken over */
    uint64_t cpu;              /* microseconds of the process that are no matter of the pace */
    size_t room;               /* bytes for names in traces of everything */
    struct clock_anchor began; /* when the trace begins; zero: now */
};

/* The processor time of the process so far, in microseconds. To ask for it may end the turn of the
 * calling thread: where time is measured, it comes afterwards. */
uint64_t session_process_cpu(void);

/* Lets the pace know of it. */
void session_put_cpu(struct session *s);

/* Starts a recording; the calling thread's sampler becomes active at once. NULL and an errno if it
 * cannot be; EWOULDBLOCK: another process is recording to this file. */
struct session *session_open(const struct session_plan *plan, memprof_filter *filter, int *error);

/* Does any thread have something buffered, as far as can be told at a glance? */
bool session_has_pending(const struct session *s);

/* Writes out what all threads have buffered. Gives up on a thread that is in the way for long: a
 * signal handler may be running inside it. False if not all was written. */
bool session_flush(struct session *s);

/* ---- for the parts of a session ------------------------------------------------------------ */

/* Microseconds since its start. */
static inline uint64_t session_now(const struct session *s) {
    return clock_monotonic_us() - s->start;
}

/* Reading the clock is the dearest part of a small event. So a thread reads it only now and then,
 * and at each event a counter of the CPU, `cycles`, that says whether it must. */
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

/* The time as it was when the calling thread has last read its clock; but never before a time that
 * another thread has used already, whose block the event may be about. */
static inline uint64_t session_now_nearly(struct session *s, struct domain *d) {
    uint64_t latest = atomic_load_explicit(&s->latest, memory_order_relaxed);
    if (latest > d->now)
        d->now = latest;
    return d->now;
}

/* Whether it records every block of malloc's. */
static inline bool session_is_of_everything(const struct session *s) {
    return s->records_malloc && !s->engine;
}

static inline bool session_is_own(const struct session *s, uintptr_t return_address) {
    return return_address - 1 - s->own_low < s->own_high - s->own_low;
}

/* The calling thread's; NULL if none can be had. */
struct domain *session_domain(struct session *s);

/* Opens the gates of a session, as far as it has any; false: closes them. */
void session_open_gates(struct session *s, bool open);

/* Takes note of what the writer said of an event. */
void session_note(struct session *s, memtrace_status status);

/* Adds a remark to the domain that the calling thread is inside. */
void session_put_remark(struct session *s, struct domain *d, uint64_t now, uint64_t code,
                        uint64_t value);

/* What the thread is called goes to the trace, if that has changed; the calling thread is inside
 * its domain. Threads are mostly named soon after their start: looks are close together then. */
void session_name_thread(struct session *s, struct domain *d);
void session_forbid_names(void); /* a filter would end the process for asking; for good */
static inline void session_look_at_name(struct session *s, struct domain *d) {
    if (__builtin_expect(d->now >= d->name_due, 0))
        session_name_thread(s, d);
}

/* The calling thread's scope goes to the trace, if that has another one; before an allocation's
 * stack is taken. The thread is inside its domain. `type` is that of the allocating function. */
void session_tell_scope(struct session *s, struct domain *d, uint64_t now, uint16_t scope);
uint16_t session_scope_of_task(struct session *s, struct domain *d, unsigned type);
static inline void session_look_at_scope(struct session *s, struct domain *d, uint64_t now,
                                         unsigned type) {
    const uint16_t scope = s->splices ? session_scope_of_task(s, d, type) : self.scope;
    if (__builtin_expect(scope != d->scope, 0))
        session_tell_scope(s, d, now, scope);
}

/* The same of its span, which is looked at only if the program publishes any. */
void session_tell_span(struct session *s, struct domain *d, uint64_t now);
static inline void session_look_at_span(struct session *s, struct domain *d, uint64_t now) {
    if (span_is_published())
        session_tell_span(s, d, now);
}

/* Now and then: reads the gauges, and writes out what has become old in any stream; the calling
 * thread is inside its own. Leaves out threads that are at work just now: they will do it
 * themselves. */
void session_sweep_due(struct session *s, uint64_t now, uint64_t due);
static inline void session_sweep(struct session *s, uint64_t now) {
    const uint64_t due = atomic_load_explicit(&s->next_sweep, memory_order_relaxed);
    if (__builtin_expect(now >= due, 0))
        session_sweep_due(s, now, due);
}

/* ---- at the end ------------------------------------------------------------------------------ */

/* Adds a mark to the calling thread's stream. */
void session_mark(struct session *s, const char *remark);

/* How the recording ended, in the trace. That nothing more can be written: from where on events are
 * missing; that something else ends it before the program, of all the heaps or of one; that
 * nothing is missing, if `all` was written; that it goes on nevertheless. */
void session_say_failed(struct session *s);
void session_end_early(struct session *s, const char *why);
void session_say_whole(struct session *s, bool all, const char *why);
void session_say_open(struct session *s);

/* The last words (what was lost, and why), and everything to the file. */
void session_finish(struct session *s);

/* After the end, in a process that goes on: others may use the file, and the memory that grows with
 * the heap is given back. Threads may be at their last event: what each of them has stays. */
void session_leave(struct session *s);

/* Around a fork in a signal handler that may have interrupted the calling thread inside the
 * session: the child's half of the event must not go where the parent's does. The latter in the
 * parent. */
void session_before_fork(struct session *s);
void session_after_fork(struct session *s);

/* In the child of a fork, while it has one thread: lets go of the parent's files. Nobody may look
 * into the session after that, but to abandon it. */
void session_let_go(const struct session *s);

/* The same if that thread was interrupted inside the session: it can go on to the end of its event
 * there, which leads nowhere. */
void session_orphan(struct session *s);

/* Forgets the parent's recording without touching its file, and gives the memory back. No thread
 * may be in the session, or come back to it. */
void session_abandon(struct session *s);

/* Before that, in the child of a fork: hands over what its parent has of the run's memory. */
void session_give_head(struct session *s, rescue *to);

/* The thread ends: gives its domain back. */
void session_thread_exit(struct session *s);

#endif
