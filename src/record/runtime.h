/* runtime.h: the interface that a language runtime implements so that its heap is recorded.
 * runtime_events.h has what the recorder offers in return.
 * Problem. A runtime with a heap of its own takes memory from malloc in large pieces, and malloc's
 * stacks there say nothing about the program. Only the runtime knows what is allocated in its heap,
 * by which function of the language, and when a block moves or dies. Each runtime works
 * differently, and none of that belongs in the shared parts of the recorder.
 * Approach. A runtime is one `struct runtime` in src/runtimes/NAME/ and a row in
 * contract/runtimes.h. Its setting, its default depth and its place in `runtimes` follow from the
 * row. The recorder calls the functions in that struct, but none of them for each event, except
 * where the runtime's frames are inserted into native stacks (`splice`, `scope`). A runtime calls
 * the functions in record/runtime_events.h, which are inline, so that an event costs no indirect
 * call. A process has at most one recorded runtime: the first one in the table that says it is
 * recordable.
 * Alternatives. Hooks that the recorder calls for each event would put an indirect call between the
 * sampler and the writer. A separate library for each runtime would have to share the session, and
 * thread-local storage, with this one. Several runtimes at once would need a state each in every
 * domain and a type each in code.h; that can be added when it is needed.
 * Life of a runtime in a process:
 *   found     `find` is called once, when the recording is decided on. That may be as early as
 *             the first malloc, when neither the runtime nor the program has run. It is not
 *             called if the setting says `malloc`. A recorder that came late, by attach, calls
 *             it only for runtimes with `end`, while the program is running.
 *   armed     The runtime arms itself, when its heap is ready and before the program runs. How
 *             it notices that is its own business; `link_read` is an interposed call that can
 *             tell. More such calls go into calls.h, and their hooks here. It then calls
 *             recorder_enter for the session, which has its rate, runtime_depth and
 *             runtime_seed.
 *   thread    `domain_size` bytes, zeroed, and a call of `domain_init`, with a thread's first
 *             event. A later thread may take them over. They are freed with the session,
 *             without a call.
 *   fork      Nothing is called for a runtime that is recorded; but see has_come. In the child,
 *             runtime_enter returns the child's session, if any, with new domains and so new
 *             state. A block that the runtime remembers is a runtime_block, which contains the
 *             number of its session; blocks of the parent's session are ignored.
 *   exec,     Nothing is called: the recorder flushes the trace, and later events find no
 *   exit, end session.
 *   stop      runtime_takes drops allocations while sampling is stopped; deaths still count.
 *   unloading Nothing is called. The names of a frame are requested at the first event with
 *             that frame, so the meaning of a slot must then be in memory, and must not change
 *             later.
 * Invariants. Callbacks run in the middle of the program's code. Neither they nor `locate` may
 * allocate by malloc or in the runtime's heap, raise an exception, run a finalizer, release or take
 * the runtime's lock, or call anything that does: they only read memory. Callbacks of several
 * threads may run at once. Static TLS is scarce, so a thread's state goes into its domain. Each
 * byte counts once: malloc is not recorded beside the heap, unless the setting is `both`, or unless
 * the runtime is recorded like malloc and calls malloc between recorder_pause and
 * recorder_resume. */
#ifndef RECORD_RUNTIME_H
#define RECORD_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "contract/control.h"
#include "contract/runtimes.h"
#include "record/code.h"

struct unwind_trail;

enum runtime_kind {
    RUNTIME_ABSENT,     /* the program has no such runtime, or none can be seen */
    RUNTIME_RECORDABLE, /* its heap can be recorded */
    RUNTIME_UNFIT,      /* its heap cannot be recorded, *why says why; only malloc is recorded */
    RUNTIME_TRACED      /* the program writes this trace itself, *why says how: no recording */
};

enum { RUNTIME_GAUGES = 4 };
#define RUNTIME_GAUGE_UNKNOWN UINT64_MAX
_Static_assert((int)CODE_GAUGES + (int)N_GAUGES + (int)RUNTIME_GAUGES <= (int)CODE_THREADS,
               "a runtime's gauges end before the threads");

/* A stack in the form that the writer needs. */
struct runtime_stack {
    uint64_t *codes; /* outermost first; valid until the next stack is taken */
    size_t n;
    size_t common; /* how many are the same as in the runtime's previous stack in this domain */
};

/* A native stack into which a runtime inserts its frames. */
struct runtime_splice {
    const struct unwind_trail *trail; /* the stack taken last */
    size_t n;                         /* how many of its frames, from the outermost on */
    size_t kept;                      /* how many of these are the previous stack's */
    unsigned flags;                   /* bits of enum unwind_flag */
    bool has_places;                  /* the trail knows the addresses of the frames on the stack */
    unsigned type;                    /* type of the allocating function, for the innermost code */
    uintptr_t moved_from, moved_to;   /* old and new address of a resized block, or 0 */
    code_table *codes;                /* for the codes of native frames */
    code_cache *cache;
};

/* A block that may have become an object. */
struct runtime_object {
    const void *block;
    size_t bytes;      /* size requested, rounded up to words */
    bool is_dying;     /* the block is about to be freed */
    code_table *codes; /* for the location of native frames */
};

struct runtime {
    enum runtime_kind (*find)(const char **why);

    /* Called when the recording has been decided on and the program is about to run, or is already
     * running. NULL: not called. */
    void (*begin)(void);

    /* Called when a late recording ends before the program, which continues without it. Other
     * threads may be in the runtime's functions, and stay there. NULL: the runtime cannot be
     * recorded late. */
    void (*end)(void);

    /* For a late recording: writes the code that must be changed for it, from `begin` on, and
     * changed back after `end`. The process that requested the recording makes the changes; until
     * then the runtime works without them. Returns how many. NULL: none. */
    size_t (*codes)(control_code codes[CONTROL_RUNTIME_CODES]);

    /* Called when the program is about to fork. Returns whether it has loaded the runtime since it
     * began, and has no other threads, so that the child may be recorded with the runtime. `find`
     * and, in the child, `begin` are called next: see heirs.h. NULL: the runtime cannot be recorded
     * so. */
    bool (*has_come)(void);

    /* Returns the user's settings of the runtime, for the head of the trace, or NULL. The pointer
     * to this function is never NULL. */
    const char *(*parameters)(void);

    /* Called when the program or the C library reads a link; `caller` is the address of the call.
     * NULL: not called. */
    void (*link_read)(const char *path, const void *caller);

    /* The runtime's state in each domain: its size for stacks of up to `depth` frames, its
     * initialization, and a notice that the last backtrace in the trace may no longer be the
     * runtime's. */
    size_t (*domain_size)(size_t depth);
    void (*domain_init)(void *state, size_t depth);
    void (*domain_forget)(void *state);

    /* Not NULL: the runtime's allocator is recorded like malloc, by native_born and so on, in the
     * same table of blocks. Each stack, including malloc's, passes through this function, which
     * replaces native frames by frames of the language, code_of_spliced(slot, type). `state` is the
     * domain's. The allocating functions of the runtime are types from N_CALL_TYPES on, named by
     * `type_names`. */
    struct runtime_stack (*splice)(void *state, const struct runtime_splice *native);
    const char *const *type_names;
    size_t n_types;

    /* The first n_object_types of these types may return blocks that become objects, with types of
     * the language, once the program has filled them: see newborn.h. At a later event of the
     * thread, may_look returns whether no other thread can change or free objects meanwhile. Then
     * name_object replaces the innermost code of a block that still exists by one with the type of
     * the object. It returns false if the code is unchanged. */
    size_t n_object_types;
    bool (*may_look)(void);
    bool (*name_object)(void *state, uint64_t *code, const struct runtime_object *object);

    /* Tasks of the language, which take turns in a thread: see scope.h. NULL: it has none. `scope`
     * is called at each event, with a type as in struct runtime_splice, and returns the number of
     * the scope that the event is in; `of_thread` is the scope of the thread. `enter_scope` is
     * called when the program enters a scope, or none. If the thread runs a task, the scope becomes
     * the task's, and *before becomes the task's previous scope. `state` may be NULL there.
     * `lacks`, called at the end, returns what could not be found out about tasks, for the trace,
     * or NULL. */
    uint16_t (*scope)(void *state, unsigned type, uint16_t of_thread);
    bool (*enter_scope)(void *state, uint16_t scope, uint16_t *before);
    const char *(*lacks)(void);

    /* Writes the locations of a frame, code_of_runtime(slot), outermost first, at least one.
     * `codes` gives the location of an address. Called about once for each code in a trace. */
    size_t (*locate)(code_table *codes, uintptr_t slot, memtrace_location *locations, size_t max);

    /* The sizes of the runtime's heap and the like, as quantities in bytes, which are in the trace
     * beside those of the system (gauges.h), or RUNTIME_GAUGE_UNKNOWN. Called some times a second
     * by any thread, with or without the runtime's lock, and must not wait. */
    const char *const *gauge_names;
    size_t n_gauges; /* at most RUNTIME_GAUGES */
    void (*read_gauges)(uint64_t *bytes);
};

/* Each runtime has one row, in its own folder. */
#define RUNTIME_ROW(id, name, ...)                                                                 \
    extern const struct runtime name##_runtime_row __attribute__((visibility("hidden")));
RUNTIMES(RUNTIME_ROW)
#undef RUNTIME_ROW

/* By enum runtime_id; defined in src/runtimes/runtimes.c. */
extern const struct runtime *const runtimes[N_RUNTIMES] __attribute__((visibility("hidden")));

#endif
