/* recorder.h: what stands between the interposed calls and a session: is anything recorded at all,
 * in this process, just now? Owns the one session of the process and its life. */
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

/* Some session has recorded what the program maps: its calls have to ask whether they matter. */
extern bool recorder_maps __attribute__((visibility("hidden")));

/* What there was of a session so far records every block. */
extern bool recorder_took_everything __attribute__((visibility("hidden")));

/* A block in words, and the allocator's own header word. Sizes too large for any allocator may
 * wrap around: such blocks never come to be. */
static inline uint64_t recorder_words(size_t bytes) {
    return (bytes + 2 * sizeof(void *) - 1) / sizeof(void *);
}

/* Takes back what memprof_count has counted for a block of that size. */
static inline void recorder_uncount(size_t bytes) {
    self.sampler.countdown += (int64_t)recorder_words(bytes);
}

/* The session in which the calling thread can record; NULL: in none, and its next allocations take
 * the fast path where that can be told. */
struct session *recorder_enter(void);

/* Decides whether this process is recorded, and begins with it, if no event has done so yet. */
void recorder_settle(void);

/* The language runtime whose heap is to be recorded; NULL: none. */
const struct runtime *recorder_runtime(void);

/* Did the recorder come to a program that ran already? */
bool recorder_is_late(void);

/* The runtime may have been at work before it was found: for that reason, or because it came late
 * itself (heirs.h). */
bool recorder_runtime_is_late(void);

/* Says to the user what there is to say of the program. */
void recorder_tell_user(const char *message);

/* Says why nothing is recorded, so that `allotrace run` need not guess: of a file or a program, or
 * of the trace that cannot be opened. */
void recorder_decline(const char *subject, const char *message, int os_error);
void recorder_decline_open(const config *c, int os_error);
void recorder_tell(enum rescue_note note); /* to `run` alone */
void recorder_program(char path[PATH_MAX]);

/* The runtime's heap is recorded no longer: says why in the trace, and to the user. */
void recorder_lose_runtime(const char *why, const char *message);

/* On a page that the kernel wipes in the child of a fork. */
struct recorder_page {
    _Atomic uint32_t alive; /* 1 in the process that owns the session, 0 in forked children */
    struct session_gates gates;
    _Atomic(struct session *) current; /* the session, until it ends */
};
extern struct recorder_page *recorder_page __attribute__((visibility("hidden")));

/* The session in which the calling thread can record by what native.h calls fast. NULL: there is
 * none, or it takes more than that, which the functions below find out. */
static inline struct session *recorder_fast(void) {
    struct session *s = atomic_load_explicit(&recorder_page->gates.fast, memory_order_acquire);
    return s && self.owner == s ? s : NULL;
}

/* The same if it records every block. */
static inline bool recorder_everything(void) {
    const struct session *s =
        atomic_load_explicit(&recorder_page->gates.everything, memory_order_acquire);
    return s && self.owner == s;
}

/* What an event takes of the stack at most, and what beginning a session takes; bytes, from the
 * site on. */
#define RECORDER_STACK       4096
#define RECORDER_STACK_BEGIN 12288

/* Whether there is room for an event on the stack, `sp` in which is the site's, or our own. Counts
 * those for which there is not: signal handlers may run on very small ones. */
bool recorder_has_room_elsewhere(uintptr_t sp);
static inline bool recorder_has_room(uintptr_t sp) {
    const struct domain *d = self.domain;
    return __builtin_expect(d && d->trail && unwind_trail_is_in_stack(d->trail, sp), 1) ||
           recorder_has_room_elsewhere(sp);
}

/* What recorder_enter gives, where that takes no more than a look; NULL: it takes more. */
static inline struct session *recorder_look(void) {
    struct session *s = atomic_load_explicit(&recorder_page->current, memory_order_acquire);
    bool same = s && self.owner == s && !atomic_load_explicit(&s->failed, memory_order_relaxed);
    return __builtin_expect(same, 1) ? s : NULL;
}

static inline struct session *recorder_enter_again(void) {
    struct session *s = recorder_look();
    return __builtin_expect(s != NULL, 1) ? s : recorder_enter();
}

/* The session for a block whose words are counted. NULL: the block has no samples. */
struct session *recorder_enter_counted(uint64_t words);

/* The session, where there is one of this process already: none begins. And the same session some
 * time later, though it may have ended; NULL: a signal handler has forked since, and we are the
 * child. */
struct session *recorder_enter_begun(void);
struct session *recorder_come_back(void);

/* Around a call of an allocator that a language runtime has: what it takes of malloc and mmap for
 * the block is not recorded. What recorder_pause gives is for recorder_resume. */
#define RECORDER_PAUSED (INT64_MAX / 2) /* words to the next sample: nobody allocates so much */
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

/* No new blocks are to be recorded just now. */
extern _Atomic bool recorder_stopped __attribute__((visibility("hidden")));
static inline bool recorder_is_stopped(void) {
    return __builtin_expect(atomic_load_explicit(&recorder_stopped, memory_order_relaxed), 0);
}

/* ---- on demand: see contract/control.h. By one thread at a time, outside the recorder.
 * ------------
 */

/* NULL: it records. Else why not; *error is an errno or 0. `get` is asked for the settings. `pace`,
 * if it is not NULL, is what the rate is to follow. *declined stays, or becomes why a runtime's own
 * memory is not recorded. */
const char *recorder_begin(char *get(const char *name), struct pace *pace, const char **declined,
                           int *error);
struct pace *recorder_pace(void); /* what it follows; NULL: nothing */
void recorder_end(void);
void recorder_look_again(void); /* for modules that were loaded since it began */
void recorder_stop(bool stopped);
void recorder_mark(const char *name); /* any thread */

/* Enters a scope, or goes back to one that was left, by its number; gives the one before. */
unsigned recorder_scope(const char *name, unsigned scope);
const char *recorder_path(void); /* of the trace; NULL: nothing is recorded */

/* The process may be about to vanish: by exec, if it succeeds, or for good. */
void recorder_flush(void);
void recorder_before_exec(void);
void recorder_after_exec(void); /* it has failed */
void recorder_before_abort(void);
void recorder_finish(void);

/* The process is about to start, or to become, a program that is not recorded, as the trace is
 * another process's. */
void recorder_leave_out(void);

/* What recorder_enter gives, if it is of this very process rather than of one that we share memory
 * with. */
struct session *recorder_enter_own(void);

/* Ends the recording for a reason, which stands in the trace, and on standard error. */
void recorder_yield(struct session *s, const char *why);

#endif
