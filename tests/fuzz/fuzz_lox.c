/* fuzz_lox.c: libFuzzer's entry: any bytes, compiled and run as a Lox program, in three ways:
 * plain; recorded, in a trace that nobody reads and by a sampling observer; and for a short while
 * with both generations collected and the whole heap checked at each allocation, and an observer of
 * all that looks at the stack each time. */
#include <stdlib.h>

#include "lox.h"
#include "vm.h"

enum { MAX_SITES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void swallow(void *context, const char *text, size_t size) {
    (void)context, (void)text, (void)size;
}

/* The outermost sites of the stack that was seen last. */
typedef struct stack {
    uint64_t sites[MAX_SITES];
    size_t n;
} stack;

/* What lox_stack_kept promises to be unchanged is. */
static void check_stack(void *context, const lox_allocation *a) {
    stack *last = context, now = {.n = lox_stack_depth(a->vm)};
    size_t kept = lox_stack_kept(a->vm);
    now.n = now.n < MAX_SITES ? now.n : MAX_SITES;
    kept = kept < MAX_SITES ? kept : MAX_SITES;
    lox_stack_sites(a->vm, 0, now.sites, now.n);
    if (kept > last->n || kept > now.n || memcmp(last->sites, now.sites, kept * sizeof *now.sites))
        abort();
    lox_frame frame;
    if (lox_stack(a->vm, &frame, 1) && (frame.site_key != a->site_key || !frame.file))
        abort();
    *last = now;
}

static void ignore(void *context, const lox_allocation *a) {
    (void)context, (void)a;
}

static const lox_options quiet = {
    .max_heap = 4 << 20, .nursery_words = 2048, .write = swallow, .write_error = swallow};

static void run(lox_vm *vm, uint64_t fuel, const char *text, size_t size, bool typed) {
    vm->fuel = fuel;
    lox_position at = {.line = 1};
    if (typed)
        lox_run_typed(vm, "fuzz", text, size, &at);
    else
        lox_run_text(vm, "fuzz", text, size);
}

static void run_plain(const char *text, size_t size) {
    lox_vm *vm = lox_create(&quiet);
    run(vm, 20000, text, size, false);
    lox_destroy(vm);
}

static void run_recorded(const char *text, size_t size) {
    lox_vm *vm = lox_create(&quiet);
    lox_trace_start(vm, "/dev/null", &(lox_trace_options){.rate = 0.1, .seed = size, .depth = 64});
    lox_observe(vm, &(lox_observer){.allocated = ignore, .rate = 0.1, .seed = size});
    run(vm, 2000, text, size, false);
    lox_destroy(vm);
}

/* Twice, as at the prompt: the second finds the globals of the first. */
static void run_stressed(const char *text, size_t size) {
    lox_options options = quiet;
    options.gc_stress = 1;
    options.gc_verify = options.gc_count = options.watch_returns = true;
    lox_vm *vm = lox_create(&options);
    stack last = {0};
    lox_observe(vm, &(lox_observer){.context = &last, .allocated = check_stack});
    run(vm, 500, text, size, true);
    run(vm, 200, text, size, true);
    lox_counters counters;
    lox_get_counters(vm, &counters);
    lox_destroy(vm);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    run_plain((const char *)bytes, size);
    run_recorded((const char *)bytes, size);
    run_stressed((const char *)bytes, size);
    return 0;
}
