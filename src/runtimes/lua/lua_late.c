/* lua_late.c: see lua_late.h. A call into Lua that began before the recording has a frame on the
 * native stack. The frames inside it contain its lua_State many times, because that is the first
 * argument of nearly all functions of Lua. So the word that is found most often, and that looks
 * like a lua_State, is taken for it, provided that its list of calls has enough calls of the
 * evaluator for those on the native stack. From then on the call counts as noted. */
#include "runtimes/lua/lua_late.h"

#include <string.h>

#include "platform/pages.h"
#include "platform/unwind_trail.h"
#include "runtimes/lua/lua_frames.h"
#include "runtimes/peek.h"

enum { WORD = sizeof(uintptr_t) };

/* ---- which lua_State is it? ------------------------------------------------------------------ */

/* A word found on the stack, and how often. */
enum { CANDIDATES_MAX = 64 };
struct candidate {
    uintptr_t word;
    unsigned times;
    bool is_state;
};

struct search {
    const lua_runtime *r;
    const unwind_trail *trail;
    const struct unwind_point *points;
    size_t n_candidates;
    struct candidate candidates[CANDIDATES_MAX];
};

/* Returns whether a lua_State points into this thread's native stack. While a thread is in a
 * lua_State, that contains a pointer to where errors are caught. A lua_State of another thread, or
 * one that is gone, has no such pointer. */
static bool is_on_stack(const struct search *s, uintptr_t state) {
    enum { CATCHES = 184 }; /* first bytes of a lua_State, with that pointer in each version */
    uintptr_t words[CATCHES / WORD];
    bool is = false;
    if (!peek_bytes(state, words, sizeof words))
        return false;
    for (size_t i = 0; i < sizeof words / WORD; i++)
        is |= unwind_trail_is_in_stack(s->trail, words[i]);
    return is;
}

static bool is_state(const struct search *s, uintptr_t word) {
    const struct lua_layout *const l = s->r->layout;
    uintptr_t global, allocator;
    return peek_bytes(word + l->state_global, &global, WORD) && global % WORD == 0 &&
           peek_bytes(global + l->global_allocator, &allocator, WORD) && allocator &&
           is_on_stack(s, word) && lua_frames_fit(s->r, word, LUA_FRAMES_FEW);
}

static void count_candidate(struct search *s, uintptr_t word) {
    size_t i = 0;
    while (i < s->n_candidates && s->candidates[i].word != word)
        i++;
    if (i == CANDIDATES_MAX)
        return;
    if (i == s->n_candidates)
        s->candidates[s->n_candidates++] =
            (struct candidate){.word = word, .is_state = is_state(s, word)};
    s->candidates[i].times++;
}

/* Counts the words in Lua's own frames among the frames [first, end). */
static void count_candidates(struct search *s, size_t first, size_t end) {
    const uintptr_t low = s->points[end - 1].sp, high = s->points[first - 1].sp;
    for (size_t i = first; i < end; i++) {
        if (!lua_range_has(&s->r->code, s->points[i].key - 1))
            continue;
        for (uintptr_t at = s->points[i].sp; at < s->points[i - 1].sp; at += WORD) {
            const uintptr_t word = *(const uintptr_t *)at;
            if (word % WORD == 0 && word >= PEEK_MOST && !(word >= low && word < high))
                count_candidate(s, word);
        }
    }
}

static uintptr_t most_frequent(const struct search *s, uintptr_t but) {
    const struct candidate *most = NULL;
    for (size_t i = 0; i < s->n_candidates; i++)
        if (s->candidates[i].is_state && s->candidates[i].word != but &&
            (!most || s->candidates[i].times > most->times))
            most = &s->candidates[i];
    return most ? most->word : 0;
}

/* ---- which calls are active? ----------------------------------------------------------------- */

struct completing {
    struct search search;
    size_t n;
    struct lua_call calls[LUA_CALLS_MAX];
};

/* Returns the noted lua_State of the call that returns to this point; 0: none. */
static uintptr_t noted_at(const struct lua_calls *c, const struct unwind_point *point) {
    for (size_t i = 0; i < c->n; i++)
        if (c->calls[i].sp == point->sp && c->calls[i].return_address == point->key)
            return c->calls[i].state;
    return 0;
}

/* Returns the frame of the next call further in, or `n`. */
static size_t next_call(const struct unwind_point *points, size_t i, size_t n, bool *is_resume) {
    while (i < n && !lua_calls_have(points[i].key, is_resume))
        i++;
    return i;
}

static size_t count_evaluators(const lua_runtime *r, const struct unwind_point *points,
                               size_t first, size_t end) {
    size_t n = 0;
    for (size_t i = first; i < end; i++)
        n += lua_range_has(&r->eval, points[i].key - 1) ||
             lua_range_has(&r->cold, points[i].key - 1);
    return n;
}

/* Returns whether a lua_State can have `evaluators` calls of the evaluator on the native stack. It
 * may have more, as calls of a coroutine that has yielded are no longer on the native stack. */
static bool may_run(const lua_runtime *r, uintptr_t state, size_t evaluators,
                    const struct runtime_splice *native) {
    enum { MANY = 1000 };
    return lua_frames_fit(r, state, MANY) && evaluators <= lua_frames_runs(r, state, native);
}

/* Returns NULL if out of memory. It is not allocated on the stack, which may be small. */
static struct completing *completing_of_thread(const lua_runtime *r,
                                               const struct runtime_splice *native) {
    struct completing *const c = pages_alloc(sizeof *c);
    if (c)
        c->search =
            (struct search){.r = r, .trail = native->trail, .points = native->trail->points};
    return c;
}

static bool find_calls(struct completing *to, const lua_runtime *r, const struct lua_calls *noted,
                       const struct runtime_splice *native) {
    const struct unwind_point *const points = native->trail->points;
    bool is_resume, next_is_resume;
    uintptr_t outer = 0;
    size_t at = next_call(points, 1, native->n, &is_resume);
    while (at < native->n && to->n < LUA_CALLS_MAX) {
        const size_t end = next_call(points, at + 1, native->n, &next_is_resume);
        uintptr_t state = noted_at(noted, &points[at - 1]);
        to->search.n_candidates = 0;
        if (!state && end > at + 1) {
            count_candidates(&to->search, at + 1, end);
            state = most_frequent(&to->search, is_resume ? outer : 0);
        }
        if (!state || !may_run(r, state, count_evaluators(r, points, at + 1, end), native))
            return false;
        to->calls[to->n++] = (struct lua_call){points[at - 1].sp, points[at - 1].key, state};
        outer = state;
        at = end;
        is_resume = next_is_resume;
    }
    return true;
}

static void complete(const lua_runtime *r, struct lua_calls *calls,
                     const struct runtime_splice *native) {
    enum { TRIES = 100 };
    struct completing *const to = completing_of_thread(r, native);
    const bool has_found = to && find_calls(to, r, calls, native);
    const bool sees_all = !(native->flags & (UNWIND_CUT | UNWIND_FAILED));
    if (has_found) {
        memcpy(calls->calls, to->calls, to->n * sizeof *to->calls);
        calls->n = to->n;
    }
    calls->is_whole = (has_found && sees_all) || ++calls->tries >= TRIES;
    pages_free(to, sizeof *to);
}

const struct lua_calls *lua_late_calls(const lua_runtime *r, const struct runtime_splice *native) {
    if (!lua_calls_are_noted() || !native->has_places || native->flags & UNWIND_SIGNAL)
        return NULL;
    struct lua_calls *const calls = lua_calls_make_own();
    if (calls && !calls->is_whole)
        complete(r, calls, native);
    return calls;
}

/* ---- allocators of existing lua_States
 * --------------------------------------------------------- */

/* Lua may call either allocator at any time. The wrapper stays when the recording ends, because
 * other threads may then be closing the lua_State; all that the wrapper does is to note calls. */
void lua_late_adopt(const lua_runtime *r, uintptr_t state) {
    const uintptr_t global = *(const uintptr_t *)(state + r->layout->state_global);
    lua_allocator **const at = (lua_allocator **)(global + r->layout->global_allocator);
    lua_allocator *const front = lua_calls_wrap(*at);
    if (front != *at)
        __atomic_store_n(at, front, __ATOMIC_RELAXED);
}
