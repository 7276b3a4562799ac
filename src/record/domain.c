/* domain.c: how threads enter domains, and how domains are created and reused. native.c enters the
 * domain of its own thread by the two accesses in domain.h, and comes here only if another thread
 * wants to enter. session.c visits domains of other threads to flush them. This file also checks,
 * before a stack is taken, the modules that a domain's caches refer to. */
#include "record/domain.h"

#include <linux/membarrier.h>
#include <stdatomic.h>
#include <string.h>

#include "platform/pages.h"
#include "record/runtime.h"

/* Values of domain.wanted: no visitor; a visitor is in or wants in; and the owner sleeps until the
 * visitor leaves. */
enum { FREE, WANTED, AWAITED };

/* ---- entering ------------------------------------------------------------------------------ */

void domain_table_init(struct domain_table *table) {
    table->fenced = syscall_failed(
        syscall4(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0));
}

/* Makes all other threads of the process execute a full barrier at some point during this call.
 * Returns false if that failed. */
static bool barrier_everywhere(bool fenced) {
    atomic_thread_fence(memory_order_seq_cst);
    return fenced ||
           !syscall_failed(syscall4(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0));
}

void domain_wait(struct domain *d) {
    do {
        uint32_t wanted = WANTED;
        domain_leave(d);
        while (wanted != FREE) {
            if (wanted == AWAITED || atomic_compare_exchange_strong(&d->wanted, &wanted, AWAITED))
                syscall4(SYS_futex, (long)&d->wanted, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, AWAITED, 0);
            wanted = atomic_load(&d->wanted);
        }
        atomic_store(&d->inside, true);
    } while (atomic_load(&d->wanted) != FREE);
}

bool domain_visit(struct domain *d, bool patiently) {
    if (!(patiently ? lock_acquire_patiently(&d->visit) : lock_try(&d->visit)))
        return false;
    atomic_store(&d->wanted, WANTED);
    int naps = !barrier_everywhere(d->fenced) ? -1 : patiently ? LOCK_PATIENCE : 0;
    for (int i = 0; naps < 0 || atomic_load_explicit(&d->inside, memory_order_acquire); i++) {
        if (i >= naps) {
            domain_visit_end(d);
            return false;
        }
        lock_nap();
    }
    return true;
}

void domain_visit_end(struct domain *d) {
    if (atomic_exchange(&d->wanted, FREE) == AWAITED)
        syscall4(SYS_futex, (long)&d->wanted, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0);
    lock_release(&d->visit);
}

bool domain_table_barrier(const struct domain_table *table) {
    return barrier_everywhere(table->fenced);
}

/* ---- stacks -------------------------------------------------------------------------------- */

void domain_check_modules(struct domain *d) {
    const uint32_t epoch = code_epoch();
    unwind_cache_check(d->unwind);
    if (__builtin_expect(epoch == d->codes.epoch, 1))
        return;
    domain_forget_stack(d);
    code_cache_forget(&d->codes, epoch);
}

/* ---- domains ------------------------------------------------------------------------------- */

/* One more than the number of frames: a remark may precede them. */
static size_t domain_frames_size(const struct domain_table *table) {
    return (table->depth + 1) * sizeof(uint64_t);
}

static void domain_free(struct domain *d, const struct domain_table *table) {
    pages_free(d->unwind, unwind_cache_size());
    pages_free(d->trail, unwind_trail_size(table->depth));
    pages_free(d->frames, domain_frames_size(table));
    if (d->runtime)
        pages_free(d->runtime, table->runtime->domain_size(table->runtime_depth));
    pages_free(d, sizeof *d);
}

static bool domain_make_trail(struct domain *d, const struct domain_table *table) {
    d->trail = pages_alloc(unwind_trail_size(table->depth));
    d->frames = pages_alloc(domain_frames_size(table));
    if (!d->trail || !d->frames)
        return false;
    unwind_trail_init(d->trail, d->unwind, table->depth);
    return true;
}

static bool domain_make_runtime(struct domain *d, const struct domain_table *table) {
    d->runtime = pages_alloc(table->runtime->domain_size(table->runtime_depth));
    if (d->runtime)
        table->runtime->domain_init(d->runtime, table->runtime_depth);
    return d->runtime;
}

static bool domain_open_stream_locked(struct domain_table *table, struct domain *d) {
    table->opens_stream = true;
    memtrace_status status = memtrace_stream_open(table->writer, d->number, &d->stream);
    table->opens_stream = false;
    return status == MEMTRACE_OK;
}

static struct domain *domain_create(struct domain_table *table, uint16_t number) {
    struct domain *d = pages_alloc(sizeof *d); /* a short program touches little of it */
    if (!d)
        return NULL;
    d->number = number;
    d->fenced = table->fenced;
    d->clock_lasts = table->clock_lasts;
    d->codes.epoch = code_epoch(); /* the new cache is empty, so it need not be emptied */
    d->unwind = pages_alloc(unwind_cache_size());
    if (d->unwind && (table->depth == 0 || domain_make_trail(d, table)) &&
        (!table->runtime || domain_make_runtime(d, table)) && domain_open_stream_locked(table, d))
        return d;
    domain_free(d, table);
    return NULL;
}

static struct domain *domain_open_locked(struct domain_table *table, bool is_main_thread) {
    if (!is_main_thread && table->count == DOMAIN_MAX - 1)
        return NULL;
    struct domain *d = domain_create(table, (uint16_t)(is_main_thread ? 0 : table->count + 1));
    if (!d)
        return NULL;
    table->count += !is_main_thread;
    d->older = atomic_load_explicit(&table->all, memory_order_relaxed);
    atomic_store_explicit(&table->all, d, memory_order_release);
    return d;
}

/* Makes the trail that of the calling thread. */
static void domain_find_stack(struct domain *d) {
    uintptr_t low, high;
    unwind_stack_bounds(&low, &high);
    unwind_trail_set_stack(d->trail, low, high);
    d->elsewhere = 0;
}

struct domain *domain_acquire(struct domain_table *table, bool is_main_thread) {
    lock_acquire(&table->lock);
    struct domain *d = is_main_thread ? NULL : table->idle;
    if (d)
        table->idle = d->next_idle;
    else
        d = domain_open_locked(table, is_main_thread);
    lock_release(&table->lock);
    if (d && d->trail)
        domain_find_stack(d);
    return d;
}

void domain_release(struct domain_table *table, struct domain *d) {
    lock_acquire(&table->lock);
    d->next_idle = table->idle;
    table->idle = d;
    lock_release(&table->lock);
}

void domain_table_release(struct domain_table *table) {
    for (struct domain *d = atomic_load(&table->all), *older; d; d = older) {
        older = d->older;
        domain_free(d, table);
    }
}
