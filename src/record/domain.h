/* domain.h: the recorder's state for each thread, called a domain in the trace: the stream of the
 * thread's events, and caches for taking its call stack. A thread gets a domain with its first
 * sample. When the thread ends, the next new thread takes over its domain with number, caches and
 * all. So memory and numbers follow the number of threads alive at a time, not the number of all
 * threads that ever existed.
 * A stream belongs to its thread, but other threads flush old data from it. The owner must not pay
 * for an atomic instruction at each event. So it enters by two plain accesses, and a visitor pays
 * for the synchronization of both with a membarrier. */
#ifndef RECORD_DOMAIN_H
#define RECORD_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "platform/unwind.h"
#include "platform/unwind_trail.h"
#include "record/code.h"
#include "record/lock.h"
#include "record/span.h"

#define DOMAIN_MAX 65536 /* the domain number has 16 bits in the trace */

struct runtime;

/* A block whose birth has not been written yet: see newborn.h. */
struct newborn {
    _Atomic bool waits; /* there is such a block; the other fields are valid only then */
    void *block;
    uint64_t id, time, words, n_samples; /* arguments of stream_alloc_block */
    uint64_t *codes;                     /* of the block's stack; owned by the runtime's state */
    size_t n, common;
};

struct domain {
    struct domain *older;     /* next in the list of all domains; never changes */
    struct domain *next_idle; /* guarded by domain_table.lock */
    uint16_t number;          /* never changes */
    bool fenced;              /* there is no membarrier here; never changes */
    memtrace_stream *stream;  /* used between domain_enter or _visit, and the matching leave */
    _Atomic bool inside;      /* the owner is using the stream */
    _Atomic uint32_t wanted;  /* a visitor uses the stream or wants to: the owner must wait */
    lock visit;               /* held by that visitor */

    struct newborn newborn; /* accessed under the same rules as the stream */

    /* The rest belongs to the thread that owns the domain. */
    unwind_cache *unwind;
    code_cache codes;
    void *runtime; /* the language runtime's state for this thread; NULL: none is recorded */
    uint64_t now;  /* time in the trace, µs, when `now_cycles` was read: see session_now_nearly */
    uint64_t now_cycles;
    uint64_t clock_lasts;  /* how many cycles native.c uses that time for */
    uint64_t event_cycles; /* cycle counter at the last event in native.c */
    uint64_t level;        /* how many times the domain's rate is halved, according to the trace */
    uint64_t random;       /* state of the random numbers that select samples at a halved rate */
    uint64_t name_since,
        name_due; /* when the thread's name was first checked, and is next; in the unit of `now` */
    char name[CODE_THREAD_NAME]; /* thread name in the trace; empty: not yet written */
    uint16_t scope;              /* number of the scope in the trace */
    struct span_state span;

    /* For native.c; NULL or 0 where malloc is not recorded. */
    unwind_trail *trail; /* has the bounds of the stack from the start */
    uint64_t *frames;    /* codes of the last stack, outermost first, after room for a remark */
    size_t n_frames;     /* how many codes in `frames` may be reused; 0: see n_remarked */
    size_t n_remarked;   /* how many codes after a remark may be reused, if there is a remark */
    unsigned type;       /* type of the innermost code */
    uintptr_t elsewhere; /* page of another stack, such as a coroutine's, but no handler's */
};

struct domain_table {
    memtrace_writer *writer;
    size_t depth;                  /* of malloc's stacks, our own frames included; 0: no malloc */
    const struct runtime *runtime; /* runtime whose heap is recorded; NULL: none */
    size_t runtime_depth;          /* maximum depth of its stacks */
    uint64_t clock_lasts;          /* initial value of domain.clock_lasts */
    bool fenced;                   /* there is no membarrier here */
    lock lock;                     /* guards the opening of streams, and `idle` */
    _Atomic(struct domain *) all;  /* newest first; never shrinks */
    struct domain *idle;
    bool opens_stream; /* the next allocation of the writer is for a stream */
    uint32_t count;
};

/* Must be called once, before any domain is acquired. */
void domain_table_init(struct domain_table *table);

/* Returns a domain for the calling thread. Number 0 is only for the main thread. Returns NULL if
 * there is none. */
struct domain *domain_acquire(struct domain_table *table, bool is_main_thread);

void domain_release(struct domain_table *table, struct domain *d);

/* Makes the next stack be written without reuse of the last one. */
static inline void domain_forget_stack(struct domain *d) {
    d->n_frames = d->n_remarked = 0;
}

/* Drops cached data of modules that may have been unloaded. */
void domain_check_modules(struct domain *d);

/* domain_enter lets the owner use its stream; the owner must not have entered it already.
 * domain_wait waits there until a visitor has left. */
void domain_wait(struct domain *d);
static inline void domain_enter(struct domain *d) {
    atomic_store_explicit(&d->inside, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(d->fenced, 0))
        atomic_thread_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&d->wanted, memory_order_acquire) != 0, 0))
        domain_wait(d);
}
/* Enters like domain_enter, for domains that need no fence. Returns false if the owner has to wait,
 * but has entered nevertheless. */
static inline bool domain_enter_fast(struct domain *d) {
    atomic_store_explicit(&d->inside, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(&d->wanted, memory_order_acquire) == 0;
}
static inline void domain_leave(struct domain *d) {
    atomic_store_explicit(&d->inside, false, memory_order_release);
}

/* Enters a domain as a visitor, who may use its stream until domain_visit_end. Returns false if the
 * owner is inside (with `patiently`: if it still is some hundredths of a second later). The owner
 * itself may call this in a signal handler. */
bool domain_visit(struct domain *d, bool patiently);
void domain_visit_end(struct domain *d);

/* Publishes what the caller has written before to all other threads. A domain that is not entered
 * when this returns, or that is created later, takes its next time after that. Returns false if
 * that is impossible here. */
bool domain_table_barrier(const struct domain_table *table);

/* Frees all memory that does not come from the table's memory. No domain may be in use. */
void domain_table_release(struct domain_table *table);

#endif
