/* domain.h: what the recorder keeps for each thread, which is a domain of the trace: the stream of
 * its events and what helps to take its call stack. A thread gets one with its first sample; when
 * it ends, the next new thread takes it over, number, caches and all, so that memory and numbers
 * follow the threads alive at a time, not those that ever were. */
#ifndef RECORD_DOMAIN_H
#define RECORD_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "platform/unwind.h"
#include "record/code.h"
#include "record/lock.h"

#define DOMAIN_MAX 65536 /* the trace has 16 bits for the number */

struct domain {
    struct domain *older;     /* in the list of all; never changes */
    struct domain *next_idle; /* guarded by domain_table.lock */
    uint16_t number;          /* never changes */
    lock lock;                /* guards `stream`: others flush what has become old */
    memtrace_stream *stream;

    /* The rest belongs to the thread that has the domain. */
    bool stack_known;
    uintptr_t stack_low, stack_high;
    unwind_cache *unwind;
    uintptr_t *pcs;  /* room for a stack being taken */
    size_t pcs_size; /* how many fit */
    code_cache codes;
};

struct domain_table {
    memory *memory;
    memtrace_writer *writer;
    size_t pcs_size;
    lock lock;                    /* guards opening, and `idle` */
    _Atomic(struct domain *) all; /* newest first; only grows */
    struct domain *idle;
    uint32_t count;
};

/* A domain for the calling thread; number 0 only for the main thread. NULL if none can be had. */
struct domain *domain_acquire(struct domain_table *table, bool is_main_thread);

void domain_release(struct domain_table *table, struct domain *d);

/* Gives back what does not come from the table's memory; nobody may be using any domain. */
void domain_table_release(struct domain_table *table);

#endif
