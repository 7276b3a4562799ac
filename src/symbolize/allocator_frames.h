/* allocator_frames.h: which functions at the inner end of a call stack belong to the allocator, so
 * that the place which allocates is their caller. The one list of them. */
#ifndef SYMBOLIZE_ALLOCATOR_FRAMES_H
#define SYMBOLIZE_ALLOCATOR_FRAMES_H

#include <stdbool.h>

/* How far they are skipped. Where the compiler inlined the plumbing of a container, the container's
 * own code is the more useful place; a function of its own is a place of its own, with callers. */
typedef enum allocator_frame_kind {
    ALLOCATOR_NONE = 0, /* not the allocator's */
    ALLOCATOR_INLINED,  /* skipped where it was inlined */
    ALLOCATOR_ALWAYS,
} allocator_frame_kind;

/* X(kind, how, text, type): `text` is a demangled name without its arguments (NAME), the beginning
 * of one (PREFIX) or a part of one (PART); `type` is what is allocated by it, NULL: as inside. */
#define ALLOCATOR_FRAMES(X)                                                                        \
    X(ALWAYS, NAME, "operator new", "operator new")                                                \
    X(ALWAYS, NAME, "operator new[]", "operator new[]")                                            \
    X(INLINED, PREFIX, "std::__new_allocator<", NULL)                                              \
    X(INLINED, PREFIX, "__gnu_cxx::new_allocator<", NULL)                                          \
    X(INLINED, PREFIX, "std::allocator<", NULL)                                                    \
    X(INLINED, PREFIX, "std::allocator_traits<", NULL)                                             \
    X(INLINED, PREFIX, "__gnu_cxx::__alloc_traits<", NULL)                                         \
    X(INLINED, PREFIX, "std::_Vector_base<", NULL)                                                 \
    X(INLINED, PREFIX, "std::__1::allocator<", NULL)                                               \
    X(INLINED, PREFIX, "std::__1::allocator_traits<", NULL)                                        \
    X(INLINED, PREFIX, "std::__1::__libcpp_", NULL)                                                \
    X(ALWAYS, NAME, "__rust_alloc", "__rust_alloc")                                                \
    X(ALWAYS, NAME, "__rust_alloc_zeroed", "__rust_alloc_zeroed")                                  \
    X(ALWAYS, NAME, "__rust_realloc", "__rust_realloc")                                            \
    X(ALWAYS, NAME, "__rustc::__rust_alloc", "__rust_alloc")                                       \
    X(ALWAYS, NAME, "__rustc::__rust_alloc_zeroed", "__rust_alloc_zeroed")                         \
    X(ALWAYS, NAME, "__rustc::__rust_realloc", "__rust_realloc")                                   \
    X(ALWAYS, NAME, "__rdl_alloc", "__rust_alloc")                                                 \
    X(ALWAYS, NAME, "__rdl_alloc_zeroed", "__rust_alloc_zeroed")                                   \
    X(ALWAYS, NAME, "__rdl_realloc", "__rust_realloc")                                             \
    X(ALWAYS, NAME, "__rustc::__rdl_alloc", "__rust_alloc")                                        \
    X(ALWAYS, NAME, "__rustc::__rdl_alloc_zeroed", "__rust_alloc_zeroed")                          \
    X(ALWAYS, NAME, "__rustc::__rdl_realloc", "__rust_realloc")                                    \
    X(ALWAYS, PART, " for std::alloc::System>::", NULL)                                            \
    X(ALWAYS, PREFIX, "std::sys::alloc::", NULL)                                                   \
    X(ALWAYS, PREFIX, "std::alloc::", NULL)                                                        \
    X(ALWAYS, PREFIX, "alloc::alloc::", NULL)                                                      \
    X(ALWAYS, PREFIX, "<alloc::alloc::Global", NULL)                                               \
    X(ALWAYS, PREFIX, "alloc::raw_vec::", NULL)                                                    \
    X(ALWAYS, PREFIX, "<alloc::raw_vec::", NULL)

/* What a function, by its demangled name, is; `*type` (unchanged if there is none) what it
 * allocates. */
allocator_frame_kind allocator_frame(const char *function, const char **type);

#endif
