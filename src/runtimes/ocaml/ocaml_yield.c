/* ocaml_yield.c: both primitives, start and stop, are patched by a jump to functions of ours; the
 * first call of either puts the code back, ends our sampling and goes on to what was called. */
#include "runtimes/ocaml/ocaml_yield.h"

#include <stdatomic.h>

#include "platform/patch.h"
#include "record/recorder.h"
#include "runtimes/ocaml/ocaml_runtime.h"

static struct {
    const ocaml_runtime *runtime;
    patch start, stop;
    _Atomic bool is_over;      /* what is sampled since is nothing of ours */
    ocaml_value rate, tracker; /* while the runtime knows of them and may move what they are */
} yield;

static void yield_tell(void) {
    recorder_lose_runtime(
        "the program samples its OCaml heap itself",
        "it uses Gc.Memprof itself, so its OCaml heap is recorded only up to here");
}

/* Both functions, since either one ends our sampling. */
static bool yield_give_back(void) {
    bool has_start = patch_take_back(&yield.start), has_stop = patch_take_back(&yield.stop);
    return has_start && has_stop;
}

/* What stopping has to say of the last samples may allocate in OCaml's heap. */
static void yield_stop(void) {
    const ocaml_runtime *r = yield.runtime;
    r->root_add(&yield.rate);
    r->root_add(&yield.tracker);
    r->memprof_stop(OCAML_UNIT);
    r->root_remove(&yield.rate);
    r->root_remove(&yield.tracker);
}

/* In place of the primitives behind Gc.Memprof.start and stop, whose callers hold the runtime's
 * lock. The program has started nothing before, so there is nothing of its own to be stopped. */
static ocaml_value yield_on_start(ocaml_value rate, ocaml_value depth, ocaml_value tracker) {
    if (!yield_give_back())
        return OCAML_UNIT; /* Memprof remains ours: the lesser evil */
    if (!atomic_exchange(&yield.is_over, true)) {
        yield_tell();
        yield.rate = rate;
        yield.tracker = tracker;
        yield_stop();
        rate = yield.rate;
        tracker = yield.tracker;
    }
    return yield.runtime->memprof_start(rate, depth, tracker);
}

static ocaml_value yield_on_stop(ocaml_value unit) {
    if (!yield_give_back())
        return OCAML_UNIT;
    if (!atomic_exchange(&yield.is_over, true))
        yield_tell();
    return yield.runtime->memprof_stop(unit);
}

bool ocaml_yield_prepare(const ocaml_runtime *r) {
    yield.runtime = r;
    if (!patch_put(&yield.start, (uintptr_t)r->memprof_start, (uintptr_t)yield_on_start))
        return false;
    if (patch_put(&yield.stop, (uintptr_t)r->memprof_stop, (uintptr_t)yield_on_stop))
        return true;
    patch_take_back(&yield.start);
    return false;
}
