/* python_arenas.c: see python_arenas.h.
 *
 * The allocator divides an arena into pools, each with blocks of one size. A pool's head has the
 * number of its blocks that are in use. So the bytes in use are summed up when somebody asks for
 * them, and allocating and freeing blocks costs nothing. As pools change while they are read, the
 * sum may be some blocks off.
 *
 * Arenas are not unmapped while they are read: an arena is given back through a wrapper of ours,
 * which waits for readers. Signals are blocked while the lock is held, so its holder always
 * releases it. In the child of a fork, the kernel zeroes the page that the lock is on. A program
 * may replace our wrapper by another function, and then gives arenas back without our knowledge. So
 * the kernel is asked about each arena before it is read, and the first one that is gone ends the
 * readings for good.
 *
 * Arenas from before the recording are unknown. There are no gauges then. */
#include "runtimes/python/python_arenas.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/clock.h"
#include "platform/maps.h"
#include "platform/pages.h"
#include "platform/syscall.h"
#include "record/lock.h"

/* The same in all versions on 64-bit machines, in bytes. */
enum { ARENA_SIZE = 1 << 20, POOL_SIZE = 1 << 14, POOL_HEAD = 48, CLASS_STEP = 16, CLASSES = 32 };

/* struct pool_header. */
struct pool {
    uint32_t n_used;
    uintptr_t others[3];
    uint32_t arena, size_class;
    uint32_t next_offset, last_offset; /* last_offset follows from size_class */
};
_Static_assert(sizeof(struct pool) == POOL_HEAD, "as it lies in memory");

static struct python_arena_allocator wrapped; /* the allocator that was set before ours */

static struct {
    lock *lock;    /* protects the rest; NULL: there is no wrapper */
    uintptr_t *at; /* `n` addresses of arenas, with room for `room` */
    _Atomic size_t n;
    size_t room;
    bool is_changing;     /* true in the child of a fork: the parent was changing the table */
    _Atomic bool is_lost; /* it is no longer known which arenas exist */
    bool has_pools;       /* some pool was seen that has the expected layout */
} arenas;

/* ---- the table ----------------------------------------------------------------------------- */

static uint64_t signals_block(void) {
    const uint64_t every_signal = UINT64_MAX;
    uint64_t before = 0;
    syscall4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&every_signal, (long)&before, sizeof before);
    return before;
}

static void signals_restore(uint64_t before) {
    syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
}

static bool make_room(void) {
    if (arenas.n < arenas.room)
        return true;
    const size_t room = arenas.room ? 2 * arenas.room : pages_unit() / sizeof *arenas.at;
    uintptr_t *at = pages_realloc(arenas.at, arenas.room * sizeof *at, room * sizeof *at);
    if (!at)
        return false;
    arenas.at = at;
    arenas.room = room;
    return true;
}

static void table_add(uintptr_t arena) {
    if (make_room())
        arenas.at[arenas.n++] = arena;
    else
        arenas.is_lost = true;
}

/* Removes an arena. The latest arenas are searched first, as the likeliest. An arena may be
 * missing: it was mapped while another function had replaced ours. */
static void table_take_out(uintptr_t arena) {
    for (size_t i = arenas.n; i > 0; i--)
        if (arenas.at[i - 1] == arena) {
            arenas.at[i - 1] = arenas.at[--arenas.n];
            return;
        }
}

static void table_lose(uintptr_t arena) {
    (void)arena;
    arenas.is_lost = true;
}

static void table_change(void act(uintptr_t arena), uintptr_t arena) {
    const uint64_t signals = signals_block();
    lock_acquire(arenas.lock);
    arenas.is_lost |= arenas.is_changing;
    arenas.is_changing = true;
    atomic_signal_fence(memory_order_seq_cst);
    if (!arenas.is_lost)
        act(arena);
    atomic_signal_fence(memory_order_seq_cst);
    arenas.is_changing = false;
    lock_release(arenas.lock);
    signals_restore(signals);
}

/* ---- the wrapper --------------------------------------------------------------------------- */

/* A mapping of another size is not an arena, but a stack of Python frames. */
static void *arena_map(void *context, size_t size) {
    void *const arena = wrapped.alloc(context, size);
    if (arena && size == ARENA_SIZE)
        table_change(table_add, (uintptr_t)arena);
    return arena;
}

static void arena_unmap(void *context, void *arena, size_t size) {
    if (arena && size == ARENA_SIZE)
        table_change(table_take_out, (uintptr_t)arena);
    wrapped.free(context, arena, size);
}

/* Returns NULL on old kernels, which cannot zero a page at a fork. There are no gauges then. */
static lock *lock_on_wiped_page(void) {
    void *const page = pages_alloc(pages_unit());
    if (page &&
        !syscall_failed(syscall4(SYS_madvise, (long)page, (long)pages_unit(), MADV_WIPEONFORK, 0)))
        return page;
    pages_free(page, pages_unit());
    return NULL;
}

void python_arenas_arm(const python_runtime *r) {
    if (arenas.lock || !r->get_arena_allocator || !r->set_arena_allocator || r->is_initialized() ||
        !(arenas.lock = lock_on_wiped_page()))
        return;
    r->get_arena_allocator(&wrapped);
    struct python_arena_allocator ours = wrapped;
    ours.alloc = arena_map;
    ours.free = arena_unmap;
    r->set_arena_allocator(&ours);
}

void python_arenas_disarm(const python_runtime *r) {
    struct python_arena_allocator now;
    if (!arenas.lock)
        return;
    table_change(table_lose, 0); /* waits for current readers */
    r->get_arena_allocator(&now);
    if (now.alloc == arena_map)
        r->set_arena_allocator(&wrapped);
}

/* ---- reading ------------------------------------------------------------------------------- */

enum pool_kind { POOL_KNOWN, POOL_STRANGE, POOL_UNTOUCHED };

/* Adds the bytes in use of a pool, which may change at any moment. */
static enum pool_kind pool_read(uintptr_t at, uint64_t *in_use) {
    const volatile struct pool *const pool = (const volatile struct pool *)at;
    const uint32_t n = pool->n_used, size_class = pool->size_class, last = pool->last_offset;
    const uint32_t size = (size_class + 1) * CLASS_STEP;
    if (last == 0)
        return POOL_UNTOUCHED;
    if (size_class >= CLASSES || last != POOL_SIZE - size || n > (POOL_SIZE - POOL_HEAD) / size)
        return POOL_STRANGE;
    *in_use += n * size;
    return POOL_KNOWN;
}

/* Pools are made one after the other, so reading stops at the first unused one, and touches no page
 * after it. */
static void arena_read(uintptr_t arena, uint64_t *in_use) {
    enum pool_kind kind = POOL_STRANGE;
    if (!maps_readable(arena)) {
        arenas.is_lost = true;
        return;
    }
    uintptr_t pool = (arena + POOL_SIZE - 1) / POOL_SIZE * POOL_SIZE;
    for (; pool + POOL_SIZE <= arena + ARENA_SIZE && kind < POOL_UNTOUCHED; pool += POOL_SIZE) {
        kind = pool_read(pool, in_use);
        arenas.has_pools |= kind == POOL_KNOWN;
    }
}

/* A sum over arenas. */
struct reading {
    size_t n; /* arenas read so far */
    uint64_t in_use;
    bool is_over, is_good;
};

/* Reads few arenas at a time, so that nobody waits for long. */
static void read_some(struct reading *sum) {
    enum { AT_ONCE = 16 };
    for (int i = 0; i < AT_ONCE && sum->n < arenas.n && !arenas.is_lost; i++)
        arena_read(arenas.at[sum->n++], &sum->in_use);
    sum->is_good = arenas.has_pools && !arenas.is_lost;
    sum->is_over = sum->n >= arenas.n || !sum->is_good;
}

static void read_some_locked(struct reading *sum) {
    const uint64_t signals = signals_block();
    const bool ok = lock_try(arenas.lock);
    if (ok) {
        arenas.is_lost |= arenas.is_changing;
        read_some(sum);
        lock_release(arenas.lock);
    }
    sum->is_over |= !ok;
    sum->is_good &= ok;
    signals_restore(signals);
}

/* Returns the bytes in use, or UINT64_MAX if they are not available just now. This takes
 * milliseconds for large heaps, so the next reading must wait. */
static uint64_t read_in_use(void) {
    enum { PAUSE = 100 }; /* us, for each arena, which takes about 1 us to read */
    static _Atomic uint64_t due;
    const uint64_t now = clock_monotonic_us();
    struct reading sum = {0};
    if (now < atomic_load_explicit(&due, memory_order_relaxed))
        return RUNTIME_GAUGE_UNKNOWN;
    while (!sum.is_over)
        read_some_locked(&sum);
    atomic_store_explicit(&due, now + sum.n * PAUSE, memory_order_relaxed);
    return sum.is_good ? sum.in_use : RUNTIME_GAUGE_UNKNOWN;
}

void python_arenas_read(uint64_t bytes[N_PYTHON_GAUGES]) {
    const bool is_known =
        arenas.lock && !atomic_load_explicit(&arenas.is_lost, memory_order_relaxed);
    const size_t n = atomic_load_explicit(&arenas.n, memory_order_relaxed);
    bytes[PYTHON_GAUGE_ARENAS] = is_known && n ? (uint64_t)n * ARENA_SIZE : RUNTIME_GAUGE_UNKNOWN;
    bytes[PYTHON_GAUGE_ARENAS_IN_USE] = is_known && n ? read_in_use() : RUNTIME_GAUGE_UNKNOWN;
}
