/* runtime.h: what a language runtime must say so that its heap is recorded. What the recorder
 * offers it is in runtime_events.h.
 *
 * Problem. A runtime with a heap of its own takes memory from malloc in large pieces, in which
 * malloc's stacks say nothing of the program. What is allocated in there, by which function of the
 * language, and when it moves or dies only the runtime knows. Each does it in its own way, and none
 * of that belongs in the parts of the recorder that all share.
 *
 * Way. A runtime is one `struct runtime` in src/runtimes/NAME/, and a row of contract/runtimes.h,
 * from which its setting, its default depth and its place in `runtimes` follow. The recorder calls
 * the functions of that struct, none of them at each event; a runtime calls the functions in
 * record/runtime_events.h, which are in line, so that an event costs no indirect call. A process
 * has one recorded runtime at most, the first of the table that says it is recordable.
 *
 * Why not otherwise. Hooks of a runtime at each event would put an indirect call between the
 * sampler and the writer. A library of its own for each runtime would have to share the session,
 * and thread-local storage, with this one. Several runtimes at once would take a state each in
 * every domain and a type each in code.h: let whoever needs that add it.
 *
 * Life of a runtime in a process:
 *   found     `find`, once, when the recording is decided on, which may be as early as the first
 *             malloc: neither the runtime nor the program has run. Not called if the setting says
 *             `malloc`. A recorder that came late, by attach, asks those with `end` alone, in the
 *             midst of the program.
 *   armed     by the runtime itself, when its heap is ready and before the program runs. How it
 *             notices is its own business; `link_read` is an interposed call that can tell. More
 *             such calls go into calls.h, and their hooks in here beside it. It then asks
 *             recorder_enter for the session, whose rate, runtime_depth and _seed are its.
 *   thread    `domain_size` bytes, zeroed, and `domain_init`, with a thread's first event. A later
 *             thread may take them over. They are given back with the session, without a word.
 *   fork      Nothing is called of one that is recorded; but see has_come. In the child
 *             runtime_enter gives the child's session, or none, new domains, and so new state. What
 *             the runtime remembers of a block is a runtime_block, which says of which session it
 *             is: the parent's are ignored.
 *   exec,     Nothing is called: the recorder writes out what there is, and events that come later
 *   exit, end find no session.
 *   stop      runtime_takes drops allocations while sampling is stopped; ends still count.
 *   unloading Nothing is called: names are asked for at the first event that has a frame, so what
 *             a slot means must then be in memory, and must not mean something else later.
 *
 * What must hold. Callbacks run in the middle of the program's code. Neither they nor `locate` may
 * allocate by malloc or in the runtime's heap, raise, run a finalizer, give up or take the
 * runtime's lock, or call what does any of these: they read memory. Callbacks of several threads
 * may run at once. Static TLS is scarce: what a thread needs goes into its domain. Each byte counts
 * once: malloc is not recorded beside the heap, unless the setting is `both`, or the runtime is
 * recorded as malloc is and calls the latter between recorder_pause and recorder_resume. */
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
    RUNTIME_ABSENT,     /* the program has none, or cannot be seen to have one */
    RUNTIME_RECORDABLE, /* its heap can be recorded */
    RUNTIME_UNFIT,      /* its heap cannot, *why says why: only malloc is recorded */
    RUNTIME_TRACED /* the program writes this trace itself, *why says how: nothing is recorded */
};

enum { RUNTIME_GAUGES = 4 };
#define RUNTIME_GAUGE_UNKNOWN UINT64_MAX
_Static_assert((int)CODE_GAUGES + (int)N_GAUGES + (int)RUNTIME_GAUGES <= (int)CODE_THREADS,
               "apart");

/* A stack as the writer wants it. */
struct runtime_stack {
    uint64_t *codes; /* outermost first; until the next one is taken */
    size_t n;
    size_t common; /* so many of them are those of the runtime's stack before in this domain */
};

/* A native stack, in which a runtime puts its frames. */
struct runtime_splice {
    const struct unwind_trail *trail; /* the stack taken last, of which the outermost */
    size_t n;                         /* frames are meant */
    size_t kept;                      /* of them, so many outermost are those of the last stack */
    unsigned flags;                   /* of enum unwind_flag */
    bool has_places;                  /* the trail knows where on the stack they are */
    unsigned type;                    /* of the allocating function, for the innermost code */
    uintptr_t moved_from, moved_to;   /* the block was there, which is freed, and is here; or 0 */
    code_table *codes;                /* for the codes of native frames */
    code_cache *cache;
};

/* A block that may be an object by now. */
struct runtime_object {
    const void *block;
    size_t bytes;      /* that were asked for, rounded up to words */
    bool is_dying;     /* it is about to be freed */
    code_table *codes; /* for the location of native frames */
};

struct runtime {
    enum runtime_kind (*find)(const char **why);

    /* The recording has been decided on, and the program is about to run, or runs already. NULL:
     * not called. */
    void (*begin)(void);

    /* A recording that came late ends before the program, which goes on without it. Other threads
     * may be in the runtime's functions, and stay there. NULL: it cannot be recorded late. */
    void (*end)(void);

    /* Late, from `begin` on: code that is to be changed for it, and changed back behind `end`, by
     * whoever has asked for the recording; until then it goes without. Gives how many. NULL: none.
     */
    size_t (*codes)(control_code codes[CONTROL_RUNTIME_CODES]);

    /* The program is about to fork. Has it loaded the runtime since it began, and has it no other
     * threads, so that the child may be recorded with it? Then follow `find` and, in the child,
     * `begin`: see heirs.h. NULL: it cannot be recorded so. */
    bool (*has_come)(void);

    /* Gives what the user has set of it, for the head of the trace, or NULL for nothing. Never NULL
     * itself. */
    const char *(*parameters)(void);

    /* The program, or the C library, reads a link, called from there. NULL: of no interest. */
    void (*link_read)(const char *path, const void *caller);

    /* What it keeps in each domain: how large, for stacks of up to `depth` frames; how it begins;
     * and that the last backtrace in the trace is another one now, or may be. */
    size_t (*domain_size)(size_t depth);
    void (*domain_init)(void *state, size_t depth);
    void (*domain_forget)(void *state);

    /* Not NULL: its allocator is recorded as malloc is, by native_born and so on, in the same
     * table of blocks; and each stack, malloc's as well, goes through this: with frames of the
     * language, code_of_spliced(slot, type), in place of native ones. `state` is the domain's. The
     * allocating functions of the runtime are types from N_CALL_TYPES on, by `type_names`. */
    struct runtime_stack (*splice)(void *state, const struct runtime_splice *native);
    const char *const *type_names;
    size_t n_types;

    /* The first of these types may give blocks that are objects of types of the language, once the
     * program has filled them: see newborn.h. At a later event of the thread: whether nobody else
     * can change or free objects meanwhile; and then, of a block that is still there, its innermost
     * code with the type of the object, if it is one. False: the code is what it was. */
    size_t n_object_types;
    bool (*may_look)(void);
    bool (*name_object)(void *state, uint64_t *code, const struct runtime_object *object);

    /* Tasks of the language, which take turns in a thread: see scope.h. NULL: it has none. `scope`
     * is called at each event, of a type as in struct runtime_splice: the number of the scope that
     * it is in, where `of_thread` is that of the thread. `enter_scope`: the program enters a scope,
     * or none; if the thread runs a task, it is the task's, and *before gets the one that the task
     * was in. `state` may be NULL there. `lacks`, at the end: what it could not tell of tasks, for
     * the trace, or NULL. */
    uint16_t (*scope)(void *state, unsigned type, uint16_t of_thread);
    bool (*enter_scope)(void *state, uint16_t scope, uint16_t *before);
    const char *(*lacks)(void);

    /* What a frame, code_of_runtime(slot), is called: its locations, outermost first, at least one.
     * `codes` gives the location of an address. Called once for each code of a trace, nearly. */
    size_t (*locate)(code_table *codes, uintptr_t slot, memtrace_location *locations, size_t max);

    /* How much memory it has for its heap and the like: quantities in bytes, which stand in the
     * trace beside those of the system (gauges.h), or RUNTIME_GAUGE_UNKNOWN. Asked some times a
     * second by any thread, with the runtime's lock or without, and waits for nobody. */
    const char *const *gauge_names;
    size_t n_gauges; /* at most RUNTIME_GAUGES */
    void (*read_gauges)(uint64_t *bytes);
};

/* Each runtime has one, in its own folder. */
#define RUNTIME_ROW(id, name, ...)                                                                 \
    extern const struct runtime name##_runtime_row __attribute__((visibility("hidden")));
RUNTIMES(RUNTIME_ROW)
#undef RUNTIME_ROW

/* By enum runtime_id: src/runtimes/runtimes.c. */
extern const struct runtime *const runtimes[N_RUNTIMES] __attribute__((visibility("hidden")));

#endif
