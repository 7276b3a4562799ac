/* wrappers.h: recognizes functions that merely allocate by their names: xmalloc, g_malloc0_n,
 * jv_mem_alloc.
 *
 * In C programs, such a function allocates nearly everything, and the place of interest is its
 * caller. This is the only list of the words in such names. In doubt, a function is not a wrapper:
 * a constructor (jvp_string_alloc, node_new) is a place of interest. Of C++ functions, only the
 * name after the last `::` counts. Functions that resize (realloc) must be in namespaces, because
 * String::realloc(int) is about strings. Templates and names that are not identifiers never match,
 * except a class's own `operator new` and `operator new[]`.
 *
 * A name is a sequence of words, separated by underscores or by a change of case:
 *
 *   [library] {generic word} core {suffix}
 *   g_malloc0_n, PyMem_RawMalloc, sqlite3DbMallocRaw
 *
 * The word of the core may begin with glued prefixes (xmalloc, safesysmalloc) and end with digits
 * (malloc0). The library may be any single word except an OBJECT (table_realloc resizes a table,
 * test_malloc tests). `alloc` and `allocate` are so common that they must have a generic word or a
 * glued prefix before them, or stand alone. */
#ifndef QUERY_WRAPPERS_H
#define QUERY_WRAPPERS_H

#include <stdbool.h>

/* X(kind, text in lower case) */
#define WRAPPER_WORDS(X)                                                                           \
    X(CORE, "malloc")                                                                              \
    X(CORE, "calloc")                                                                              \
    X(CORE, "realloc")                                                                             \
    X(CORE, "reallocarray")                                                                        \
    X(CORE, "mallocarray")                                                                         \
    X(CORE, "reallocf")                                                                            \
    X(CORE, "zalloc")                                                                              \
    X(CORE, "memalign")                                                                            \
    X(CORE, "strdup")                                                                              \
    X(CORE, "strndup")                                                                             \
    X(CORE, "memdup")                                                                              \
    X(CORE, "asprintf")                                                                            \
    X(CORE, "vasprintf")                                                                           \
    X(CORE, "reallocate")                                                                          \
    X(CORE, "mallocz")                                                                             \
    X(CORE, "memdupz")                                                                             \
    X(CORE, "repalloc")                                                                            \
    X(WEAK_CORE, "alloc")                                                                          \
    X(WEAK_CORE, "allocate")                                                                       \
    X(GLUED, "x")                                                                                  \
    X(GLUED, "safe")                                                                               \
    X(GLUED, "sys")                                                                                \
    X(GLUED, "mem")                                                                                \
    X(GLUED, "my")                                                                                 \
    X(GLUED, "k")                                                                                  \
    X(GLUED, "e")                                                                                  \
    X(GLUED, "p")                                                                                  \
    X(GLUED, "z")                                                                                  \
    X(GLUED, "try")                                                                                \
    X(GLUED, "n")                                                                                  \
    X(GLUED, "i")                                                                                  \
    X(GLUED, "x2")                                                                                 \
    X(GLUED, "l")                                                                                  \
    X(GENERIC, "mem")                                                                              \
    X(GENERIC, "memory")                                                                           \
    X(GENERIC, "safe")                                                                             \
    X(GENERIC, "sys")                                                                              \
    X(GENERIC, "x")                                                                                \
    X(GENERIC, "raw")                                                                              \
    X(GENERIC, "do")                                                                               \
    X(GENERIC, "try")                                                                              \
    X(GENERIC, "checked")                                                                          \
    X(GENERIC, "debug")                                                                            \
    X(GENERIC, "default")                                                                          \
    X(GENERIC, "aligned")                                                                          \
    X(GENERIC, "heap")                                                                             \
    X(GENERIC, "gc")                                                                               \
    X(GENERIC, "db")                                                                               \
    X(GENERIC, "object")                                                                           \
    X(GENERIC, "libc")                                                                             \
    X(GENERIC, "std")                                                                              \
    X(GENERIC, "stdalloc")                                                                         \
    X(GENERIC, "m")                                                                                \
    X(GENERIC, "l")                                                                                \
    X(GENERIC, "fts5")                                                                             \
    X(SUFFIX, "n")                                                                                 \
    X(SUFFIX, "nn")                                                                                \
    X(SUFFIX, "array")                                                                             \
    X(SUFFIX, "sized")                                                                             \
    X(SUFFIX, "size")                                                                              \
    X(SUFFIX, "raw")                                                                               \
    X(SUFFIX, "zero")                                                                              \
    X(SUFFIX, "zeroed")                                                                            \
    X(SUFFIX, "clear")                                                                             \
    X(SUFFIX, "aligned")                                                                           \
    X(SUFFIX, "atomic")                                                                            \
    X(SUFFIX, "loc")                                                                               \
    X(SUFFIX, "gently")                                                                            \
    X(SUFFIX, "default")                                                                           \
    X(SUFFIX, "debug")                                                                             \
    X(SUFFIX, "safe")                                                                              \
    X(SUFFIX, "or")                                                                                \
    X(SUFFIX, "die")                                                                               \
    X(SUFFIX, "fail")                                                                              \
    X(SUFFIX, "nofail")                                                                            \
    X(SUFFIX, "impl")                                                                              \
    X(SUFFIX, "internal")                                                                          \
    X(SUFFIX, "unguarded")                                                                         \
    X(SUFFIX, "usable")                                                                            \
    X(SUFFIX, "num")                                                                               \
    X(SUFFIX, "extended")                                                                          \
    X(SUFFIX, "huge")                                                                              \
    X(SUFFIX, "finish")                                                                            \
    X(SUFFIX, "free")                                                                              \
    X(SUFFIX, "alarm")                                                                             \
    X(SUFFIX, "with")                                                                              \
    X(SUFFIX, "printf")                                                                            \
    X(SUFFIX, "vprintf")                                                                           \
    X(OBJECT, "array")                                                                             \
    X(OBJECT, "buf")                                                                               \
    X(OBJECT, "buffer")                                                                            \
    X(OBJECT, "hash")                                                                              \
    X(OBJECT, "list")                                                                              \
    X(OBJECT, "map")                                                                               \
    X(OBJECT, "node")                                                                              \
    X(OBJECT, "queue")                                                                             \
    X(OBJECT, "set")                                                                               \
    X(OBJECT, "stack")                                                                             \
    X(OBJECT, "string")                                                                            \
    X(OBJECT, "table")                                                                             \
    X(OBJECT, "tree")                                                                              \
    X(OBJECT, "vector")                                                                            \
    X(OBJECT, "bench")                                                                             \
    X(OBJECT, "child")                                                                             \
    X(OBJECT, "load")                                                                              \
    X(OBJECT, "main")                                                                              \
    X(OBJECT, "parse")                                                                             \
    X(OBJECT, "read")                                                                              \
    X(OBJECT, "run")                                                                               \
    X(OBJECT, "test")                                                                              \
    X(OBJECT, "thread")                                                                            \
    X(OBJECT, "worker")

/* X(name): wrappers of widely used programs that do not follow this pattern: PostgreSQL, Redis
 * modules, GLib, GCC, nginx, PHP, HotSpot. Parameters of C++ are ignored. */
#define WRAPPER_NAMES(X)                                                                           \
    X("AllocSetAlloc")                                                                             \
    X("AllocSetAllocFromNewBlock")                                                                 \
    X("AllocSetAllocLarge")                                                                        \
    X("AllocSetRealloc")                                                                           \
    X("AllocateHeap")                                                                              \
    X("GenerationAlloc")                                                                           \
    X("MemoryContextAlloc")                                                                        \
    X("MemoryContextAllocExtended")                                                                \
    X("MemoryContextAllocHuge")                                                                    \
    X("MemoryContextAllocZero")                                                                    \
    X("MemoryContextAllocZeroAligned")                                                             \
    X("MemoryContextStrdup")                                                                       \
    X("RM_Alloc")                                                                                  \
    X("ReallocateHeap")                                                                            \
    X("SlabAlloc")                                                                                 \
    X("g_slice_alloc")                                                                             \
    X("g_slice_alloc0")                                                                            \
    X("ggc_internal_alloc")                                                                        \
    X("ngx_alloc")                                                                                 \
    X("ngx_palloc_block")                                                                          \
    X("ngx_palloc_large")                                                                          \
    X("ngx_palloc_small")                                                                          \
    X("zend_mm_alloc_huge")                                                                        \
    X("zend_mm_alloc_large")

/* Whether a function of this name merely allocates. */
bool wrapper_name(const char *function);

#endif
