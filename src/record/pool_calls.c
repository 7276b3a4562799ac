/* pool_calls.c: implements pool_calls.h. As in preload.c, a function that is called for each block
 * does what most calls need and jumps to another function for the rest, so that stacks begin at its
 * caller. */
#include "record/pool_calls.h"

#include "base/hot.h"
#include "platform/loader.h"
#include "record/calls.h"
#include "record/mapping.h"
#include "record/native.h"
#include "record/recorder.h"

#define EXPORT __attribute__((visibility("default")))
#define COLD   static __attribute__((noinline)) CPU_ALIGN_STACK

#define DECLARE(result, name, parameters) EXPORT result name parameters;
CALLS_OFFERED(DECLARE)
CALLS_OFFERED_AS_HEAPTRACK(DECLARE)

static const char heaptrack; /* its address stands for the only pool that heaptrack's API has */

/* ---- blocks ------------------------------------------------------------------------------ */

static void born(const void *pool, void *address, size_t bytes, const struct unwind_site *site) {
    recorder_uncount(bytes);
    if (pool == &heaptrack && !pools_name(pool))
        pools_call(pool, "heaptrack");
    if (recorder_has_room(site->sp))
        native_born_in_pool(pool, address, bytes, site);
}

/* Returns the session that may know of blocks, if there is one. Cheap. */
static inline struct session *session_at_a_glance(void) {
    return atomic_load_explicit(&recorder_page->current, memory_order_acquire);
}

COLD void cold_alloc(const void *pool, void *address, size_t bytes) {
    struct unwind_site site;
    unwind_site_here(&site);
    born(pool, address, bytes, &site);
}

void allotrace_pool_alloc(const void *pool, void *address, size_t bytes) {
    if (address && memprof_count(&self.sampler, recorder_words(bytes)))
        cold_alloc(pool, address, bytes);
}

COLD void cold_free(const void *pool, void *address) {
    native_died_in_pool(pool, address);
}

void allotrace_pool_free(const void *pool, void *address) {
    const struct session *s = session_at_a_glance();
    if (s && pools_may_know(&s->pools, pool, address))
        cold_free(pool, address);
}

/* ---- pools ------------------------------------------------------------------------------- */

CPU_ALIGN_STACK void allotrace_pool_create(const void *pool, const char *name) {
    pools_call(pool, name ? name : "");
}

CPU_ALIGN_STACK void allotrace_pool_reset(const void *pool) {
    const struct session *s = session_at_a_glance();
    if (s && pools_may_know_any(&s->pools, pool))
        native_died_with_pool(pool);
}

CPU_ALIGN_STACK void allotrace_pool_destroy(const void *pool) {
    allotrace_pool_reset(pool);
    pools_call(pool, NULL);
}

/* ---- chunks ------------------------------------------------------------------------------ */

/* Memory that the program mapped there was counted, and its death is recorded now: from now on the
 * pool's blocks are counted. */
static void leave_out_mapped(uintptr_t start, uintptr_t end, const struct unwind_site *site) {
    enum { KEYS = 16 }; /* bytes; see mapping.c: what remains begins at a multiple of it */
    struct session *s = recorder_maps ? mapping_enter() : NULL;
    mapping_outs outs;
    if (!s)
        return;
    mapping_take_out(s, (start + KEYS - 1) & ~(uintptr_t)(KEYS - 1), end & ~(uintptr_t)(KEYS - 1),
                     &outs);
    mapping_settle(s, &outs, true, site);
    mapping_leave();
}

CPU_ALIGN_STACK void allotrace_pool_chunk(const void *pool, void *address, size_t bytes) {
    struct unwind_site site;
    unwind_site_here(&site);
    (void)pool; /* it does not matter yet whose chunk it is */
    if (!recorder_has_room(site.sp))
        return;
    if (memprof_is_tracked(&recorder_filter, address))
        native_died(address);
    leave_out_mapped((uintptr_t)address, (uintptr_t)address + bytes, &site);
}

/* With `outer` < 0, memory that the thread takes from malloc and mmap is not recorded from now on,
 * until it calls this with the result. Returns 0 if that is already so. The result encodes the
 * countdown, which may be as large as possible. */
long allotrace_pool_take(long outer) {
    if (outer > 0)
        recorder_resume(outer - 1);
    if (outer >= 0 || self.paused)
        return 0;
    const int64_t countdown = recorder_pause();
    return countdown < 0 ? 1 : countdown < INT64_MAX - 1 ? countdown + 1 : INT64_MAX;
}

/* ---- heaptrack's API --------------------------------------------------------------------- */

/* NULL in a process that is not also recorded by heaptrack. */
extern void heaptrack_init(void) __attribute__((weak));

bool pool_calls_are_taken(void) {
    return heaptrack_init;
}

/* heaptrack calls itself by these names, which lead here if this library comes first. These are the
 * functions to pass the calls on to. Looking for them frees memory, which heaptrack hears of; its
 * calls meanwhile are dropped. */
enum { PASS_MALLOC, PASS_FREE, PASS_REALLOC, N_PASS };

static void *find_next(unsigned which) {
    static const char found_as[][20] = {"heaptrack_malloc", "heaptrack_free", "heaptrack_realloc"};
    static _Atomic(void *) functions[N_PASS];
    static _Atomic bool began;
    if (!atomic_load(&began) && !atomic_exchange(&began, true))
        for (unsigned i = 0; i < N_PASS; i++)
            atomic_store(&functions[i], loader_symbol(RTLD_NEXT, found_as[i]));
    return atomic_load_explicit(&functions[which], memory_order_acquire);
}

#define PASS_ON(name, which, parameters, arguments)                                                \
    COLD void pass_on_##name parameters {                                                          \
        void(*function) parameters = find_next(which);                                             \
        if (function)                                                                              \
            function arguments;                                                                    \
    }
PASS_ON(malloc, PASS_MALLOC, (void *address, size_t bytes), (address, bytes))
PASS_ON(free, PASS_FREE, (void *address), (address))
PASS_ON(realloc, PASS_REALLOC, (void *before, size_t bytes, void *address),
        (before, bytes, address))

void heaptrack_malloc(void *address, size_t bytes) {
    if (pool_calls_are_taken())
        pass_on_malloc(address, bytes);
    else if (address && memprof_count(&self.sampler, recorder_words(bytes)))
        cold_alloc(&heaptrack, address, bytes);
}

void heaptrack_free(void *address) {
    if (pool_calls_are_taken())
        pass_on_free(address);
    else
        allotrace_pool_free(&heaptrack, address);
}

COLD void cold_realloc(void *before, size_t bytes, void *address) {
    struct unwind_site site;
    unwind_site_here(&site);
    allotrace_pool_free(&heaptrack, before);
    born(&heaptrack, address, bytes, &site);
}

void heaptrack_realloc(void *before, size_t bytes, void *address) {
    if (pool_calls_are_taken())
        pass_on_realloc(before, bytes, address);
    else if (address && memprof_count(&self.sampler, recorder_words(bytes)))
        cold_realloc(before, bytes, address);
    else if (address)
        allotrace_pool_free(&heaptrack, before);
}
