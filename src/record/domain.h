/* domain.h: what the recorder keeps for each thread, which is a domain of the trace: the stream of
 * its events and what helps to take its call stack. A thread gets one with its first sample; when
 * it ends, the next new thread takes it over, number, caches and all, so that memory and numbers
 * follow the threads alive at a time, not those that ever were.
 *
 * A stream is its thread's, but others flush what has become old. So that the thread pays no atomic
 * instruction at each event, its way in is two plain accesses, and whoever else wants in pays for
 * both by a membarrier. */
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

#define DOMAIN_MAX 65536 /* the trace has 16 bits for the number */

struct runtime;

/* A block whose birth waits to be written: see newborn.h. */
struct newborn {
    _Atomic bool waits; /* there is one; the rest is valid only then */
    void *block;
    uint64_t id, time, words, n_samples; /* of stream_alloc_block */
    uint64_t *codes;                     /* of its stack, in the runtime's state */
    size_t n, common;
};

struct domain {
    struct domain *older;     /* in the list of all; never changes */
    struct domain *next_idle; /* guarded by domain_table.lock */
    uint16_t number;          /* never changes */
    bool fenced;              /* never changes: there is no membarrier here */
    memtrace_stream *stream;  /* to be used between domain_enter or _visit, and _leave */
    _Atomic bool inside;      /* the thread is at the stream */
    _Atomic uint32_t wanted;  /* somebody else is, or wants to: the thread must wait */
    lock visit;               /* held by that somebody */

    struct newborn newborn; /* whoever may be at the stream may be at it */

    /* The rest belongs to the thread that has the domain. */
    unwind_cache *unwind;
    code_cache codes;
    void *runtime; /* what the language runtime keeps here; NULL: none is recorded */
    uint64_t now;  /* trace time, µs, as of `now_cycles`: see session_now_nearly */
    uint64_t now_cycles;
    uint64_t clock_lasts;  /* for so many cycles, in native.c */
    uint64_t event_cycles; /* as of the last event, there */
    uint64_t level;        /* how many times its rate is halved, as the trace says */
    uint64_t random;       /* that decides which samples go on then */
    uint64_t name_since,
        name_due; /* the thread's name was first looked at; is to be; both as `now` */
    char name[CODE_THREAD_NAME]; /* as the trace has it; empty: not yet */
    uint16_t scope;              /* the number of the one that the trace has */
    struct span_state span;

    /* Of native.c; NULL, 0 where malloc is not recorded. */
    unwind_trail *trail; /* knows the stack from the beginning */
    uint64_t *frames;    /* codes of the last stack, outermost first, behind room for a remark */
    size_t n_frames;     /* of them, how many may be found again; 0: see n_remarked */
    size_t n_remarked;   /* if there is a remark in front: so many behind it may be */
    unsigned type;       /* that the innermost of them bears */
    uintptr_t
        elsewhere; /* the page of another stack, such as a coroutine's, that is no handler's */
};

struct domain_table {
    memtrace_writer *writer;
    size_t depth;                  /* of stacks of malloc, our own frames included; 0: none are */
    const struct runtime *runtime; /* whose heap is recorded; NULL: none */
    size_t runtime_depth;          /* of its stacks */
    uint64_t clock_lasts;          /* for domains */
    bool fenced;                   /* there is no membarrier here */
    lock lock;                     /* guards opening, and `idle` */
    _Atomic(struct domain *) all;  /* newest first; only grows */
    struct domain *idle;
    bool opens_stream; /* the next memory asked for is that of a stream */
    uint32_t count;
};

/* To be called once, before any domain is acquired. */
void domain_table_init(struct domain_table *table);

/* A domain for the calling thread; number 0 only for the main thread. NULL if none can be had. */
struct domain *domain_acquire(struct domain_table *table, bool is_main_thread);

void domain_release(struct domain_table *table, struct domain *d);

/* The next stack is not to be compared with the last one. */
static inline void domain_forget_stack(struct domain *d) {
    d->n_frames = d->n_remarked = 0;
}

/* Forgets what was learnt of modules that may have been unloaded. */
void domain_check_modules(struct domain *d);

/* The owner's way to its stream. It must not be inside already. */
void domain_wait(struct domain *d);
static inline void domain_enter(struct domain *d) {
    atomic_store_explicit(&d->inside, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(d->fenced, 0))
        atomic_thread_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&d->wanted, memory_order_acquire) != 0, 0))
        domain_wait(d);
}
/* The same where it takes no fence; false if it takes waiting, but it is inside. */
static inline bool domain_enter_fast(struct domain *d) {
    atomic_store_explicit(&d->inside, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(&d->wanted, memory_order_acquire) == 0;
}
static inline void domain_leave(struct domain *d) {
    atomic_store_explicit(&d->inside, false, memory_order_release);
}

/* Somebody else's way to it: false if the owner stays inside for long (some hundredths of a second
 * at most, or not at all). May be called by the owner, in a signal handler. */
bool domain_visit(struct domain *d, bool patiently);
void domain_visit_end(struct domain *d);

/* Lets all other threads see what the caller has written before: who is not inside afterwards, or
 * comes to be among all, takes its next time after that. False where there is no way to. */
bool domain_table_barrier(const struct domain_table *table);

/* Gives back what does not come from the table's memory; nobody may be using any domain. */
void domain_table_release(struct domain_table *table);

#endif
