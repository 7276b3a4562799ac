/* python.c: records CPython's allocations for objects, and puts Python frames into the stacks of
 * all allocations.
 *
 * Each of the interpreter's object allocators (PyObject_Malloc, PyMem_Malloc) gets a wrapper, which
 * does what the interposed malloc does. So Python's blocks are recorded like any others, in one
 * table, by one sampler. The memory that an allocator takes from malloc or mmap for its blocks is
 * not counted again. The third allocator, PyMem_RawMalloc, calls malloc and is recorded there.
 *
 * The wrappers are installed before the interpreter starts. They are installed again when it looks
 * for its own program, because settings such as PYTHONMALLOC make it choose allocators in between.
 * The wrappers remain installed. They only pass their context argument on, so it does not matter
 * which context a thread reads from an allocator that is being replaced.
 *
 * Why not otherwise. The stacks of malloc alone show the interpreter's evaluator, whatever the
 * program does. Python's tracemalloc counts every block, and slows a program down by half or more.
 * A module that the program imports would miss the allocations of its start.
 *
 * What must hold. We take no reference and no lock of the interpreter, and call none of its
 * functions that allocate. Frames are read from memory (python_frames.h) by layouts that the
 * interpreter itself confirms (python_layout.h), and names are copied once (python_names.h).
 * Nothing is read of an unknown interpreter: only malloc is recorded then. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/hot.h"
#include "record/native.h"
#include "record/recorder.h"
#include "record/runtime.h"
#include "runtimes/python/python_arenas.h"
#include "runtimes/python/python_frames.h"
#include "runtimes/python/python_layout.h"
#include "runtimes/python/python_names.h"
#include "runtimes/python/python_tasks.h"
#include "runtimes/python/python_types.h"

#define COLD HOT_CODE static __attribute__((noinline))

static python_runtime python; /* set by python_layout_find */

/* ---- the allocators ------------------------------------------------------------------------ */

/* X(name, domain): the functions' names in the trace begin with `name`. */
#define ALLOCATORS(X)                                                                              \
    X(PyObject, PYTHON_OBJ)                                                                        \
    X(PyMem, PYTHON_MEM)

enum python_type {
#define TYPES(name, domain) TYPE_##name##_Malloc, TYPE_##name##_Calloc, TYPE_##name##_Realloc,
    ALLOCATORS(TYPES) N_TYPES
};

static const char *const python_type_names[] = {
#define TYPE_NAMES(name, domain) #name "_Malloc", #name "_Calloc", #name "_Realloc",
    ALLOCATORS(TYPE_NAMES)};

/* The wrapped allocators. */
static struct python_allocator allocators[PYTHON_OBJ + 1];

/* Must be expanded in the wrapper itself: the stack starts there, with as few of our frames as
 * possible. */
#define BORN(block, bytes, type)                                                                   \
    do {                                                                                           \
        struct unwind_site site_;                                                                  \
        unwind_site_here(&site_);                                                                  \
        if (recorder_has_room(site_.sp))                                                           \
            native_born(block, bytes, N_CALL_TYPES + TYPE_##type, &site_);                         \
    } while (0)

#define DEFINE_MALLOC(name, domain)                                                                \
    COLD void *cold_##name##_malloc(void *context, size_t size) {                                  \
        recorder_uncount(size);                                                                    \
        const int64_t left = recorder_pause();                                                     \
        void *block = allocators[domain].malloc(context, size);                                    \
        recorder_resume(left);                                                                     \
        if (block) {                                                                               \
            if (domain == PYTHON_OBJ)                                                              \
                python_types_clear_type_words(block, size);                                        \
            BORN(block, size, name##_Malloc);                                                      \
        }                                                                                          \
        return block;                                                                              \
    }                                                                                              \
    HOT_CODE static void *name##_malloc(void *context, size_t size) {                              \
        if (memprof_count(&self.sampler, recorder_words(size)))                                    \
            return cold_##name##_malloc(context, size);                                            \
        const int64_t left = recorder_pause();                                                     \
        void *block = allocators[domain].malloc(context, size);                                    \
        recorder_resume(left);                                                                     \
        return block;                                                                              \
    }
ALLOCATORS(DEFINE_MALLOC)

#define DEFINE_CALLOC(name, domain)                                                                \
    COLD void *cold_##name##_calloc(void *context, size_t count, size_t size) {                    \
        recorder_uncount(calls_product(count, size));                                              \
        const int64_t left = recorder_pause();                                                     \
        void *block = allocators[domain].calloc(context, count, size);                             \
        recorder_resume(left);                                                                     \
        if (block)                                                                                 \
            BORN(block, calls_product(count, size), name##_Calloc);                                \
        return block;                                                                              \
    }                                                                                              \
    HOT_CODE static void *name##_calloc(void *context, size_t count, size_t size) {                \
        if (memprof_count(&self.sampler, recorder_words(calls_product(count, size))))              \
            return cold_##name##_calloc(context, count, size);                                     \
        const int64_t left = recorder_pause();                                                     \
        void *block = allocators[domain].calloc(context, count, size);                             \
        recorder_resume(left);                                                                     \
        return block;                                                                              \
    }
ALLOCATORS(DEFINE_CALLOC)

/* Like the interposed realloc, except that size 0 frees nothing. */
#define DEFINE_REALLOC(name, domain)                                                               \
    COLD void *cold_##name##_realloc(void *context, void *block, size_t size) {                    \
        recorder_uncount(size);                                                                    \
        const uint64_t taken = block ? native_take(block) : 0;                                     \
        const int64_t left = recorder_pause();                                                     \
        void *moved = allocators[domain].realloc(context, block, size);                            \
        recorder_resume(left);                                                                     \
        if (taken)                                                                                 \
            native_settle(block, taken, moved != NULL);                                            \
        if (moved)                                                                                 \
            BORN(moved, size, name##_Realloc);                                                     \
        return moved;                                                                              \
    }                                                                                              \
    HOT_CODE static void *name##_realloc(void *context, void *block, size_t size) {                \
        const bool is_due = memprof_count(&self.sampler, recorder_words(size));                    \
        if (is_due || memprof_is_tracked(&recorder_filter, block))                                 \
            return cold_##name##_realloc(context, block, size);                                    \
        const int64_t left = recorder_pause();                                                     \
        void *moved = allocators[domain].realloc(context, block, size);                            \
        recorder_resume(left);                                                                     \
        return moved;                                                                              \
    }
ALLOCATORS(DEFINE_REALLOC)

#define DEFINE_FREE(name, domain)                                                                  \
    COLD void cold_##name##_free(void *context, void *block) {                                     \
        if (block)                                                                                 \
            native_died(block);                                                                    \
        allocators[domain].free(context, block);                                                   \
    }                                                                                              \
    HOT_CODE static void name##_free(void *context, void *block) {                                 \
        if (memprof_is_tracked(&recorder_filter, block))                                           \
            cold_##name##_free(context, block);                                                    \
        else                                                                                       \
            allocators[domain].free(context, block);                                               \
    }
ALLOCATORS(DEFINE_FREE)

/* Whether a wrapper is installed. If somebody has wrapped it in turn, it cannot be removed, and
 * must not be installed twice. */
static bool is_armed[PYTHON_OBJ + 1];

static void allocator_arm(int domain, const struct python_allocator *ours) {
    struct python_allocator now;
    python.get_allocator(domain, &now);
    if (now.malloc == ours->malloc || (is_armed[domain] && python.is_initialized()))
        return;
    is_armed[domain] = true;
    allocators[domain] = now;
    now = *ours;
    now.context = allocators[domain].context;
    python.set_allocator(domain, &now);
}

static void allocator_disarm(int domain, const struct python_allocator *ours) {
    struct python_allocator now;
    python.get_allocator(domain, &now);
    if (now.malloc != ours->malloc)
        return;
    python.set_allocator(domain, &allocators[domain]);
    is_armed[domain] = false;
}

static void allocators_for_each(void act(int domain, const struct python_allocator *ours)) {
#define ACT(name, domain)                                                                          \
    act(domain, &(const struct python_allocator){.malloc = name##_malloc,                          \
                                                 .calloc = name##_calloc,                          \
                                                 .realloc = name##_realloc,                        \
                                                 .free = name##_free});
    ALLOCATORS(ACT)
}

/* ---- deaths of code objects and types ------------------------------------------------------ */

enum { TYPE_DEALLOC = 48 }; /* in PyTypeObject, in all versions */

typedef void deallocate(void *object);
static deallocate *code_dealloc, *type_dealloc;

static void python_code_dies(void *code) {
    python_names_code_dies((uintptr_t)code);
    code_dealloc(code);
}

static void python_type_dies(void *type) {
    python_types_type_dies((uintptr_t)type);
    type_dealloc(type);
}

static void dealloc_arm(char *type, deallocate *ours, deallocate **wrapped) {
    deallocate *now;
    memcpy(&now, type + TYPE_DEALLOC, sizeof now);
    if (now == ours)
        return;
    *wrapped = now;
    memcpy(type + TYPE_DEALLOC, &ours, sizeof ours);
}

static void dealloc_disarm(char *type, deallocate *ours, deallocate *wrapped) {
    deallocate *now;
    memcpy(&now, type + TYPE_DEALLOC, sizeof now);
    if (now == ours)
        memcpy(type + TYPE_DEALLOC, &wrapped, sizeof wrapped);
}

/* ---- stacks -------------------------------------------------------------------------------- */

enum fit { FIT_UNKNOWN, FIT, UNFIT };
static _Atomic int python_fit;

static bool frames_fit(const char *thread) {
    int fit = atomic_load_explicit(&python_fit, memory_order_relaxed);
    if (__builtin_expect(fit != FIT_UNKNOWN, 1))
        return fit == FIT;
    fit = python_frames_fit(&python, thread) ? FIT : UNFIT;
    if (atomic_exchange(&python_fit, fit) == FIT_UNKNOWN && fit == UNFIT)
        recorder_tell_user(
            "its Python's frames have an unknown layout: stacks are recorded without them");
    return fit == FIT;
}

/* Returns the state of a thread that does not hold the lock, or NULL. An interpreter that ends
 * frees the states of all other threads, though not their frames. Threads that then ask for the
 * lock end as well, and may still allocate. */
static char *thread_detached(char *own) {
    return own && !python.is_finalizing() ? own : NULL;
}

/* Returns the thread state for an event. Up to 3.11 the interpreter only tells which thread holds
 * the lock, whoever that is. It is the calling thread if one of Python's own allocators was
 * called. */
static struct python_thread thread_of_event(unsigned type) {
    char *const attached = python.thread_attached();
    if (attached && (python.layout->minor > 11 || type > N_CALL_TYPES))
        return (struct python_thread){attached, true};
    char *const own = python.thread_own();
    return own == attached ? (struct python_thread){own, own != NULL}
                           : (struct python_thread){thread_detached(own), false};
}

/* The state of a domain, followed by the memory of its three parts. */
struct state {
    python_types *types;
    python_tasks *tasks;
    python_frames *frames;
    struct python_thread thread; /* of the current event: python_scope sets it first */
};

static struct runtime_stack python_splice(void *state, const struct runtime_splice *native) {
    const struct state *const s = state;
    char *thread = s->thread.state;
    if (thread && !frames_fit(thread))
        thread = NULL;
    return python_frames_splice(s->frames, &python, thread, native);
}

/* ---- tasks --------------------------------------------------------------------------------- */

static uint16_t python_scope(void *state, unsigned type, uint16_t of_thread) {
    struct state *const s = state;
    const struct python_thread thread = s->thread = thread_of_event(type);
    if (!thread.state || (!thread.has_lock && !frames_fit(thread.state))) /* its frames are read */
        return of_thread;
    return python_tasks_scope(s->tasks, &python, thread, of_thread);
}

static bool python_enter_scope(void *state, uint16_t scope, uint16_t *before) {
    const struct python_thread thread = thread_of_event(0);
    struct state *const s = state;
    return thread.state && python_tasks_enter(s ? s->tasks : NULL, &python, thread, scope, before);
}

static const char *python_lacks(void) {
    return python_tasks_lack(&python);
}

/* ---- for the recorder ---------------------------------------------------------------------- */

HOT_CODE static enum runtime_kind python_find(const char **why) {
    return python_layout_find(&python, why);
}

/* A recording that came late has ended: blocks are freed unnoticed, and must not be read. */
static _Atomic bool has_ended;

static void python_end(void) {
    atomic_store(&has_ended, true);
    allocators_for_each(allocator_disarm);
    python_arenas_disarm(&python);
    dealloc_disarm(python.code_type, python_code_dies, code_dealloc);
    dealloc_disarm(python.type_type, python_type_dies, type_dealloc);
}

static void python_begin(void) {
    atomic_store(&has_ended, false);
    allocators_for_each(allocator_arm);
    python_arenas_arm(&python);
    dealloc_arm(python.code_type, python_code_dies, &code_dealloc);
    dealloc_arm(python.type_type, python_type_dies, &type_dealloc);
}

/* The interpreter looks for its program after it has chosen its allocators, and before wrappers
 * such as tracemalloc's can be installed. */
static void python_notice_link(const char *path, const void *caller) {
    (void)path;
    if ((uintptr_t)caller - python.low < python.high - python.low && !python.is_initialized())
        python_begin();
}

static const char *python_parameters(void) {
    return NULL;
}

static size_t python_domain_size(size_t depth) {
    return sizeof(struct state) + python_types_size() + python_tasks_size() +
           python_frames_size(depth);
}

static void python_domain_init(void *state, size_t depth) {
    struct state *const s = state;
    s->types = (python_types *)(s + 1);
    s->tasks = (python_tasks *)((char *)s->types + python_types_size());
    s->frames = (python_frames *)((char *)s->tasks + python_tasks_size());
    python_frames_init(s->frames, depth);
}

static void python_domain_forget(void *state) {
    python_frames_forget(((struct state *)state)->frames);
}

/* Returns whether objects may be read: while we hold the interpreter's lock, no other thread uses
 * them. */
static bool python_may_look(void) {
    if (atomic_load_explicit(&has_ended, memory_order_relaxed))
        return false;
    const char *const attached = python.thread_attached();
    return attached && (python.layout->minor > 11 || attached == python.thread_own());
}

static bool python_name_object(void *state, uint64_t *code, const struct runtime_object *object) {
    return python_types_name(((struct state *)state)->types, &python, code, object);
}

static const char *const python_gauge_names[] = {
#define PYTHON_GAUGE_NAME(id, name) name,
    PYTHON_GAUGES(PYTHON_GAUGE_NAME)
#undef PYTHON_GAUGE_NAME
};

const struct runtime python_runtime_row = {
    .find = python_find,
    .begin = python_begin,
    .end = python_end,
    .parameters = python_parameters,
    .link_read = python_notice_link,
    .domain_size = python_domain_size,
    .domain_init = python_domain_init,
    .domain_forget = python_domain_forget,
    .splice = python_splice,
    .type_names = python_type_names,
    .n_types = N_TYPES,
    .n_object_types = TYPE_PyObject_Realloc + 1,
    .may_look = python_may_look,
    .name_object = python_name_object,
    .scope = python_scope,
    .enter_scope = python_enter_scope,
    .lacks = python_lacks,
    .locate = python_names_locate,
    .gauge_names = python_gauge_names,
    .n_gauges = N_PYTHON_GAUGES,
    .read_gauges = python_arenas_read,
};
