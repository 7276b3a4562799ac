/* ocaml.c: records the heap of an OCaml program that knows nothing of it.
 *
 * The runtime samples its heap itself (Memprof); we are its tracker. It is started from within the
 * runtime's start-up: there the runtime reads the link /proc/self/exe, and finds our readlink. At
 * that moment its heap is ready, there is one thread, and nothing of the program has run.
 *
 * What the runtime is handed, the tracker, its closures and the metadata of blocks, is static data
 * that looks like OCaml values: a collector leaves blocks of this colour alone. The callbacks below
 * run in the middle of OCaml code. They do not allocate in its heap, raise, or give up the
 * runtime's lock; in OCaml 5, those of several domains run at once. */
#include "record/ocaml.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "platform/cpu.h"
#include "record/calls.h"
#include "record/ocaml_runtime.h"
#include "record/ocaml_yield.h"
#include "record/recorder.h"

#define EXPORT __attribute__((visibility("default"))) CPU_ALIGN_STACK
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

/* The metadata of a block: its id in the trace, and in which session that was given to it. The
 * child of a fork has the blocks of its parent, whose ids mean nothing in its own trace. */
enum { SESSION_BITS = 14 };
#define SESSION_MASK ((UINT64_C(1) << SESSION_BITS) - 1)

static ocaml_value metadata_of(const struct session *s, uint64_t id) {
    return VALUE_OF_LONG(id << SESSION_BITS | (s->number & SESSION_MASK));
}

/* `Some metadata`; the runtime takes it apart at once. */
static ocaml_value some(ocaml_value metadata) {
    static __thread struct {
        uint64_t header;
        ocaml_value field;
    } block = {.header = HEADER(1, 0)};
    block.field = metadata;
    return (ocaml_value)&block.field;
}

/* ---- the tracker ------------------------------------------------------------------------- */

/* A signal handler that allocates must not wait for the locks that this thread may hold. */
static void ocaml_set_busy(bool busy) {
    atomic_signal_fence(memory_order_seq_cst);
    self.sampler.busy = busy;
    atomic_signal_fence(memory_order_seq_cst);
}

/* Where the event of a callback goes. */
struct place {
    struct session *session;
    struct domain *domain; /* the calling thread's, entered; NULL: nowhere */
    bool clock_was_read;   /* and so it is time to look what is old */
};

/* The functions from here on, up to the callbacks, are what an event costs: each is one with its
 * callers, down to the trace writer. */
#define HOT static inline __attribute__((always_inline))

/* If it gives a domain, ocaml_leave has to follow. */
HOT struct place ocaml_enter(void) {
    struct session *s = recorder_enter_again();
    if (__builtin_expect(!s || self.sampler.busy, 0))
        return (struct place){0};
    ocaml_set_busy(true);
    struct domain *d = self.domain;
    if (__builtin_expect(!d, 0) && !(d = session_domain(s))) {
        ocaml_set_busy(false);
        return (struct place){.session = s};
    }
    uint64_t cycles = cpu_cycles();
    bool is_old = session_clock_is_old(d, cycles, CPU_CYCLES_SHORTEST);
    domain_enter(d);
    if (is_old)
        session_read_clock(s, d, cycles);
    return (struct place){.session = s, .domain = d, .clock_was_read = is_old};
}

static __attribute__((noinline)) void ocaml_note(const struct place *at, memtrace_status status) {
    if (status != MEMTRACE_OK) {
        ocaml_trail_forget(at->domain->ocaml);
        session_note(at->session, status);
    }
    if (at->clock_was_read)
        session_sweep(at->session, at->domain->now);
}

HOT void ocaml_leave(struct place at, memtrace_status status) {
    if (__builtin_expect(at.clock_was_read || status != MEMTRACE_OK, 0)) {
        struct place noted = at; /* so that the other is in registers */
        ocaml_note(&noted, status);
    }
    domain_leave(at.domain);
    ocaml_set_busy(false);
}

/* The runtime's record of an allocation. */
struct sample {
    ocaml_value n_samples, size; /* integers; size in words, header excluded */
    ocaml_value source;          /* integer; 4.11 has none but the first two */
    const ocaml_value *stack;
};
enum { SOURCE_NORMAL, SOURCE_MARSHALLED, SOURCE_CUSTOM };

/* How many frames the stack surely has in common with the last one in the trace. */
HOT size_t frames_in_common(const struct session *s, const struct ocaml_stack *stack) {
    bool is_alone = !s->dense && !s->engine;
    return is_alone ? stack->common : 0; /* else malloc's stacks may have come between */
}

HOT ocaml_value ocaml_alloc(const struct sample *sample, memtrace_source heap) {
    struct place at = ocaml_enter();
    uint64_t id, samples = (uint64_t)LONG_OF_VALUE(sample->n_samples);
    if (!at.domain) {
        if (at.session)
            atomic_fetch_add_explicit(&at.session->lost_domain, samples, memory_order_relaxed);
        return VALUE_NONE;
    }
    if (recorder_is_stopped()) {
        ocaml_leave(at, MEMTRACE_OK);
        return VALUE_NONE;
    }
    if (LONG_OF_VALUE(sample->source) == SOURCE_CUSTOM)
        heap = MEMTRACE_EXTERNAL;
    struct domain *d = at.domain;
    domain_forget_stack(d); /* of malloc's stacks, which this one comes between */
    struct ocaml_stack stack =
        ocaml_trail_take(d->ocaml, at.session->ocaml, sample->stack, block_words(sample->stack));
    memtrace_status status = memtrace_stream_alloc(
        d->stream, session_now_nearly(at.session, d), heap, (uint64_t)LONG_OF_VALUE(sample->size),
        samples, stack.codes, stack.n, frames_in_common(at.session, &stack), &id);
    ocaml_leave(at, status);
    return status == MEMTRACE_OK ? some(metadata_of(at.session, id)) : VALUE_NONE;
}

typedef memtrace_status ocaml_change(memtrace_stream *stream, uint64_t time, uint64_t id);

HOT void ocaml_changed(ocaml_value metadata, ocaml_change *change) {
    struct place at = ocaml_enter();
    uint64_t number = (uint64_t)LONG_OF_VALUE(metadata);
    memtrace_status status = MEMTRACE_OK;
    if (!at.domain) {
        if (at.session)
            atomic_fetch_add_explicit(&at.session->lost_event, 1, memory_order_relaxed);
        return;
    }
    if ((number & SESSION_MASK) == (at.session->number & SESSION_MASK))
        status = change(at.domain->stream, session_now_nearly(at.session, at.domain),
                        number >> SESSION_BITS);
    ocaml_leave(at, status);
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

/* For the stubs. */
extern void (*ocaml_c_call)(void) HIDDEN;
void (*ocaml_c_call)(void);

/* A closure of one argument: arity, and where its environment, which is empty, would begin. */
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

/* OCaml 4's generator of random numbers begins in the same state in each process, and equal runs
 * would have the same samples. Each start drops a batch of 64 numbers, which takes 0.2 us. */
static void ocaml_drop_numbers(const ocaml_runtime *runtime, uint64_t seed) {
    enum { MOST = 1024 };
    for (uint64_t n = hash_u64(seed) % MOST; n > 0; n--) {
        ocaml_start_memprof(runtime, 0);
        runtime->memprof_stop(OCAML_UNIT);
    }
}

/* Once in the life of the process and of its forked children. One frame more than the depth tells
 * whether a stack was cut. */
static void ocaml_start(const ocaml_runtime *runtime) {
    static _Atomic bool begun;
    struct session *s = recorder_enter();
    if (!s || atomic_exchange(&begun, true))
        return;
    ocaml_c_call = runtime->c_call;
    rate.value = s->ocaml_rate;
    if (s->ocaml_rate < 1)
        ocaml_drop_numbers(runtime, s->ocaml_seed);
    ocaml_start_memprof(runtime, s->ocaml_depth + 1);
    if (runtime->may_clash && !ocaml_yield_prepare(runtime))
        runtime->memprof_stop(OCAML_UNIT);
}

/* Is this the runtime's start-up? Only it asks for this link from that function. */
static void ocaml_notice_link(const char *path, const void *caller) {
    const ocaml_runtime *runtime = recorder_ocaml();
    Dl_info info;
    if (runtime && strcmp(path, "/proc/self/exe") == 0 && dladdr(caller, &info) && info.dli_sname &&
        strcmp(info.dli_sname, "caml_executable_name") == 0)
        ocaml_start(runtime);
}

#define DEFINE_LINK(result, name, parameters, arguments)                                           \
    EXPORT result name parameters;                                                                 \
    result name parameters {                                                                       \
        ocaml_notice_link(path, __builtin_return_address(0));                                      \
        return next.name arguments;                                                                \
    }
CALLS_LINK(DEFINE_LINK)
