/* ocaml_yield.c: the primitives start and stop are patched with jumps to our functions. The first
 * call of either one restores the code, ends our sampling, and continues with the function that was
 * called. */
#include "runtimes/ocaml/ocaml_yield.h"

#include <stdatomic.h>

#include "platform/patch.h"
#include "record/recorder.h"
#include "runtimes/ocaml/ocaml_runtime.h"

static struct {
    const ocaml_runtime *runtime;
    patch start, stop;
    _Atomic bool is_over;      /* our sampling has ended */
    ocaml_value rate, tracker; /* registered as roots during the stop, as the heap may move */
} yield;

static void yield_tell(void) {
    recorder_lose_runtime(
        "the program samples its OCaml heap itself",
        "it uses Gc.Memprof itself, so its OCaml heap is recorded only up to here");
}

/* Restores both functions, since a call of either one ends our sampling. */
static bool yield_give_back(void) {
    bool has_start = patch_take_back(&yield.start), has_stop = patch_take_back(&yield.stop);
    return has_start && has_stop;
}

/* Stopping may run callbacks for the last samples, and these may allocate in OCaml's heap. */
static void yield_stop(void) {
    const ocaml_runtime *r = yield.runtime;
    r->root_add(&yield.rate);
    r->root_add(&yield.tracker);
    r->memprof_stop(OCAML_UNIT);
    r->root_remove(&yield.rate);
    r->root_remove(&yield.tracker);
}

/* Replace the primitives of Gc.Memprof.start and stop, whose callers hold the runtime's lock. The
 * program has not started Memprof before, so nothing of its own has to be stopped. */
static ocaml_value yield_on_start(ocaml_value rate, ocaml_value depth, ocaml_value tracker) {
    if (!yield_give_back())
        return OCAML_UNIT; /* our sampling goes on: the lesser evil */
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
