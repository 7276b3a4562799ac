/* allocator.h: the names, other than malloc's own, under which programs call the functions of
 * allocators, and how such a call is recorded. A call arrives here by a jump in the function
 * (linked.c), or by the entry through which a module calls it (imports.c).
 * A block is counted after the allocator has returned it, unless a call inside the allocator has
 * been counted meanwhile. */
#ifndef RECORD_ALLOCATOR_H
#define RECORD_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/calls.h"

/* Families of allocators, each of which puts a prefix before all its names. IMPORTED marks a name
 * that is looked for only where a module imports it. */
enum allocator_prefix { PLAIN = 1, JE = 2, TC = 4, MI = 8, SN = 16, OTHER = 32, IMPORTED = 64 };
#define ALLOCATOR_PREFIXES(X)                                                                      \
    X("", PLAIN)                                                                                   \
    X("je_", JE)                                                                                   \
    X("_rjem_", JE)                                                                                \
    X("tc_", TC)                                                                                   \
    X("mi_", MI)                                                                                   \
    X("sn_", SN)                                                                                   \
    X("rp", OTHER)                                                                                 \
    X("dl", OTHER)                                                                                 \
    X("scalable_", OTHER)
enum { C_NAMES = PLAIN | JE | TC | MI | SN | OTHER, ONLY_JE_NAMES = PLAIN | JE };

/* X(name after the prefix, families that have it, kind of its arguments, type of the block). The
 * kind says which arguments are the size, the count or the block. */
#define ALLOCATOR_NAMES(X)                                                                         \
    X(malloc, C_NAMES, size0, malloc)                                                              \
    X(calloc, C_NAMES, product01, calloc)                                                          \
    X(realloc, C_NAMES, resize1, realloc)                                                          \
    X(free, C_NAMES, free, malloc)                                                                 \
    X(cfree, PLAIN | TC | MI, free, malloc)                                                        \
    X(memalign, C_NAMES, size1, memalign)                                                          \
    X(aligned_alloc, C_NAMES, size1, aligned_alloc)                                                \
    X(posix_memalign, C_NAMES, out2, posix_memalign)                                               \
    X(valloc, C_NAMES, size0, valloc)                                                              \
    X(pvalloc, C_NAMES, size0, pvalloc)                                                            \
    X(reallocarray, PLAIN | MI, resize12, reallocarray)                                            \
    X(free_sized, PLAIN | TC, free, malloc)                                                        \
    X(free_aligned_sized, PLAIN, free, malloc)                                                     \
    X(mallocx, ONLY_JE_NAMES, size0, malloc)                                                       \
    X(rallocx, ONLY_JE_NAMES, resize1, realloc)                                                    \
    X(dallocx, ONLY_JE_NAMES, free, malloc)                                                        \
    X(sdallocx, ONLY_JE_NAMES, free, malloc)                                                       \
    X(malloc_small, MI, size0, malloc)                                                             \
    X(zalloc, MI, size0, calloc)                                                                   \
    X(zalloc_small, MI, size0, calloc)                                                             \
    X(mallocn, MI, product01, malloc)                                                              \
    X(reallocn, MI, resize12, reallocarray)                                                        \
    X(reallocf, MI, resize1, realloc)                                                              \
    X(rezalloc, MI, resize1, realloc)                                                              \
    X(recalloc, MI, resize12, reallocarray)                                                        \
    X(malloc_aligned, MI, size0, aligned_alloc)                                                    \
    X(zalloc_aligned, MI, size0, aligned_alloc)                                                    \
    X(calloc_aligned, MI, product01, aligned_alloc)                                                \
    X(realloc_aligned, MI, resize1, realloc)                                                       \
    X(rezalloc_aligned, MI, resize1, realloc)                                                      \
    X(free_size, MI, free, malloc)                                                                 \
    X(free_aligned, MI, free, malloc)                                                              \
    X(free_size_aligned, MI, free, malloc)                                                         \
    X(heap_malloc, MI, size1, malloc)                                                              \
    X(heap_malloc_small, MI, size1, malloc)                                                        \
    X(heap_zalloc, MI, size1, calloc)                                                              \
    X(heap_calloc, MI, product12, calloc)                                                          \
    X(heap_realloc, MI, heap_resize2, realloc)                                                     \
    X(heap_malloc_aligned, MI, size1, aligned_alloc)                                               \
    X(heap_zalloc_aligned, MI, size1, aligned_alloc)                                               \
    X(heap_realloc_aligned, MI, heap_resize2, realloc)                                             \
    X(new, MI | TC, size0, _Znwm)                                                                  \
    X(new_nothrow, MI | TC, size0, _Znwm)                                                          \
    X(new_aligned, MI | TC, size0, _Znwm)                                                          \
    X(new_aligned_nothrow, MI | TC, size0, _Znwm)                                                  \
    X(new_n, MI, product01, _Znam)                                                                 \
    X(newarray, TC, size0, _Znam)                                                                  \
    X(newarray_nothrow, TC, size0, _Znam)                                                          \
    X(newarray_aligned, TC, size0, _Znam)                                                          \
    X(newarray_aligned_nothrow, TC, size0, _Znam)                                                  \
    X(delete, TC, free, malloc)                                                                    \
    X(delete_nothrow, TC, free, malloc)                                                            \
    X(delete_sized, TC, free, malloc)                                                              \
    X(delete_aligned, TC, free, malloc)                                                            \
    X(delete_aligned_nothrow, TC, free, malloc)                                                    \
    X(delete_sized_aligned, TC, free, malloc)                                                      \
    X(deletearray, TC, free, malloc)                                                               \
    X(deletearray_nothrow, TC, free, malloc)                                                       \
    X(deletearray_sized, TC, free, malloc)                                                         \
    X(deletearray_aligned, TC, free, malloc)                                                       \
    X(deletearray_aligned_nothrow, TC, free, malloc)                                               \
    X(deletearray_sized_aligned, TC, free, malloc)                                                 \
    X(malloc_skip_new_handler, TC | IMPORTED, size0, malloc)                                       \
    X(xallocx, ONLY_JE_NAMES | IMPORTED, grow1, realloc)                                           \
    X(expand, MI | IMPORTED, resize1, realloc)                                                     \
    X(malloc_aligned_at, MI | IMPORTED, size0, aligned_alloc)                                      \
    X(zalloc_aligned_at, MI | IMPORTED, size0, aligned_alloc)                                      \
    X(calloc_aligned_at, MI | IMPORTED, product01, aligned_alloc)                                  \
    X(realloc_aligned_at, MI | IMPORTED, resize1, realloc)                                         \
    X(rezalloc_aligned_at, MI | IMPORTED, resize1, realloc)                                        \
    X(recalloc_aligned, MI | IMPORTED, resize12, reallocarray)                                     \
    X(aligned_recalloc, MI | IMPORTED, resize12, reallocarray)                                     \
    X(heap_mallocn, MI | IMPORTED, product12, malloc)                                              \
    X(heap_reallocn, MI | IMPORTED, heap_resize23, reallocarray)                                   \
    X(heap_reallocf, MI | IMPORTED, heap_resize2, realloc)                                         \
    X(heap_rezalloc, MI | IMPORTED, heap_resize2, realloc)                                         \
    X(heap_recalloc, MI | IMPORTED, heap_resize23, reallocarray)                                   \
    X(heap_malloc_aligned_at, MI | IMPORTED, size1, aligned_alloc)                                 \
    X(heap_zalloc_aligned_at, MI | IMPORTED, size1, aligned_alloc)                                 \
    X(heap_calloc_aligned, MI | IMPORTED, product12, aligned_alloc)                                \
    X(heap_rezalloc_aligned, MI | IMPORTED, heap_resize2, realloc)                                 \
    X(heap_alloc_new, MI | IMPORTED, size1, _Znwm)                                                 \
    X(heap_alloc_new_n, MI | IMPORTED, product12, _Znam)                                           \
    X(new_realloc, MI | IMPORTED, resize1, realloc)                                                \
    X(new_reallocn, MI | IMPORTED, resize12, reallocarray)                                         \
    X(strdup, MI | IMPORTED, text, malloc)                                                         \
    X(strndup, MI | IMPORTED, text, malloc)                                                        \
    X(mbsdup, MI | IMPORTED, text, malloc)                                                         \
    X(heap_strdup, MI | IMPORTED, text, malloc)                                                    \
    X(heap_strndup, MI | IMPORTED, text, malloc)                                                   \
    X(realpath, MI | IMPORTED, path1, malloc)                                                      \
    X(heap_realpath, MI | IMPORTED, path2, malloc)                                                 \
    X(heap_destroy, MI | IMPORTED, destroy, malloc)                                                \
    X(aligned_malloc, OTHER | IMPORTED, size0, aligned_alloc)                                      \
    X(aligned_realloc, OTHER | IMPORTED, resize1, realloc)                                         \
    X(aligned_free, OTHER | IMPORTED, free, malloc)                                                \
    X(rust_alloc, SN, size1, malloc)                                                               \
    X(rust_alloc_zeroed, SN, size1, calloc)                                                        \
    X(rust_realloc, SN, resize3, realloc)                                                          \
    X(rust_dealloc, SN, free, malloc)

/* The kinds of arguments. Digits are the indices of arguments. */
#define ALLOCATOR_KINDS(X)                                                                         \
    X(size0)                                                                                       \
    X(size1)                                                                                       \
    X(product01)                                                                                   \
    X(product12)                                                                                   \
    X(resize1)                                                                                     \
    X(resize12)                                                                                    \
    X(resize3)                                                                                     \
    X(heap_resize2)                                                                                \
    X(heap_resize23)                                                                               \
    X(grow1)                                                                                       \
    X(text)                                                                                        \
    X(path1)                                                                                       \
    X(path2)                                                                                       \
    X(free)                                                                                        \
    X(destroy)                                                                                     \
    X(out2)
enum allocator_kind {
#define KIND(name) KIND_##name,
    ALLOCATOR_KINDS(KIND)
#undef KIND
};

enum {
#define COUNT(...) +1
    N_ALLOCATOR_PREFIXES = 0 ALLOCATOR_PREFIXES(COUNT),
    N_ALLOCATOR_NAMES = 0 ALLOCATOR_NAMES(COUNT) CALLS_NEW(COUNT) CALLS_DELETE(COUNT)
#undef COUNT
};
/* Indices of the first four names. */
enum { ALLOCATOR_MALLOC, ALLOCATOR_CALLOC, ALLOCATOR_REALLOC, ALLOCATOR_FREE };

/* It has no pointers, which the loader would have to relocate. */
struct allocator_name {
    char text[40];
    uint8_t prefixes; /* families that have it: enum allocator_prefix */
    uint8_t kind, type;
};
struct allocator_prefix_text {
    char text[12];
    uint8_t flag;
};
extern const struct allocator_name allocator_names[N_ALLOCATOR_NAMES]
    __attribute__((visibility("hidden")));
extern const struct allocator_prefix_text allocator_prefixes[N_ALLOCATOR_PREFIXES]
    __attribute__((visibility("hidden")));

/* The type by which allocators are called. No function in the list takes more than four
 * arguments. */
typedef uintptr_t allocator_function(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);

/* A function of an allocator whose calls are redirected to a hook. The hook gets the same arguments
 * and this struct. imports_stubs.S knows the offset of `hook` and the size of the struct. */
struct allocator_call {
    allocator_function *original; /* the function that the hook calls */
    uintptr_t hook;
    uintptr_t function; /* address of the intercepted function */
    uint8_t type;       /* enum call_type */
    uint8_t inside;     /* enum linked_call */
    bool is_closed;     /* it calls no function of the program, and no exception leaves it */
    uint16_t name;      /* index in allocator_names */
};

/* Fills in what follows from the name: all fields but `original`, `function` and `is_closed`. */
void allocator_name_call(struct allocator_call *call, unsigned name);

/* Returns whether the function is an operator of C++ or the like, which may throw. */
bool allocator_may_throw(unsigned name);

/* mimalloc's function that visits the blocks of a heap. NULL: mimalloc is not there, or more than
 * once. */
typedef bool allocator_heap_visitor(const void *heap, const void *area, void *block, size_t size,
                                    void *context);
typedef bool allocator_heap_visit(const void *heap, bool all, allocator_heap_visitor *visit,
                                  void *context);
void allocator_know_heaps(allocator_heap_visit *visit);

/* Calls `visit` with the indices of each prefix and name that together form `text`. */
void allocator_each_name(const char *text,
                         void (*visit)(unsigned prefix, unsigned name, void *context),
                         void *context);

#endif
