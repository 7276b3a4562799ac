/* code.c: the modules that were seen on stacks, and the locations of codes in the trace. native.c
 * asks for the code of an address. Each domain caches codes (code.h), so only a new address gets
 * here, where its module is looked up. When the writer writes a code for the first time, session.c
 * gets its location here. The list of modules only grows, and readers walk it without a lock. */
#include "record/code.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#include "platform/module.h"
#include "record/gauges.h"
#include "record/text.h"

/* A module that was seen on a stack. Only `epoch` ever changes. */
struct code_module {
    struct code_module *older;
    uintptr_t low, high;    /* addresses */
    uintptr_t bias;         /* address in memory minus address in the ELF file */
    uint16_t generation;    /* see code.h */
    _Atomic uint32_t epoch; /* epoch in which it was last seen */
    const char *file;       /* PATH[BUILD-ID] */
    const char *base;       /* last part of PATH; ends at '[' */
};

/* Counts the times at which modules may have been unloaded. */
_Atomic uint32_t code_epoch_now = 1;

void code_modules_changed(void) {
    atomic_fetch_add_explicit(&code_epoch_now, 1, memory_order_release);
}

static bool module_holds(const struct code_module *m, uintptr_t address) {
    return address >= m->low && address < m->high;
}

/* Returns the module at `address`, if it was already seen in this epoch. */
static struct code_module *module_known(code_table *table, uintptr_t address, uint32_t epoch) {
    struct code_module *m = atomic_load_explicit(&table->modules, memory_order_acquire);
    while (m && !(module_holds(m, address) &&
                  atomic_load_explicit(&m->epoch, memory_order_relaxed) == epoch))
        m = m->older;
    return m;
}

/* Writes PATH[BUILD-ID]. Returns the offset of the last part of PATH. */
static size_t module_name(const struct module *module, char *name, size_t size) {
    text t = text_in(name, size);
    size_t id_room = 2 * module->build_id_size + 2;
    t.next += module_path(module, name, size > id_room ? size - id_room : 1);
    const char *slash = strrchr(name, '/');
    text_add(&t, "[");
    for (size_t i = 0; i < module->build_id_size; i++) {
        text_add_number(&t, module->build_id[i] >> 4, 16);
        text_add_number(&t, module->build_id[i] & 15, 16);
    }
    text_add(&t, "]");
    return slash ? (size_t)(slash + 1 - name) : 0;
}

static char *copy_string(memory *m, const char *s) {
    size_t size = strlen(s) + 1;
    char *copy = memory_alloc(m, size);
    return copy ? memcpy(copy, s, size) : NULL;
}

static struct code_module *module_add_locked(code_table *table, const struct module *found,
                                             const char *name, size_t base, unsigned generation) {
    struct code_module *m = memory_alloc(table->memory, sizeof *m);
    const char *file = copy_string(table->memory, name);
    if (!m || !file)
        return NULL;
    *m = (struct code_module){
        .older = atomic_load_explicit(&table->modules, memory_order_relaxed),
        .low = found->low,
        .high = found->high,
        .bias = found->bias,
        .generation =
            (uint16_t)(generation < CODE_LAST_GENERATION ? generation : CODE_LAST_GENERATION),
        .file = file,
        .base = file + base,
    };
    atomic_store_explicit(&table->modules, m, memory_order_release);
    return m;
}

/* Returns the entry of this module, which is loaded now. That is its earlier entry if there is one,
 * even if it was in doubt meanwhile. Otherwise it is a new entry, one generation after the entries
 * whose addresses it overlaps. */
static struct code_module *module_enter_locked(code_table *table, const struct module *found,
                                               const char *name, size_t base) {
    unsigned generation = 0;
    struct code_module *m = atomic_load_explicit(&table->modules, memory_order_relaxed);
    for (; m; m = m->older) {
        if (m->low >= found->high || found->low >= m->high)
            continue;
        if (m->low == found->low && m->bias == found->bias && strcmp(m->file, name) == 0)
            return m;
        if (m->generation >= generation)
            generation = m->generation + 1u;
    }
    return module_add_locked(table, found, name, base, generation);
}

static struct code_module *module_meet(code_table *table, uintptr_t address, uint32_t epoch) {
    enum { NAME_ROOM = PATH_MAX + 128 };
    struct code_module *m = NULL;
    struct module found;
    if (!module_find(address, &found))
        return NULL;
    lock_acquire(&table->lock);
    if (!table->name)
        table->name = memory_alloc(table->memory, NAME_ROOM);
    if (table->name) {
        size_t base = module_name(&found, table->name, NAME_ROOM);
        m = module_enter_locked(table, &found, table->name, base);
    }
    if (m)
        atomic_store_explicit(&m->epoch, epoch, memory_order_relaxed);
    lock_release(&table->lock);
    return m;
}

void code_cache_forget(code_cache *cache, uint32_t epoch) {
    memset(cache->codes, 0, sizeof cache->codes);
    cache->epoch = epoch;
}

uint64_t code_of(code_table *table, code_cache *cache, uintptr_t return_address) {
    uint64_t *slot = &cache->codes[code_slot(return_address)];
    if (return_address & ~CODE_ADDRESS_MASK)
        return CODE_LOST; /* no address: the walk went astray in code without unwind tables */
    if (!return_address || (*slot & CODE_ADDRESS_MASK) != return_address) {
        /* The call may be the last instruction of its module, so the return address may be outside
         * it. */
        struct code_module *m = module_known(table, return_address - 1, cache->epoch);
        if (!m)
            m = module_meet(table, return_address - 1, cache->epoch);
        *slot = (return_address & CODE_ADDRESS_MASK) | (m ? (uint64_t)m->generation : 0)
                                                           << CODE_GENERATION_AT;
    }
    return *slot;
}

uint64_t code_of_mark(code_table *table, const char *remark) {
    uint64_t code = 0;
    lock_acquire(&table->lock);
    uint32_t n = atomic_load_explicit(&table->n_marks, memory_order_relaxed);
    uint32_t i = 0;
    while (i < n && strcmp(table->marks[i], remark) != 0)
        i++;
    const char *copy = i == n && n < CODE_MAX_MARKS ? copy_string(table->memory, remark) : NULL;
    if (copy) {
        table->marks[n] = copy;
        atomic_store_explicit(&table->n_marks, n + 1, memory_order_release);
    }
    if (i < n || copy)
        code = CODE_MARKS + i;
    lock_release(&table->lock);
    return code;
}

uint64_t code_of_thread(code_table *table, const char *name) {
    static const char others[CODE_THREAD_NAME] = "(other threads)";
    enum { LAST = CODE_MAX_THREADS - 1 };
    lock_acquire(&table->lock);
    if (!table->threads)
        table->threads = memory_alloc(table->memory, CODE_MAX_THREADS * sizeof *table->threads);
    const uint32_t n = atomic_load_explicit(&table->n_threads, memory_order_relaxed);
    const bool there = table->threads;
    uint32_t i = 0;
    while (there && i < n && memcmp(table->threads[i], name, CODE_THREAD_NAME) != 0)
        i++;
    i = i < LAST ? i : LAST;
    if (there && i == n) {
        memcpy(table->threads[n], n < LAST ? name : others, CODE_THREAD_NAME);
        atomic_store_explicit(&table->n_threads, n + 1, memory_order_release);
    }
    lock_release(&table->lock);
    return there ? CODE_THREADS + i : 0;
}

/* ---- pools ------------------------------------------------------------------------------- */

/* Call sites of pools beyond MOST_POOL_SITES get no type. */
enum { POOL_SITES_LOG2 = 14, POOL_SITES = 1 << POOL_SITES_LOG2, MOST_POOL_SITES = POOL_SITES / 2 };

typedef struct code_pool_site pool_site;

/* Returns the place of the site in the hash table, or the free place where it belongs. */
static pool_site *pool_site_place(pool_site *sites, uint64_t code, uint16_t pool) {
    size_t at = hash_u64(code ^ (uint64_t)pool << CODE_TYPE_AT) >> (64 - POOL_SITES_LOG2);
    for (;; at = (at + 1) % POOL_SITES) {
        const uint64_t there = atomic_load_explicit(&sites[at].code, memory_order_acquire);
        if (!there || (there == code && sites[at].pool == pool))
            return &sites[at];
    }
}

/* Memory of this size is a mapping of its own, and so is zeroed. */
static pool_site *pool_sites_locked(code_table *table) {
    _Static_assert(POOL_SITES * sizeof(pool_site) > 1 << MEMORY_MAX_SHIFT,
                   "the table is a mapping of its own");
    pool_site *sites = atomic_load_explicit(&table->pool_sites, memory_order_relaxed);
    if (!sites)
        sites = memory_alloc(table->memory, POOL_SITES * sizeof *sites);
    atomic_store_explicit(&table->pool_sites, sites, memory_order_release);
    return sites;
}

/* Returns NULL if there is no room. */
static pool_site *pool_site_add(code_table *table, uint64_t code, uint16_t pool) {
    lock_acquire(&table->lock);
    pool_site *sites = pool_sites_locked(table);
    pool_site *place = sites ? pool_site_place(sites, code, pool) : NULL;
    if (place && !place->code && table->n_pool_sites < MOST_POOL_SITES) {
        table->n_pool_sites++;
        place->pool = pool;
        atomic_store_explicit(&place->code, code, memory_order_release);
    }
    lock_release(&table->lock);
    return place && place->code ? place : NULL;
}

uint64_t code_of_pool(code_table *table, uint64_t code, uint16_t pool) {
    pool_site *sites = atomic_load_explicit(&table->pool_sites, memory_order_acquire);
    pool_site *place = sites && code ? pool_site_place(sites, code, pool) : NULL;
    if (code && (!place || !place->code))
        place = pool_site_add(table, code, pool);
    if (!place)
        return code;
    sites = atomic_load_explicit(&table->pool_sites, memory_order_relaxed);
    return (uint64_t)(place - sites) | (uint64_t)CODE_TYPE_POOL << CODE_TYPE_AT;
}

uint64_t code_pool_site(code_table *table, uint64_t code, uint16_t *pool) {
    const pool_site *sites = atomic_load_explicit(&table->pool_sites, memory_order_acquire);
    const pool_site *site = &sites[code & CODE_ADDRESS_MASK];
    *pool = site->pool;
    return site->code;
}

/* ---- locations --------------------------------------------------------------------------- */

static const char *function_in_module(code_table *table, const struct code_module *m,
                                      uintptr_t address) {
    char name[NAME_MAX + 32];
    text t = text_in(name, sizeof name - 20);
    text_add_bytes(&t, m->base, strcspn(m->base, "["));
    t.end += 20 - 1;
    text_add(&t, "+0x");
    text_add_number(&t, address - m->bias, 16);
    return copy_string(table->memory, name);
}

static const char *function_nowhere(code_table *table, uintptr_t address) {
    char name[32];
    text t = text_in(name, sizeof name);
    text_add(&t, "0x");
    text_add_number(&t, address, 16);
    return copy_string(table->memory, name);
}

static const char *gauge_name(const code_table *table, uint64_t i) {
    return i < N_GAUGES ? gauge_names[i] : table->runtime_gauges[i - N_GAUGES];
}

static memtrace_location locate_remark(code_table *table, uint64_t remark) {
    switch (remark) {
    case CODE_CUT:
        return (memtrace_location){.file = "", .function = "[deeper than the recorder looks]"};
    case CODE_LOST:
        return (memtrace_location){.file = "", .function = "[the rest of the stack is unknown]"};
    case CODE_LEVEL:
        return (memtrace_location){.file = MEMTRACE_SEGMENT_FILE, .function = "level"};
    case CODE_WRITTEN:
        return (memtrace_location){.file = MEMTRACE_SEGMENT_FILE, .function = "written"};
    case CODE_LEFT:
        return (memtrace_location){.file = MEMTRACE_SEGMENT_FILE, .function = "left"};
    default:
        if (remark >= CODE_SCOPES)
            return (memtrace_location){
                .file = MEMTRACE_SCOPE_FILE,
                .function = remark == CODE_SCOPES ? MEMTRACE_NO_SCOPE
                                                  : scope_text((uint16_t)(remark - CODE_SCOPES))};
        if (remark >= CODE_THREADS)
            return (memtrace_location){.file = MEMTRACE_THREAD_FILE,
                                       .function = table->threads[remark - CODE_THREADS]};
        if (remark >= CODE_GAUGES)
            return (memtrace_location){.file = MEMTRACE_GAUGE_FILE,
                                       .function = gauge_name(table, remark - CODE_GAUGES)};
        if (remark < CODE_MARKS)
            return (memtrace_location){.file = MEMTRACE_SPAN_FILE,
                                       .function = span_remark_names[remark - CODE_SPANS]};
        return (memtrace_location){.file = MEMTRACE_MARK_FILE,
                                   .function = table->marks[remark - CODE_MARKS]};
    }
}

static memtrace_location locate_address(code_table *table, uintptr_t address, unsigned generation) {
    if (generation == CODE_LAST_GENERATION)
        return (memtrace_location){.file = "",
                                   .function = "[too many modules were loaded at this address]"};
    const struct code_module *m = atomic_load_explicit(&table->modules, memory_order_acquire);
    while (m && !(module_holds(m, address - 1) && m->generation == generation))
        m = m->older;
    const char *function =
        m ? function_in_module(table, m, address) : function_nowhere(table, address);
    return (memtrace_location){.file = m ? m->file : MEMTRACE_MADE_FILE,
                               .function = function ? function : "?"};
}

memtrace_location code_locate_address(code_table *table, uintptr_t return_address) {
    uint32_t epoch = code_epoch();
    struct code_module *m = module_known(table, return_address - 1, epoch);
    if (!m)
        m = module_meet(table, return_address - 1, epoch);
    return locate_address(table, return_address, m ? m->generation : 0);
}

size_t code_locate(code_table *table, const char *const *type_names, uint64_t code,
                   memtrace_location *locations, size_t max) {
    uintptr_t address = code & CODE_ADDRESS_MASK;
    unsigned type = (unsigned)((code & CODE_TYPE_MASK) >> CODE_TYPE_AT);
    size_t n = 0;
    if (type && n < max)
        locations[n++] =
            (memtrace_location){.file = MEMTRACE_TYPE_FILE, .function = type_names[type - 1]};
    if (n < max)
        locations[n++] =
            address < CODE_FIRST_ADDRESS
                ? locate_remark(table, address)
                : locate_address(table, address, (unsigned)(code >> CODE_GENERATION_AT));
    return n;
}

size_t code_names_room(void) {
    const size_t least = 500000, most = 2000000, wanted = module_code_size() / 32;
    return wanted < least ? least : wanted < most ? wanted : most;
}
