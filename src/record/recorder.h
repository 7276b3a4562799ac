/* recorder.h: the recorder, which lives in the program under study. This header is the layer
 * between intercepted calls and the process's one session, whose life it owns.
 * Problem. A program that knows nothing of us calls malloc from everywhere: in signal handlers,
 * before main, between fork and exec. It closes our files and forbids system calls, and it may be
 * killed. It must go on as without us, and its trace must say what it did until then.
 * Approach. Calls are intercepted in the process. These files meet an event, in this order:
 *     calls.h, preload.c  malloc and the like, which next.h passes on; for other allocators,
 *                         allocator.h, by linked.h, imports.h, late.h or static.c; for pools,
 *                         pool_calls.c; for mappings, maps.c and mapping.h
 *     recorder.c          gives the session, which it begins and ends
 *     native.h            draws samples, and takes the event through all that follows; for the
 *                         heap of a language runtime (runtime.h), runtime_events.h does so
 *     domain.h            the thread's stream, and its last stack; code.h makes codes of frames;
 *                         scope.h and span.h say what the thread was doing
 *     ids.h, pools.h      know the blocks that are alive; at low rates, the engine knows malloc's
 *     session.c           now and then: writes out what is old, and reads gauges.h
 *     rescue.h, sink.h    keep packets until they are full, and write them
 * What a process does besides allocating is met by process.c (exec, exit), handover.h and
 * environment.h (programs that it starts), sandbox.h (seccomp), and control.c (orders).
 * Alternatives. From outside, by breakpoints or probes in the kernel, each call would cost a trap,
 * since only counting its words tells whether a block is sampled.
 * Invariants. The recorder calls no malloc and no stdio, holds no lock while it unwinds, keeps
 * errno, and makes its system calls directly. If it cannot go on, the recording ends, not the
 * program. */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memprof.h"
#include "record/calls.h"
#include "record/config.h"
#include "record/rescue.h"
#include "record/session.h"

/* Addresses of blocks that may be tracked; tested inline at each free. */
extern memprof_filter recorder_filter __attribute__((visibility("hidden")));

/* Some session has recorded mapped memory, so mapping calls have to check whether they are
 * recorded. */
extern bool recorder_maps __attribute__((visibility("hidden")));

/* All sessions so far have recorded every block. */
extern bool recorder_took_everything __attribute__((visibility("hidden")));

/* Returns the size of a block in words, with the allocator's header word. A size too large for any
 * allocator may wrap around: such a block is never allocated. */
static inline uint64_t recorder_words(size_t bytes) {
    return (bytes + 2 * sizeof(void *) - 1) / sizeof(void *);
}

/* Undoes the count that memprof_count has made for a block of that size. */
static inline void recorder_uncount(size_t bytes) {
    self.sampler.countdown += (int64_t)recorder_words(bytes);
}

/* Returns the session in which the calling thread can record. Returns NULL if there is none; the
 * thread's next allocations then take the fast path if possible. */
struct session *recorder_enter(void);

/* Decides whether this process is recorded, and begins if so, unless an event has done that. */
void recorder_settle(void);

/* Returns the language runtime whose heap is recorded; NULL: none. */
const struct runtime *recorder_runtime(void);

/* Returns whether the recorder was loaded into a running program. */
bool recorder_is_late(void);

/* Returns whether the runtime may have been running before it was found, either for that reason or
 * because the runtime was loaded late itself (heirs.h). */
bool recorder_runtime_is_late(void);

/* Tells the user something about the program. */
void recorder_tell_user(const char *message);

/* Say why nothing is recorded, so that `allotrace run` need not guess. The reason is about a file
 * or a program, about the value of a setting, or about a trace that cannot be opened. */
void recorder_decline(const char *subject, const char *message, int os_error);
void recorder_decline_setting(int setting); /* its number */
void recorder_decline_open(const config *c, int os_error);
void recorder_tell(enum rescue_note note); /* tells only `run` */
void recorder_program(char path[PATH_MAX]);

/* Ends the recording of the runtime's heap, and gives the reason in the trace and to the user. */
void recorder_lose_runtime(const char *why, const char *message);

/* State on a page that the kernel wipes in the child of a fork. */
struct recorder_page {
    _Atomic uint32_t alive; /* 1 in the process that owns the session, 0 in forked children */
    struct session_gates gates;
    _Atomic(struct session *) current; /* the session, until it ends */
};
extern struct recorder_page *recorder_page __attribute__((visibility("hidden")));

/* Returns the session in which the calling thread can record with native.h's _fast functions.
 * Returns NULL if there is none or if it takes more; the functions below find out. */
static inline struct session *recorder_fast(void) {
    struct session *s = atomic_load_explicit(&recorder_page->gates.fast, memory_order_acquire);
    return s && self.owner == s ? s : NULL;
}

/* Returns whether such a session records every block. */
static inline bool recorder_everything(void) {
    const struct session *s =
        atomic_load_explicit(&recorder_page->gates.everything, memory_order_acquire);
    return s && self.owner == s;
}

/* Most bytes of stack that an event needs, and that beginning a session needs, counted from the
 * site. */
#define RECORDER_STACK       4096
#define RECORDER_STACK_BEGIN 12288

/* Returns whether the stack has room for an event. `sp` is that of the site, or our own. Counts
 * events without room: signal handlers may run on very small stacks. */
bool recorder_has_room_elsewhere(uintptr_t sp);
static inline bool recorder_has_room(uintptr_t sp) {
    const struct domain *d = self.domain;
    return __builtin_expect(d && d->trail && unwind_trail_is_in_stack(d->trail, sp), 1) ||
           recorder_has_room_elsewhere(sp);
}

/* Returns the result of recorder_enter where one look suffices; NULL: it does not. */
static inline struct session *recorder_look(void) {
    struct session *s = atomic_load_explicit(&recorder_page->current, memory_order_acquire);
    bool same = s && self.owner == s && !atomic_load_explicit(&s->failed, memory_order_relaxed);
    return __builtin_expect(same, 1) ? s : NULL;
}

static inline struct session *recorder_enter_again(void) {
    struct session *s = recorder_look();
    return __builtin_expect(s != NULL, 1) ? s : recorder_enter();
}

/* Returns the session for a block whose words are counted. NULL: the block has no samples. */
struct session *recorder_enter_counted(uint64_t words);

/* recorder_enter_begun returns the session of this process if there already is one, and never
 * begins one. recorder_come_back returns the same session some time later, though it may have
 * ended. It returns NULL if a signal handler has forked since and this is the child. */
struct session *recorder_enter_begun(void);
struct session *recorder_come_back(void);

/* Called around a call of a language runtime's allocator, so that memory which that takes from
 * malloc and mmap is not recorded. The result of recorder_pause must be passed to
 * recorder_resume. */
#define RECORDER_PAUSED (INT64_MAX / 2) /* words to the next sample; no program gets there */
static inline int64_t recorder_pause(void) {
    const int64_t countdown = self.sampler.countdown;
    self.sampler.countdown = RECORDER_PAUSED;
    self.paused = true;
    return countdown;
}
static inline void recorder_resume(int64_t countdown) {
    self.paused = false;
    self.sampler.countdown = countdown;
}

/* New blocks are not recorded at present. */
extern _Atomic bool recorder_stopped __attribute__((visibility("hidden")));
static inline bool recorder_is_stopped(void) {
    return __builtin_expect(atomic_load_explicit(&recorder_stopped, memory_order_relaxed), 0);
}

/* ---- on demand: see contract/control.h. One thread at a time, outside the recorder --------- */

/* Begins a recording. Returns NULL on success. Otherwise returns the reason; *error is an errno or
 * 0. `get` returns the settings. If `pace` is not NULL, the rate follows it. *declined is
 * unchanged, or becomes the reason why a runtime's own memory is not recorded. */
const char *recorder_begin(char *get(const char *name), struct pace *pace, const char **declined,
                           int *error);
struct pace *recorder_pace(void); /* what the rate follows; NULL: nothing */
void recorder_end(void);
void recorder_look_again(void); /* handles modules that were loaded since */
void recorder_stop(bool stopped);
void recorder_mark(const char *name); /* any thread may call */

/* Enters the scope `name`, or returns to a scope by its number. Returns the number of the previous
 * scope. */
unsigned recorder_scope(const char *name, unsigned scope);
const char *recorder_path(void); /* path of the trace; NULL: nothing is recorded */

/* Called when the process may be about to end: by exec, if it succeeds, or finally. */
void recorder_flush(void);
void recorder_before_exec(void);
void recorder_after_exec(void); /* exec has failed */
void recorder_before_abort(void);
void recorder_finish(void);

/* Called when the process is about to start, or to become, a program that is not recorded because
 * the trace belongs to another process. */
void recorder_leave_out(void);

/* Returns the result of recorder_enter if the session is this process's own, rather than that of a
 * process that it shares memory with. */
struct session *recorder_enter_own(void);

/* Ends the recording, and gives the reason in the trace and on standard error. */
void recorder_yield(struct session *s, const char *why);

#endif
