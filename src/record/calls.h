/* calls.h: the list of the functions that the recorder interposes. preload.c, process.c and maps.c
 * define them; next.h has the original functions. */
#ifndef RECORD_CALLS_H
#define RECORD_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "platform/cpu.h"

/* X(name, name in source code, parameters, arguments, bytes requested): functions that return a
 * block or NULL. */
#define CALLS_ALLOCATING(X)                                                                        \
    X(malloc, "malloc", (size_t size), (size), size)                                               \
    X(calloc, "calloc", (size_t count, size_t size), (count, size), calls_product(count, size))    \
    X(memalign, "memalign", (size_t alignment, size_t size), (alignment, size), size)              \
    X(aligned_alloc, "aligned_alloc", (size_t alignment, size_t size), (alignment, size), size)    \
    X(valloc, "valloc", (size_t size), (size), size)                                               \
    X(pvalloc, "pvalloc", (size_t size), (size), size)

/* Allocating operators of C++: the same fields and X(…, alignment), which is 0 for the default
 * alignment. */
#define CALLS_NEW(X)                                                                               \
    X(_Znwm, "operator new", (size_t size), (size), size, 0)                                       \
    X(_Znam, "operator new[]", (size_t size), (size), size, 0)                                     \
    X(_ZnwmRKSt9nothrow_t, "operator new", (size_t size, const void *tag), (size, tag), size, 0)   \
    X(_ZnamRKSt9nothrow_t, "operator new[]", (size_t size, const void *tag), (size, tag), size, 0) \
    X(_ZnwmSt11align_val_t, "operator new", (size_t size, size_t alignment), (size, alignment),    \
      size, alignment)                                                                             \
    X(_ZnamSt11align_val_t, "operator new[]", (size_t size, size_t alignment), (size, alignment),  \
      size, alignment)                                                                             \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t, "operator new",                                          \
      (size_t size, size_t alignment, const void *tag), (size, alignment, tag), size, alignment)   \
    X(_ZnamSt11align_val_tRKSt9nothrow_t, "operator new[]",                                        \
      (size_t size, size_t alignment, const void *tag), (size, alignment, tag), size, alignment)

/* X(result, name, parameters, arguments): these are recorded, too, but written out in preload.c. */
#define CALLS_RESIZING(X)                                                                          \
    X(void *, realloc, (void *block, size_t size), (block, size))                                  \
    X(void *, reallocarray, (void *block, size_t count, size_t size), (block, count, size))        \
    X(int, posix_memalign, (void **block, size_t alignment, size_t size), (block, alignment, size))

/* X(name, parameters, arguments): functions that free `block`. */
#define CALLS_FREEING(X)                                                                           \
    X(free, (void *block), (block))                                                                \
    X(free_sized, (void *block, size_t size), (block, size))                                       \
    X(free_aligned_sized, (void *block, size_t alignment, size_t size), (block, alignment, size))

#define CALLS_DELETE(X)                                                                            \
    X(_ZdlPv, (void *block), (block))                                                              \
    X(_ZdaPv, (void *block), (block))                                                              \
    X(_ZdlPvm, (void *block, size_t size), (block, size))                                          \
    X(_ZdaPvm, (void *block, size_t size), (block, size))                                          \
    X(_ZdlPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag))                          \
    X(_ZdaPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag))                          \
    X(_ZdlPvSt11align_val_t, (void *block, size_t alignment), (block, alignment))                  \
    X(_ZdaPvSt11align_val_t, (void *block, size_t alignment), (block, alignment))                  \
    X(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t alignment),                        \
      (block, size, alignment))                                                                    \
    X(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t alignment),                        \
      (block, size, alignment))                                                                    \
    X(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *tag),       \
      (block, alignment, tag))                                                                     \
    X(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *tag),       \
      (block, alignment, tag))

/* X(result, name, parameters, arguments): functions that are only passed on. */
#define CALLS_ASKING(X) X(size_t, malloc_usable_size, (void *block), (block))

/* X(result, name, parameters, arguments): functions that replace the process's program, on success.
 * The variadic forms of exec are written out in process.c. */
#define CALLS_EXEC(X)                                                                              \
    X(int, execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, envp)) \
    X(int, execv, (const char *path, char *const argv[]), (path, argv))                            \
    X(int, execvp, (const char *file, char *const argv[]), (file, argv))                           \
    X(int, execvpe, (const char *file, char *const argv[], char *const envp[]),                    \
      (file, argv, envp))                                                                          \
    X(int, fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp))            \
    X(int, execveat,                                                                               \
      (int fd, const char *path, char *const argv[], char *const envp[], int flags),               \
      (fd, path, argv, envp, flags))
/* X(result, name, parameters, arguments): functions that start a program in a new process. */
#define CALLS_SPAWN(X)                                                                             \
    X(int, posix_spawn,                                                                            \
      (pid_t * pid, const char *path, const void *actions, const void *attributes,                 \
       char *const argv[], char *const envp[]),                                                    \
      (pid, path, actions, attributes, argv, envp))                                                \
    X(int, posix_spawnp,                                                                           \
      (pid_t * pid, const char *file, const void *actions, const void *attributes,                 \
       char *const argv[], char *const envp[]),                                                    \
      (pid, file, actions, attributes, argv, envp))
/* X(name, parameters, arguments, function called before): functions that end the process. A signal
 * handler may return from abort. */
#define CALLS_EXIT(X)                                                                              \
    X(_exit, (int status), (status), recorder_finish)                                              \
    X(_Exit, (int status), (status), recorder_finish)                                              \
    X(abort, (void), (), recorder_before_abort)

/* X(result, name, parameters, arguments): functions by whose calls a language runtime is
 * recognized: see record/runtime.h. */
#define CALLS_LINK(X)                                                                              \
    X(ssize_t, readlink, (const char *path, char *buffer, size_t size), (path, buffer, size))      \
    X(ssize_t, __readlink_chk, (const char *path, char *buffer, size_t size, size_t room),         \
      (path, buffer, size, room))
#define CALLS_UNLOADING(X) X(int, dlclose, (void *handle), (handle))

/* X(result, name, parameters, arguments): functions that map memory; mremap is written out in
 * maps.c. Those of the first list can be called before the original functions are known. */
#define CALLS_MAPPING(X)                                                                           \
    X(void *, mmap, (void *address, size_t size, int protection, int flags, int fd, off_t offset), \
      (address, size, protection, flags, fd, offset))                                              \
    X(void *, mmap64,                                                                              \
      (void *address, size_t size, int protection, int flags, int fd, off_t offset),               \
      (address, size, protection, flags, fd, offset))                                              \
    X(int, munmap, (void *address, size_t size), (address, size))                                  \
    X(int, mprotect, (void *address, size_t size, int protection), (address, size, protection))
#define CALLS_BREAK(X)                                                                             \
    X(void *, sbrk, (intptr_t increment), (increment))                                             \
    X(int, brk, (void *address), (address))

/* X(result, name, parameters, arguments): functions by which a program gives up system calls;
 * sandbox.c defines them. Allocators also call them while they initialize themselves. */
#define CALLS_SANDBOX(X)                                                                           \
    X(long, syscall, (long number, long a, long b, long c, long d, long e, long f),                \
      (number, a, b, c, d, e, f))                                                                  \
    X(int, prctl, (int option, long a, long b, long c, long d), (option, a, b, c, d))

/* X(result, name, parameters): functions that a program may call if it finds them: those of
 * allotrace/mark.h and pool.h, and those that programs already call on another recorder. */
#define CALLS_OFFERED(X)                                                                           \
    X(void, allotrace_mark, (const char *name))                                                    \
    X(unsigned, allotrace_scope, (const char *name, unsigned scope))                               \
    X(void, allotrace_pool_create, (const void *pool, const char *name))                           \
    X(void, allotrace_pool_alloc, (const void *pool, void *address, size_t bytes))                 \
    X(void, allotrace_pool_free, (const void *pool, void *address))                                \
    X(void, allotrace_pool_reset, (const void *pool))                                              \
    X(void, allotrace_pool_destroy, (const void *pool))                                            \
    X(void, allotrace_pool_chunk, (const void *pool, void *address, size_t bytes))                 \
    X(long, allotrace_pool_take, (long outer))
#define CALLS_OFFERED_AS_HEAPTRACK(X)                                                              \
    X(void, heaptrack_malloc, (void *address, size_t bytes))                                       \
    X(void, heaptrack_free, (void *address))                                                       \
    X(void, heaptrack_realloc, (void *before, size_t bytes, void *address))

/* X(name, name in the trace): kinds of memory from mapping functions. */
#define CALLS_MAPPED(X)                                                                            \
    X(mmap, "mmap")                                                                                \
    X(mmap_file, "mmap (file)")                                                                    \
    X(sbrk, "sbrk")

/* All functions of C that handle blocks. Those of C++ are listed separately. */
#define CALLS_C(ALLOCATING, FREEING, OTHER)                                                        \
    CALLS_ALLOCATING(ALLOCATING)                                                                   \
    CALLS_FREEING(FREEING)                                                                         \
    CALLS_RESIZING(OTHER)                                                                          \
    CALLS_ASKING(OTHER)

/* The type of an allocation: the function that was called. */
enum call_type {
#define CALL_TYPE(name, ...)               TYPE_##name,
#define CALL_TYPE_OTHER(result, name, ...) TYPE_##name,
    CALLS_ALLOCATING(CALL_TYPE) CALLS_NEW(CALL_TYPE) CALLS_RESIZING(CALL_TYPE_OTHER)
        CALLS_MAPPED(CALL_TYPE)
#undef CALL_TYPE
#undef CALL_TYPE_OTHER
            N_CALL_TYPES
};

/* Returns count * size. If that overflows, returns more than any allocator has. */
static inline size_t calls_product(size_t count, size_t size) {
    size_t product;
    return __builtin_mul_overflow(count, size, &product) ? (size_t)1 << 62 : product;
}

#endif
