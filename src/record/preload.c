/* preload.c: the allocation functions that programs call instead of those of their C and C++
 * libraries. Most calls see only the fast path: it counts words (one subtraction, one branch; for
 * free, one look into a bitmap) and jumps to the original function. Everything else is in separate
 * functions that are jumped to. So the compiler saves no registers on the fast path, and no frame
 * of ours is between the program and its allocator. Only successful allocations are counted: the
 * cold path undoes the count, calls the allocator, and counts again. */
#include "base/hot.h"
#include "record/calls.h"
#include "record/native.h"
#include "record/next.h"
#include "record/recorder.h"

/* Alignment that keeps each fast path within one cache line. */
#define EXPORT __attribute__((visibility("default"), aligned(64)))
#define COLD   HOT_CODE static __attribute__((noinline)) CPU_ALIGN_STACK

/* Takes the stack here: the fewer of our frames are on it, the better. */
#define BORN(block, bytes, type)                                                                   \
    do {                                                                                           \
        struct unwind_site site;                                                                   \
        if (recorder_everything()) {                                                               \
            unwind_site_here(&site);                                                               \
            if (recorder_has_room(site.sp))                                                        \
                native_born_fast(block, recorder_words(bytes), (type) + 1, site.return_address,    \
                                 site.sp, site.bp);                                                \
        } else {                                                                                   \
            struct unwind_site other;                                                              \
            unwind_site_here(&other);                                                              \
            if (recorder_has_room(other.sp))                                                       \
                native_born(block, bytes, type, &other);                                           \
        }                                                                                          \
    } while (0)

#define DEFINE_ALLOCATING(name, type, parameters, arguments, bytes, ...)                           \
    HOT_CODE EXPORT void *name parameters;                                                         \
    COLD void *cold_##name parameters {                                                            \
        recorder_uncount(bytes);                                                                   \
        void *block = next.name arguments;                                                         \
        if (block)                                                                                 \
            BORN(block, bytes, TYPE_##name);                                                       \
        return block;                                                                              \
    }                                                                                              \
    void *name parameters {                                                                        \
        if (memprof_count(&self.sampler, recorder_words(bytes)))                                   \
            return cold_##name arguments;                                                          \
        return next.name arguments;                                                                \
    }
CALLS_ALLOCATING(DEFINE_ALLOCATING)

/* If the program has operators of its own, which call malloc, no frame of ours may stay on the
 * stack. So the cold function ends with a jump and does not align the stack. */
#define DEFINE_NEW(name, type, parameters, arguments, bytes, ...)                                  \
    HOT_CODE EXPORT void *name parameters;                                                         \
    COLD void *counted_##name parameters {                                                         \
        recorder_uncount(bytes);                                                                   \
        void *block = next.name arguments;                                                         \
        if (block)                                                                                 \
            BORN(block, bytes, TYPE_##name);                                                       \
        return block;                                                                              \
    }                                                                                              \
    static __attribute__((noinline)) void *cold_##name parameters {                                \
        next_resolve_cxx(__builtin_return_address(0));                                             \
        if (next_cxx_is_replaced)                                                                  \
            return next.name arguments;                                                            \
        return counted_##name arguments;                                                           \
    }                                                                                              \
    void *name parameters {                                                                        \
        if (memprof_count(&self.sampler, recorder_words(bytes)))                                   \
            return cold_##name arguments;                                                          \
        return next.name arguments;                                                                \
    }
CALLS_NEW(DEFINE_NEW)

#define DEFINE_FREEING(name, parameters, arguments)                                                \
    HOT_CODE EXPORT void name parameters;                                                          \
    COLD void cold_##name parameters {                                                             \
        if (recorder_fast())                                                                       \
            native_died_fast(block);                                                               \
        else                                                                                       \
            native_died(block);                                                                    \
        next.name arguments;                                                                       \
    }                                                                                              \
    void name parameters {                                                                         \
        if (memprof_is_tracked(&recorder_filter, block))                                           \
            cold_##name arguments;                                                                 \
        else                                                                                       \
            next.name arguments;                                                                   \
    }
CALLS_FREEING(DEFINE_FREEING)
CALLS_DELETE(DEFINE_FREEING)

#define DECLARE_OTHER(result, name, parameters, ...) HOT_CODE EXPORT result name parameters;
CALLS_RESIZING(DECLARE_OTHER)
CALLS_ASKING(DECLARE_OTHER)

/* The old block is taken out before the real call, because another thread may get its address at
 * once. If the call fails, the block lives on. Size 0 may mean free. */
#define DEFINE_REALLOC(name, parameters, arguments, bytes)                                         \
    COLD void *cold_##name parameters {                                                            \
        recorder_uncount(bytes);                                                                   \
        const uint64_t taken = block ? native_take(block) : 0;                                     \
        void *moved = next.name arguments;                                                         \
        if (taken)                                                                                 \
            native_settle(block, taken, moved || (bytes) == 0);                                    \
        if (moved && !self.paused) {                                                               \
            self.moved = (struct moved){block, moved};                                             \
            BORN(moved, bytes, TYPE_##name);                                                       \
            self.moved = (struct moved){0};                                                        \
        }                                                                                          \
        return moved;                                                                              \
    }                                                                                              \
    void *name parameters {                                                                        \
        bool due = memprof_count(&self.sampler, recorder_words(bytes));                            \
        if (due || memprof_is_tracked(&recorder_filter, block))                                    \
            return cold_##name arguments;                                                          \
        return next.name arguments;                                                                \
    }
DEFINE_REALLOC(realloc, (void *block, size_t size), (block, size), size)
DEFINE_REALLOC(reallocarray, (void *block, size_t count, size_t size), (block, count, size),
               calls_product(count, size))

COLD int cold_posix_memalign(void **block, size_t alignment, size_t size) {
    recorder_uncount(size);
    int error = next.posix_memalign(block, alignment, size);
    if (error == 0 && *block)
        BORN(*block, size, TYPE_posix_memalign);
    return error;
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (memprof_count(&self.sampler, recorder_words(size)))
        return cold_posix_memalign(block, alignment, size);
    return next.posix_memalign(block, alignment, size);
}

size_t malloc_usable_size(void *block) {
    return next.malloc_usable_size(block);
}
