/* next.c: finds the original functions that interposed calls are passed on to. Owns `next`, the
 * early heap, and the rules for operator new.
 * Each pointer in `next` starts at a stub that resolves all of them and then passes the call on.
 * malloc is called long before any constructor of ours, so there is no earlier moment to resolve
 * them. RTLD_NEXT finds an allocator that comes after us (jemalloc, tcmalloc). Allocations during
 * dlsym are served from a small static heap. Only if that has happened do free and realloc test for
 * its blocks, from then on.
 * Operator new of libstdc++ and libc++ calls malloc. That would count each block twice and make the
 * C++ library the place of the allocation. So it is bypassed: the recorder calls malloc itself, and
 * the library only when that fails, for new_handler and bad_alloc. An allocator's own operator new
 * (in the module that has the malloc after ours) is simply called. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/hot.h"
#include "base/path.h"
#include "platform/loader.h"
#include "platform/module.h"
#include "platform/pages.h"
#include "platform/syscall.h"
#include "platform/tables.h"
#include "record/imports.h"
#include "record/linked.h"
#include "record/next.h"
#include "record/recorder.h"

/* ---- the early heap ---------------------------------------------------------------------- */

enum { EARLY_SIZE = 1 << 16, EARLY_ALIGNMENT = 16, EARLY_HEADER = 16 };

static _Alignas(EARLY_ALIGNMENT) char early_heap[EARLY_SIZE];
static HOT_DATA _Atomic size_t early_used;

static bool early_owns(const void *block) {
    return (uintptr_t)block - (uintptr_t)early_heap < EARLY_SIZE;
}

/* Returns the size of a block, which is stored before it. */
static size_t early_size(const void *block) {
    size_t size;
    memcpy(&size, (const char *)block - EARLY_HEADER, sizeof size);
    return size;
}

static void *early_memalign(size_t alignment, size_t size) {
    if (alignment < EARLY_ALIGNMENT)
        alignment = EARLY_ALIGNMENT;
    if (size > EARLY_SIZE || alignment > EARLY_SIZE)
        return NULL;
    size_t take = EARLY_HEADER + alignment + size;
    size_t at = atomic_fetch_add(&early_used, take);
    if (at > EARLY_SIZE || take > EARLY_SIZE - at)
        return NULL;
    uintptr_t start = (uintptr_t)early_heap + at + EARLY_HEADER + alignment - 1;
    char *block = (char *)(start & ~(uintptr_t)(alignment - 1));
    memcpy(block - EARLY_HEADER, &size, sizeof size);
    return block;
}

static void *early_malloc(size_t size) {
    return early_memalign(EARLY_ALIGNMENT, size);
}

static void *early_calloc(size_t count, size_t size) {
    return early_malloc(calls_product(count, size)); /* static memory, so zeroed */
}

static void *early_realloc(void *block, size_t size) {
    void *copy = early_malloc(size);
    if (copy && block)
        memcpy(copy, block, early_size(block) < size ? early_size(block) : size);
    return copy;
}

static int early_posix_memalign(void **block, size_t alignment, size_t size) {
    *block = early_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

static void *early_valloc(size_t size) {
    return early_memalign(pages_unit(), size);
}

static void early_free(void *block) {
    (void)block;
}

/* Allocators read links while they initialize themselves. Nothing can be resolved at that time. */
static ssize_t early_readlink(const char *path, char *buffer, size_t size) {
    long n = syscall4(SYS_readlinkat, AT_FDCWD, (long)path, (long)buffer, (long)size);
    if (!syscall_failed(n))
        return n;
    errno = (int)-n;
    return -1;
}

static ssize_t early___readlink_chk(const char *path, char *buffer, size_t size, size_t room) {
    return early_readlink(path, buffer, size < room ? size : room);
}

/* Allocators also map memory at that time. dlsym may allocate, and they may hold their lock. */
static long early_result(long result) {
    if (!syscall_failed(result))
        return result;
    errno = (int)-result;
    return -1;
}

static void *early_mmap(void *address, size_t size, int protection, int flags, int fd,
                        off_t offset) {
    return (void *)early_result(
        syscall6(SYS_mmap, (long)address, (long)size, protection, flags, fd, (long)offset));
}
#define early_mmap64 early_mmap

static int early_munmap(void *address, size_t size) {
    return (int)early_result(syscall4(SYS_munmap, (long)address, (long)size, 0, 0));
}

static int early_mprotect(void *address, size_t size, int protection) {
    return (int)early_result(syscall4(SYS_mprotect, (long)address, (long)size, protection, 0));
}

extern void *__sbrk(intptr_t increment)
    __attribute__((weak)); /* private name of the C library's function */

static void *early_sbrk(intptr_t increment) {
    if (__sbrk)
        return __sbrk(increment);
    errno = ENOMEM;
    return (void *)-1;
}

static int early_brk(void *address) {
    char *now = early_sbrk(0);
    return early_sbrk((char *)address - now) == (void *)-1 ? -1 : 0;
}

static long early_syscall(long number, long a, long b, long c, long d, long e, long f) {
    return early_result(syscall6(number, a, b, c, d, e, f));
}

static int early_prctl(int option, long a, long b, long c, long d) {
    return (int)early_result(syscall6(SYS_prctl, option, a, b, c, d, 0));
}

/* ---- calls that may get an early block, or that the next modules lack -------------------- */

static HOT_DATA struct next_calls real; /* functions of the modules after us; NULL: missing */

static void *early_or_real_realloc(void *block, size_t size) {
    if (!early_owns(block))
        return real.realloc(block, size);
    void *copy = real.malloc(size);
    if (copy)
        memcpy(copy, block, early_size(block) < size ? early_size(block) : size);
    return copy;
}

static void *early_or_real_reallocarray(void *block, size_t count, size_t size) {
    size_t product;
    if (__builtin_mul_overflow(count, size, &product)) {
        errno = ENOMEM;
        return NULL;
    }
    return next.realloc(block, product);
}

static void early_or_real_free(void *block) {
    if (!early_owns(block))
        real.free(block);
}

static void early_or_real_free_sized(void *block, size_t size) {
    (void)size;
    next.free(block);
}

static void early_or_real_free_aligned_sized(void *block, size_t alignment, size_t size) {
    (void)alignment;
    (void)size;
    next.free(block);
}

static size_t early_or_real_malloc_usable_size(void *block) {
    return early_owns(block) ? early_size(block) : real.malloc_usable_size(block);
}

/* musl implements some of its functions by calling others by their public names, which calls the
 * recorder. That memory is the block that was requested, so it is not recorded again. */
#define UNRECORDED(result, call)                                                                   \
    const int64_t countdown_ = recorder_pause();                                                   \
    result given_ = real.call;                                                                     \
    recorder_resume(countdown_);                                                                   \
    return given_

static void *unrecorded_calloc(size_t count, size_t size) {
    UNRECORDED(void *, calloc(count, size));
}

static void *unrecorded_memalign(size_t alignment, size_t size) {
    UNRECORDED(void *, memalign(alignment, size));
}

static void *unrecorded_valloc(size_t size) {
    UNRECORDED(void *, valloc(size));
}

static int unrecorded_posix_memalign(void **block, size_t alignment, size_t size) {
    UNRECORDED(int, posix_memalign(block, alignment, size));
}

static void next_use_unrecorded(void) {
    next.calloc = unrecorded_calloc;
    next.memalign = unrecorded_memalign;
    next.valloc = unrecorded_valloc;
    next.posix_memalign = unrecorded_posix_memalign;
}

/* Registers musl's functions that nothing calls. In its code, the function that calls main is
 * before __libc_start_main, and the functions with which threads start are between pthread_exit and
 * pthread_create. */
void next_know_libc(void) {
    enum { BEFORE = 64, MOST = 4096 }; /* bytes of code */
    if (loader_is_glibc())
        return;
    tables_make_missing();
    const uintptr_t start = (uintptr_t)loader_symbol(RTLD_NEXT, "__libc_start_main");
    const uintptr_t end_of_thread = (uintptr_t)loader_symbol(RTLD_NEXT, "pthread_exit");
    const uintptr_t create = (uintptr_t)loader_symbol(RTLD_NEXT, "pthread_create");
    if (start)
        module_add_start(start - BEFORE, BEFORE);
    if (end_of_thread && create > end_of_thread && create - end_of_thread < MOST)
        module_add_start(end_of_thread, create - end_of_thread);
}

/* ---- resolution -------------------------------------------------------------------------- */

static bool is_ours(const void *address);
static bool is_definition(const void *address);

/* If loaded late, this library comes after all others and no module is bound to it. So the function
 * to pass calls on to is the one that comes before. */
static bool is_late;

/* Searches the modules that the program was linked with, in their order. In an executable linked to
 * fixed addresses, the symbol may be an entry of its procedure linkage table, and that entry will
 * lead to us. */
static void *definition_of(const char *name) {
    void *program = loader_open(NULL, RTLD_LAZY | RTLD_NOLOAD);
    const struct link_map *map = program;
    for (map = map ? map->l_next : NULL; map; map = map->l_next) {
        void *handle = *map->l_name ? loader_open(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        void *found = handle ? loader_symbol(handle, name) : NULL;
        if (found && !is_ours(found) && is_definition(found))
            return found;
    }
    return NULL;
}

HOT_CODE static void *symbol_in(void *handle, const char *name) {
    if (!is_late || handle != RTLD_NEXT)
        return loader_symbol(handle, name);
    void *found = loader_symbol(RTLD_DEFAULT, name);
    if (found && is_ours(found))
        return NULL;
    return !found || is_definition(found) ? found : definition_of(name);
}

void *next_definition(const char *name) {
    return symbol_in(RTLD_NEXT, name);
}

void next_be_late(void) {
    is_late = true;
    next_resolve();
}

/* dlsym returns data pointers; POSIX guarantees that they can be functions. */
#define FIND(handle, name)                                                                         \
    do {                                                                                           \
        void *found_ = symbol_in(handle, #name);                                                   \
        memcpy(&real.name, &found_, sizeof found_);                                                \
    } while (0)

/* Returns whether the function is implemented here by other calls. Not every allocator has these
 * functions, and those that exist may call back here by a public name. (A failed search would also
 * allocate an error message on the early heap, for which free would then always have to test.) */
static bool is_made_of_others(const char *name) {
    return strcmp(name, "reallocarray") == 0 || strncmp(name, "free_", 5) == 0;
}

HOT_CODE static void next_use_early_heap(void) {
    next.malloc = early_malloc;
    next.calloc = early_calloc;
    next.realloc = early_realloc;
    next.memalign = early_memalign;
    next.aligned_alloc = early_memalign;
    next.posix_memalign = early_posix_memalign;
    next.valloc = next.pvalloc = early_valloc;
    next.malloc_usable_size = early_or_real_malloc_usable_size;
    next.free = early_free;
    next.reallocarray = early_or_real_reallocarray;
    next.free_sized = early_or_real_free_sized;
    next.free_aligned_sized = early_or_real_free_aligned_sized;
}

HOT_CODE static void next_find_all(void) {
#define FIND_FIRST(name, ...)                                                                      \
    if (!is_made_of_others(#name))                                                                 \
        FIND(RTLD_NEXT, name);
#define FIND_SECOND(result, name, ...) FIND_FIRST(name)
    CALLS_C(FIND_FIRST, FIND_FIRST, FIND_SECOND)
    CALLS_EXEC(FIND_SECOND)
    CALLS_SPAWN(FIND_SECOND)
    CALLS_EXIT(FIND_FIRST)
    CALLS_LINK(FIND_SECOND)
    CALLS_UNLOADING(FIND_SECOND)
    CALLS_MAPPING(FIND_SECOND)
    CALLS_BREAK(FIND_SECOND)
    CALLS_SANDBOX(FIND_SECOND)
}

HOT_CODE static void next_use_real(void) {
#define USE_FIRST(name, ...)          next.name = real.name;
#define USE_SECOND(result, name, ...) next.name = real.name;
    CALLS_C(USE_FIRST, USE_FIRST, USE_SECOND)
    CALLS_EXEC(USE_SECOND)
    CALLS_SPAWN(USE_SECOND)
    CALLS_EXIT(USE_FIRST)
    if (real.readlink)
        next.readlink = real.readlink;
    if (real.__readlink_chk)
        next.__readlink_chk = real.__readlink_chk;
    CALLS_UNLOADING(USE_SECOND)
    CALLS_MAPPING(USE_SECOND)
    CALLS_BREAK(USE_SECOND)
    CALLS_SANDBOX(USE_SECOND)
    next.reallocarray = early_or_real_reallocarray;
    next.free_sized = early_or_real_free_sized;
    next.free_aligned_sized = early_or_real_free_aligned_sized;
    if (early_used) {
        next.free = early_or_real_free;
        next.realloc = early_or_real_realloc;
        next.malloc_usable_size = early_or_real_malloc_usable_size;
    }
    if (!loader_is_glibc())
        next_use_unrecorded();
}

HOT_CODE void next_resolve(void) {
    static _Atomic int begun;
    if (real.malloc || atomic_exchange(&begun, 1))
        return; /* resolved, or in progress in another thread or further out on the stack */
    next_use_early_heap();
    next_find_all();
    next_use_real();
}

/* The initial functions in `next`. */
#define STUB_ALLOCATING(name, type, parameters, arguments, ...)                                    \
    HOT_CODE static CPU_ALIGN_STACK void *stub_##name parameters {                                 \
        next_resolve();                                                                            \
        return next.name arguments;                                                                \
    }
#define STUB_FREEING(name, parameters, arguments, ...)                                             \
    HOT_CODE static CPU_ALIGN_STACK void stub_##name parameters {                                  \
        next_resolve();                                                                            \
        next.name arguments;                                                                       \
    }
#define STUB_OTHER(result, name, parameters, arguments)                                            \
    HOT_CODE static CPU_ALIGN_STACK result stub_##name parameters {                                \
        next_resolve();                                                                            \
        return next.name arguments;                                                                \
    }
CALLS_C(STUB_ALLOCATING, STUB_FREEING, STUB_OTHER)
CALLS_EXEC(STUB_OTHER)
CALLS_SPAWN(STUB_OTHER)
CALLS_EXIT(STUB_FREEING)
CALLS_UNLOADING(STUB_OTHER)

/* ---- C++ --------------------------------------------------------------------------------- */

bool next_cxx_is_replaced;

#define STUB_NEW(name, type, parameters, arguments, ...)                                           \
    HOT_CODE static CPU_ALIGN_STACK void *stub_##name parameters {                                 \
        next_resolve_cxx(__builtin_return_address(0));                                             \
        return next.name arguments;                                                                \
    }
#define STUB_DELETE(name, parameters, arguments)                                                   \
    HOT_CODE static CPU_ALIGN_STACK void stub_##name parameters {                                  \
        next_resolve_cxx(__builtin_return_address(0));                                             \
        next.name arguments;                                                                       \
    }
CALLS_NEW(STUB_NEW)
CALLS_DELETE(STUB_DELETE)

/* Calls malloc instead of the library's operator. The library's operator is called if there is no
 * memory or if the alignment is invalid. */
#define DIRECT_NEW(name, type, parameters, arguments, bytes, alignment_)                           \
    static void *direct_##name parameters {                                                        \
        void *block = direct_alloc(alignment_, bytes);                                             \
        return __builtin_expect(block != NULL, 1) || !real.name ? block : real.name arguments;     \
    }
static inline void *direct_alloc(size_t alignment, size_t size) {
    if (size == 0)
        size = 1;
    if (alignment == 0)
        return next.malloc(size);
    return alignment & (alignment - 1) ? NULL : next.memalign(alignment, size);
}
CALLS_NEW(DIRECT_NEW)

#define DIRECT_DELETE(name, parameters, arguments)                                                 \
    static void direct_##name parameters {                                                         \
        DIRECT_DELETE_ONE arguments;                                                               \
    }
#define DIRECT_DELETE_ONE(block, ...) next.free(block)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
CALLS_DELETE(DIRECT_DELETE)
#pragma GCC diagnostic pop

/* The program's own operator runs, and its call of malloc is counted; so the count made on entry is
 * undone. */
#define REPLACED_NEW(name, type, parameters, arguments, bytes, ...)                                \
    static void *replaced_##name parameters {                                                      \
        recorder_uncount(bytes);                                                                   \
        return real.name arguments;                                                                \
    }
CALLS_NEW(REPLACED_NEW)

struct next_calls next = {
#define START_FIRST(name, ...)          .name = stub_##name,
#define START_SECOND(result, name, ...) .name = stub_##name,
#define START_LINK(result, name, ...)   .name = early_##name,
    CALLS_C(START_FIRST, START_FIRST, START_SECOND) CALLS_NEW(START_FIRST) CALLS_DELETE(START_FIRST)
        CALLS_EXEC(START_SECOND) CALLS_SPAWN(START_SECOND) CALLS_EXIT(START_FIRST)
            CALLS_LINK(START_LINK) CALLS_UNLOADING(START_SECOND) CALLS_MAPPING(START_LINK)
                CALLS_BREAK(START_LINK) CALLS_SANDBOX(START_LINK)};

static bool module_of(const void *address, struct module *module) {
    return address && module_find((uintptr_t)address, module);
}

static bool is_ours(const void *address) {
    struct module module;
    return module_of((const void *)next_resolve, &module) && (uintptr_t)address >= module.low &&
           (uintptr_t)address < module.high;
}

static bool module_after(struct module *module) {
    void *heap;
    next_resolve();
    memcpy(&heap, &real.malloc, sizeof heap);
    return module_of(heap, module);
}

bool next_is_glibc(void) {
    struct module after, libc;
    return sizeof(void *) == 8 && !linked_is_recorded() && !imports_any() && module_after(&after) &&
           module_of(symbol_in(RTLD_DEFAULT, "gnu_get_libc_version"), &libc) &&
           after.low == libc.low;
}

bool next_is_library(struct module *module) {
    struct module libc;
    return module_after(module) && module_of(symbol_in(RTLD_DEFAULT, "abort"), &libc) &&
           module->low != libc.low;
}

void next_wake_library(void) {
    struct module library;
    if (next_is_library(&library))
        real.free(real.malloc(1));
}

bool next_is_allocator(const void *caller) {
    static _Atomic uintptr_t low, high;
    struct module module;
    void *heap;
    if (!atomic_load_explicit(&high, memory_order_acquire)) {
        memcpy(&heap, &real.malloc, sizeof heap);
        if (!module_of(heap, &module))
            return true; /* the caller runs before our malloc was first called */
        atomic_store(&low, module.low);
        atomic_store_explicit(&high, module.high, memory_order_release);
    }
    uintptr_t at = (uintptr_t)caller;
    return at >= atomic_load_explicit(&low, memory_order_relaxed) &&
           at < atomic_load_explicit(&high, memory_order_relaxed);
}

/* Returns whether a call of this malloc ends up in ours. Only a trial call tells: in a program
 * linked to fixed addresses, an entry of its procedure linkage table may stand for malloc
 * everywhere. The block is kept, as a program's own free may rely on what the program does first:
 * GNU Common Lisp's crashes before main. */
static bool leads_to_us(const void *allocate) {
    static _Atomic(void *) block; /* not lost in the eyes of a leak detector */
    void *(*call_malloc)(size_t);
    memcpy(&call_malloc, &allocate, sizeof allocate);
    int64_t countdown = self.sampler.countdown;
    self.sampler.countdown = INT64_MAX; /* so that nothing is sampled meanwhile */
    atomic_store(&block, call_malloc(1));
    bool counted = self.sampler.countdown != INT64_MAX;
    self.sampler.countdown = countdown;
    return counted;
}

HOT_CODE bool next_is_preempted(struct module *module) {
    static _Atomic enum { UNKNOWN, NO, YES } answer;
    const void *found = symbol_in(RTLD_DEFAULT, "malloc");
    if (answer == UNKNOWN)
        answer = found && !is_ours(found) && !leads_to_us(found) ? YES : NO;
    if (module && !(answer == YES && module_of(found, module)))
        *module = (struct module){.name = ""};
    return answer == YES;
}

/* Returns whether the address is the function itself, rather than an entry of a procedure linkage
 * table that stands for it. */
static bool is_definition(const void *address) {
    Dl_info info;
    void *entry = NULL;
    if (!loader_entry(address, &info, &entry) || !entry)
        return true;
    ElfW(Sym) symbol;
    memcpy(&symbol, entry, sizeof symbol);
    return symbol.st_shndx != SHN_UNDEF;
}

/* Returns whether the program, or a module before us, defines one of the operators. */
static bool cxx_is_replaced(void) {
    const void *found;
#define CHECK_FIRST(name, ...)                                                                     \
    found = symbol_in(RTLD_DEFAULT, #name);                                                        \
    if (found && !is_ours(found) && is_definition(found))                                          \
        return true;
    CALLS_NEW(CHECK_FIRST)
    CALLS_DELETE(CHECK_FIRST)
    return false;
}

/* Returns where to look for the library's operators. They are in a module after us. If the program
 * has no C++ library itself, they are among the libraries of the calling plug-in. */
static void *cxx_handle(const void *caller) {
    struct module module;
    if (symbol_in(RTLD_NEXT, "_Znwm") || !module_of(caller, &module))
        return RTLD_NEXT;
    void *handle = loader_open(module.name, RTLD_LAZY | RTLD_NOLOAD);
    return handle ? handle : RTLD_NEXT;
}

static bool is_cxx_library(const char *path) {
    const char *base = path_base(path);
    return strncmp(base, "libstdc++.so", 12) == 0 || strncmp(base, "libc++", 6) == 0;
}

enum cxx_way { CXX_DIRECT, CXX_CALL, CXX_REPLACED };

/* Decides for one operator, because an allocator may have some and leave others to the C++ library.
 * Operators with an alignment may call the allocator's aligned_alloc by its public name, as
 * jemalloc's do. */
static enum cxx_way cxx_way_of(const char *name, const void *operator_, bool replaced) {
    struct module module, allocator;
    void *heap;
    memcpy(&heap, &real.malloc, sizeof heap);
    if (replaced && operator_)
        return CXX_REPLACED;
    if (!module_of(operator_, &module))
        return CXX_DIRECT; /* an older library lacks it, or there is none: ours was called */
    if (module_of(heap, &allocator) && allocator.low == module.low)
        return strstr(name, "align_val_t") ? CXX_DIRECT : CXX_CALL;
    return is_cxx_library(module.name) ? CXX_DIRECT : CXX_REPLACED;
}

CPU_ALIGN_STACK void next_resolve_cxx(const void *caller) {
    static _Atomic bool known;
    void *found;
    if (atomic_load_explicit(&known, memory_order_acquire))
        return;
    next_resolve();
    void *handle = cxx_handle(caller);
    bool replaced = cxx_is_replaced() || next_is_preempted(NULL);
#define USE_NEW(name, ...)                                                                         \
    FIND(handle, name);                                                                            \
    memcpy(&found, &real.name, sizeof found);                                                      \
    switch (cxx_way_of(#name, found, replaced)) {                                                  \
    case CXX_DIRECT:                                                                               \
        next.name = direct_##name;                                                                 \
        break;                                                                                     \
    case CXX_CALL:                                                                                 \
        next.name = real.name;                                                                     \
        break;                                                                                     \
    case CXX_REPLACED:                                                                             \
        next_cxx_is_replaced = true;                                                               \
        next.name = replaced_##name;                                                               \
        break;                                                                                     \
    }
#define USE_DELETE(name, ...)                                                                      \
    FIND(handle, name);                                                                            \
    memcpy(&found, &real.name, sizeof found);                                                      \
    next.name = cxx_way_of(#name, found, replaced) == CXX_DIRECT ? direct_##name : real.name;
    CALLS_NEW(USE_NEW)
    CALLS_DELETE(USE_DELETE)
    atomic_store_explicit(&known, true, memory_order_release);
}
