/* lua_phases.c: see lua_phases.h. A state may move from thread to thread, so the last reported
 * phase is kept per state, and the last phase that was read is kept per thread. */
#include "runtimes/lua/lua_phases.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/hot.h"
#include "platform/clock.h"
#include "record/recorder.h"
#include "runtimes/peek.h"

#define HIDDEN __attribute__((visibility("hidden")))

enum { STATES_MAX = 64, NONE_SIZE = 256 };

const uint8_t lua_phases_none[NONE_SIZE];

/* The phase's offset in a global_State, in bytes. lua_stubs.S also reads it. */
extern uintptr_t lua_phases_at HIDDEN;
uintptr_t lua_phases_at;

static struct state {
    _Atomic uintptr_t global; /* 0: free */
    _Atomic uint8_t told;     /* last reported phase, an enum lua_phase */
} states[STATES_MAX];

static const struct lua_layout *layout; /* NULL: no state was met yet */
static _Atomic bool is_unfit;           /* a state had an unknown layout */

/* ---- marks ----------------------------------------------------------------------------------- */

/* Limits the marks: a program that collects a thousand times a second would have nothing else. */
static bool is_due(void) {
    enum { SELDOM = 100000 /* us */ };
    static _Atomic uint64_t marked;
    const uint64_t now = clock_monotonic_us();
    uint64_t before = atomic_load(&marked);
    return now - before >= SELDOM && atomic_compare_exchange_strong(&marked, &before, now);
}

enum lua_phase lua_phases_tell(enum lua_phase told, enum lua_phase phase) {
    static const char *const names[] = {[LUA_RESTS] = "GC ends",
                                        [LUA_MARKS] = "GC marks",
                                        [LUA_SWEEPS] = "GC sweeps",
                                        [LUA_FINALIZES] = "GC finalizes"};
    if (phase == told || phase == LUA_UNTOLD || (told == LUA_UNTOLD && phase != LUA_RESTS))
        return told;
    if (told == LUA_RESTS && !is_due())
        return LUA_UNTOLD;
    if (told != LUA_UNTOLD)
        recorder_mark(names[phase]);
    return phase;
}

/* ---- states of 5.1 to 5.4 -------------------------------------------------------------------- */

static enum lua_phase phase_of(const struct lua_layout *l, uintptr_t global) {
    const uint8_t *const at = (const uint8_t *)(global + l->global_phase);
    /* A collection of the young generation ends in the phase in which a full one would begin to
     * mark. */
    if (l->generational_kind && at[0] == l->generational_rest && at[1] == l->generational_kind)
        return LUA_RESTS;
    return at[0] < l->n_phases ? (enum lua_phase)l->phases[at[0]] : LUA_UNTOLD;
}

/* The byte before the phase is the current one of two whites. */
static bool fits(const struct lua_layout *l, uintptr_t global) {
    enum { ALIGNMENT = sizeof global };
    uint8_t bytes[2];
    return global % ALIGNMENT == 0 && peek_bytes(global + l->global_phase - 1, bytes, 2) &&
           (bytes[0] == l->whites[0] || bytes[0] == l->whites[1]) && bytes[1] < l->n_phases;
}

static struct state *find(uintptr_t global) {
    size_t i = 0;
    while (i < STATES_MAX && atomic_load(&states[i].global) != global)
        i++;
    return i < STATES_MAX ? &states[i] : NULL;
}

/* Returns NULL if there are too many states. If a state is collecting when it is first met, that
 * collection is not reported. */
static struct state *add(const struct lua_layout *l, uintptr_t global) {
    for (struct state *s = states; s < states + STATES_MAX; s++) {
        uintptr_t none = 0;
        if (!atomic_compare_exchange_strong(&s->global, &none, global))
            continue;
        atomic_store(&s->told, phase_of(l, global) == LUA_RESTS ? LUA_RESTS : LUA_UNTOLD);
        return s;
    }
    return NULL;
}

static bool is_known(const struct lua_layout *l, uintptr_t global) {
    if (layout)
        return true;
    if (atomic_load(&is_unfit) || !fits(l, global)) {
        if (!atomic_exchange(&is_unfit, true))
            recorder_tell_user(
                "its Lua's collector has an unknown layout: there are no marks where it collects");
        return false;
    }
    lua_phases_at = l->global_phase;
    layout = l;
    return true;
}

__attribute__((noinline)) void
lua_phases_enter_other(struct lua_calls *calls, const struct lua_layout *l, uintptr_t global) {
    const int error = errno;
    calls->global = (uintptr_t)lua_phases_none;
    if (is_known(l, global) && (find(global) || add(l, global))) {
        calls->phase = *(const uint8_t *)(global + l->global_phase);
        calls->global = global;
    }
    errno = error;
}

void lua_phases_close(struct lua_calls *calls) {
    struct state *const s =
        calls->global == (uintptr_t)lua_phases_none ? NULL : find(calls->global);
    calls->global = (uintptr_t)lua_phases_none;
    if (s)
        atomic_store(&s->global, 0);
}

/* The phase byte differs from the one that this thread read last. */
HIDDEN void lua_on_phase(struct lua_calls *calls);
void lua_on_phase(struct lua_calls *calls) {
    const int error = errno;
    calls->phase = *(const uint8_t *)(calls->global + lua_phases_at);
    struct state *const s = layout && lua_calls_are_noted() ? find(calls->global) : NULL;
    if (s && recorder_has_room((uintptr_t)__builtin_frame_address(0)))
        atomic_store(&s->told, (uint8_t)lua_phases_tell((enum lua_phase)atomic_load(&s->told),
                                                        phase_of(layout, calls->global)));
    errno = error;
}
