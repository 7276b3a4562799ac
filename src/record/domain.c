#include "record/domain.h"

#include <stdatomic.h>
#include <string.h>

#include "platform/pages.h"

static struct domain *domain_create(struct domain_table *table, uint16_t number) {
    struct domain *d = memory_alloc(table->memory, sizeof *d);
    if (!d)
        return NULL;
    memset(d, 0, sizeof *d);
    d->number = number;
    d->pcs_size = table->pcs_size;
    d->pcs = memory_alloc(table->memory, d->pcs_size * sizeof *d->pcs);
    d->unwind = pages_alloc(unwind_cache_size());
    if (d->pcs && d->unwind &&
        memtrace_stream_open(table->writer, number, &d->stream) == MEMTRACE_OK)
        return d;
    pages_free(d->unwind, unwind_cache_size());
    memory_free(table->memory, d->pcs, d->pcs_size * sizeof *d->pcs);
    memory_free(table->memory, d, sizeof *d);
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

struct domain *domain_acquire(struct domain_table *table, bool is_main_thread) {
    lock_acquire(&table->lock);
    struct domain *d = is_main_thread ? NULL : table->idle;
    if (d)
        table->idle = d->next_idle;
    else
        d = domain_open_locked(table, is_main_thread);
    lock_release(&table->lock);
    if (d)
        d->stack_known = false;
    return d;
}

void domain_release(struct domain_table *table, struct domain *d) {
    lock_acquire(&table->lock);
    d->next_idle = table->idle;
    table->idle = d;
    lock_release(&table->lock);
}

void domain_table_release(struct domain_table *table) {
    for (struct domain *d = atomic_load(&table->all); d; d = d->older)
        pages_free(d->unwind, unwind_cache_size());
}
