/* span.c: finds the variables and reads the records. More than one library may publish spans; the
 * first valid record is used. */
#include "record/span.h"

#include <string.h>
#include <unistd.h>

#include "platform/thread_local.h"
#include "record/lock.h"

#define VARIABLE "otel_thread_ctx_v1"

/* The published layout, without gaps. More fields follow, which are not used here. */
struct span_record {
    memtrace_span span;
    uint8_t valid; /* 1; any other value: the record is invalid */
};
_Static_assert(sizeof(struct span_record) == 25, "there are no gaps");
enum { SPAN_VALID = 1, SPAN_ALIGNED = 2 };

_Atomic uint32_t span_variables;
static _Atomic thread_local_place places[THREAD_LOCAL_MOST]; /* for readers */

static lock looking; /* guards `found`; held while looking */
static struct thread_local_found found;

static void publish(void) {
    for (size_t i = 0; i < found.n; i++)
        atomic_store_explicit(&places[i], found.places[i], memory_order_relaxed);
    atomic_store_explicit(&span_variables, (uint32_t)found.n, memory_order_release);
}

/* Valgrind reports the system call that tests whether a page is mapped, so nothing is read under
 * it. */
static bool is_under_valgrind(void) {
    static const char name[] = "LD_PRELOAD=";
    static _Atomic int known; /* -1: no */
    for (char **e = environ; !known && e && *e; e++)
        if (strncmp(*e, name, sizeof name - 1) == 0 && strstr(*e, "/vgpreload_"))
            known = 1;
    known = known ? known : -1;
    return known > 0;
}

void span_look(bool anew) {
    if (is_under_valgrind() || !(anew ? lock_acquire_patiently : lock_try)(&looking))
        return;
    if (anew)
        thread_local_find(VARIABLE, &found);
    else
        thread_local_find_more(VARIABLE, &found);
    publish();
    lock_release(&looking);
}

void span_after_fork(void) {
    looking = (lock){0};
}

/* Results are kept until the clock is read again. */
static struct pages_seen *seen_at(struct span_state *state, uint64_t now) {
    if (state->at != now) {
        pages_seen_forget(&state->seen);
        state->at = now;
    }
    return &state->seen;
}

void span_look_at_more_slow(struct span_state *state, uint64_t now) {
    if (!lock_try(&looking))
        return;
    state->glanced = now;
    const bool more = thread_local_is_more(&found);
    lock_release(&looking);
    if (more)
        span_look(false);
}

static bool read_record(thread_local_place place, struct pages_seen *seen, memtrace_span *span) {
    struct span_record record;
    const uintptr_t at = thread_local_pointer(place, seen);
    if (!at || at % SPAN_ALIGNED || !pages_seen_read(seen, at, &record, sizeof record) ||
        record.valid != SPAN_VALID)
        return false;
    *span = record.span;
    return true;
}

bool span_has_changed(struct span_state *state, uint64_t now, memtrace_span *span) {
    struct pages_seen *seen = seen_at(state, now);
    const uint32_t n = atomic_load_explicit(&span_variables, memory_order_acquire);
    *span = (memtrace_span){0};
    for (uint32_t i = 0; i < n; i++)
        if (read_record(atomic_load_explicit(&places[i], memory_order_relaxed), seen, span))
            break;
    return memcmp(span, &state->now, sizeof *span) != 0;
}
