/* allocator_frames.h: the only list of the functions at the inner end of a call stack that belong
 * to the allocator, so that the allocation is attributed to their caller. */
#ifndef SYMBOLIZE_ALLOCATOR_FRAMES_H
#define SYMBOLIZE_ALLOCATOR_FRAMES_H

#include <stdbool.h>

/* When such a frame is skipped. If the compiler inlined the internals of a container, then the
 * container's own code is the more useful place. If it did not, the function is a place of its own,
 * with callers. */
typedef enum allocator_frame_kind {
    ALLOCATOR_NONE = 0, /* not part of the allocator */
    ALLOCATOR_INLINED,  /* skipped if inlined */
    ALLOCATOR_ALWAYS,
} allocator_frame_kind;

/* X(kind, how, text, type): `text` is a demangled name without its arguments (NAME), the beginning
 * of one (PREFIX) or a part of one (PART). `type` is the type of what it allocates, or NULL for the
 * type given by the frame inside it. */
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

/* Classifies a function by its demangled name. Sets `*type` to what it allocates, if its row says
 * so. */
allocator_frame_kind allocator_frame(const char *function, const char **type);

#endif
