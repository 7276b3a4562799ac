/* ocaml.c: records the heap of an unmodified OCaml program.
 *
 * The runtime can sample its heap (Memprof); we are its tracker. We start Memprof from within the
 * runtime's start-up, when it reads the link /proc/self/exe through our readlink
 * (record/process.c). At that moment its heap is ready, there is one thread, and no OCaml code of
 * the program has run.
 *
 * The tracker, its closures and the metadata of blocks are static data in the format of OCaml
 * values. Their color tells collectors to leave them alone. The callbacks below run in the middle
 * of OCaml code. They do not allocate in OCaml's heap, raise, or release the runtime's lock. In
 * OCaml 5, callbacks of several domains run at once.
 *
 * Why not otherwise. Samples of malloc show that the heap grows, but never which OCaml function
 * allocates. A sampler of our own would have to be told of allocations by compiled code, which
 * tells only Memprof. The library memtrace (bindings/ocaml) does the same from within a program
 * that was built with it.
 *
 * What must hold. The program's own use of Gc.Memprof takes precedence over ours (ocaml_conflict.h,
 * ocaml_yield.h). Only runtimes with a known layout are touched (ocaml_runtime.h). The cost of a
 * stack depends only on its difference to the last one (ocaml_trail.h). */
#include "runtimes/ocaml/ocaml.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hot.h"
#include "base/inline.h"
#include "platform/loader.h"
#include "record/recorder.h"
#include "record/runtime_events.h"
#include "runtimes/ocaml/ocaml_runtime.h"
#include "runtimes/ocaml/ocaml_trail.h"
#include "runtimes/ocaml/ocaml_yield.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* ---- OCaml values ------------------------------------------------------------------------ */

#define VALUE_OF_LONG(n) ((ocaml_value)((uint64_t)(n) << 1 | 1))
#define LONG_OF_VALUE(v) ((v) >> 1)
#define VALUE_NONE       VALUE_OF_LONG(0)

enum { COLOUR_STATIC = 3, TAG_CLOSURE = 247, TAG_DOUBLE = 253 };
#define HEADER(words, tag) ((uint64_t)(words) << 10 | COLOUR_STATIC << 8 | (tag))

static uint64_t block_words(const ocaml_value *block) {
    return (uint64_t)block[-1] >> 10;
}

/* Returns `Some metadata`. One block per thread is enough, as the runtime reads it at once. */
static ocaml_value some(ocaml_value metadata) {
    static __thread struct {
        uint64_t header;
        ocaml_value field;
    } block = {.header = HEADER(1, 0)};
    block.field = metadata;
    return (ocaml_value)&block.field;
}

/* ---- the tracker ------------------------------------------------------------------------- */

static ocaml_runtime ocaml; /* set by ocaml_find */

/* The runtime's record of an allocation. */
struct sample {
    ocaml_value n_samples, size; /* integers; size in words, header excluded */
    ocaml_value source;          /* integer; in 4.11, only normal or marshalled */
    const ocaml_value *stack;
};
enum { SOURCE_NORMAL, SOURCE_MARSHALLED, SOURCE_CUSTOM };

static ALWAYS_INLINE ocaml_value ocaml_alloc(const struct sample *sample, memtrace_source heap) {
    struct runtime_place at = runtime_enter();
    uint64_t block, samples = (uint64_t)LONG_OF_VALUE(sample->n_samples);
    if (!runtime_takes(at, samples))
        return VALUE_NONE;
    if (LONG_OF_VALUE(sample->source) == SOURCE_CUSTOM)
        heap = MEMTRACE_EXTERNAL;
    struct runtime_stack stack =
        ocaml_trail_take(at.domain->runtime, &ocaml, sample->stack, block_words(sample->stack));
    bool is_followed =
        runtime_alloc(at, heap, (uint64_t)LONG_OF_VALUE(sample->size), samples, &stack, &block);
    return is_followed ? some(VALUE_OF_LONG(block)) : VALUE_NONE;
}

static ALWAYS_INLINE void ocaml_changed(ocaml_value metadata, runtime_change *change) {
    runtime_changed((uint64_t)LONG_OF_VALUE(metadata), change);
}

#define DECLARE_CALLBACK(name)                                                                     \
    HIDDEN ocaml_value ocaml_on_##name(ocaml_value argument);                                      \
    HIDDEN void ocaml_stub_##name(void); /* in OCaml's calling convention */
OCAML_CALLBACKS(DECLARE_CALLBACK)

ocaml_value ocaml_on_alloc_minor(ocaml_value argument) {
    return ocaml_alloc((const struct sample *)argument, MEMTRACE_MINOR);
}

ocaml_value ocaml_on_alloc_major(ocaml_value argument) {
    return ocaml_alloc((const struct sample *)argument, MEMTRACE_MAJOR);
}

ocaml_value ocaml_on_promote(ocaml_value argument) {
    ocaml_changed(argument, memtrace_stream_promote);
    return some(argument);
}

ocaml_value ocaml_on_dealloc_minor(ocaml_value argument) {
    ocaml_changed(argument, memtrace_stream_collect);
    return OCAML_UNIT;
}

ocaml_value ocaml_on_dealloc_major(ocaml_value argument) {
    ocaml_changed(argument, memtrace_stream_collect);
    return OCAML_UNIT;
}

/* ---- the start --------------------------------------------------------------------------- */

/* Called by the stubs. */
extern void (*ocaml_c_call)(void) HIDDEN;
void (*ocaml_c_call)(void);

/* A closure of one argument. `info` is its arity, and the start of its environment, which is
 * empty. */
struct closure {
    uint64_t header;
    void (*code)(void);
    uint64_t info;
};
#define CLOSURE_INFO (UINT64_C(1) << 56 | 2 << 1 | 1)
#define CLOSURE(name)                                                                              \
    static struct closure closure_##name = {                                                       \
        .header = HEADER(2, TAG_CLOSURE), .code = ocaml_stub_##name, .info = CLOSURE_INFO};
OCAML_CALLBACKS(CLOSURE)

static struct {
    uint64_t header;
    void *callbacks[5];
} tracker = {.header = HEADER(5, 0),
             .callbacks = {
#define CALLBACK(name) &closure_##name.code,
                 OCAML_CALLBACKS(CALLBACK)}};

static struct {
    uint64_t header;
    double value;
} rate = {.header = HEADER(1, TAG_DOUBLE)};

static void ocaml_start_memprof(const ocaml_runtime *runtime, uint64_t depth) {
    runtime->memprof_start((ocaml_value)&rate.value, VALUE_OF_LONG(depth),
                           (ocaml_value)tracker.callbacks);
}

/* OCaml 4's random number generator starts in the same state in each process, so equal runs would
 * have the same samples. Therefore some numbers are skipped: each start of Memprof drops a batch of
 * 64, in 0.2 us. */
static void ocaml_drop_numbers(const ocaml_runtime *runtime, uint64_t seed) {
    enum { MOST = 1024 };
    for (uint64_t n = hash_u64(seed) % MOST; n > 0; n--) {
        ocaml_start_memprof(runtime, 0);
        runtime->memprof_stop(OCAML_UNIT);
    }
}

/* Starts Memprof, once for the process and its forked children. The runtime is asked for one frame
 * more than the depth, which shows whether a stack was cut. */
static void ocaml_start(const ocaml_runtime *runtime) {
    static _Atomic bool begun;
    struct session *s = recorder_enter();
    if (!s || atomic_exchange(&begun, true))
        return;
    ocaml_c_call = runtime->c_call;
    rate.value = s->rate;
    if (s->rate < 1)
        ocaml_drop_numbers(runtime, s->runtime_seed);
    ocaml_start_memprof(runtime, s->runtime_depth + 1);
    if (runtime->may_clash && !ocaml_yield_prepare(runtime))
        runtime->memprof_stop(OCAML_UNIT);
}

/* The runtime's start-up is the only caller that reads this link from that function. */
static void ocaml_notice_link(const char *path, const void *caller) {
    Dl_info info;
    if (strcmp(path, "/proc/self/exe") == 0 && loader_address(caller, &info) && info.dli_sname &&
        strcmp(info.dli_sname, "caml_executable_name") == 0)
        ocaml_start(&ocaml);
}

/* ---- for the recorder -------------------------------------------------------------------- */

HOT_CODE static enum runtime_kind ocaml_find(const char **why) {
    return ocaml_runtime_find(&ocaml, why);
}

/* Reads the environment, as the runtime has not read it yet. */
static const char *ocaml_parameters(void) {
    const char *set = secure_getenv("OCAMLRUNPARAM");
    return set ? set : secure_getenv("CAMLRUNPARAM");
}

static size_t ocaml_locate(code_table *codes, uintptr_t slot, memtrace_location *locations,
                           size_t max) {
    return ocaml_runtime_locate(&ocaml, codes, slot, locations, max);
}

static void ocaml_domain_init(void *state, size_t depth) {
    ocaml_trail_init(state, depth);
}

static void ocaml_domain_forget(void *state) {
    ocaml_trail_forget(state);
}

const struct runtime ocaml_runtime_row = {
    .find = ocaml_find,
    .parameters = ocaml_parameters,
    .link_read = ocaml_notice_link,
    .domain_size = ocaml_trail_size,
    .domain_init = ocaml_domain_init,
    .domain_forget = ocaml_domain_forget,
    .locate = ocaml_locate,
};
