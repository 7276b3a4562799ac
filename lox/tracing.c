/* tracing.c: passes what an observer hears to the tracer, in the tracer's terms. */
#include "tracing.h"

#include "observer.h"

static guest_extent extent(const lox_extent *e) {
    return (guest_extent){e->first_line, e->last_line, e->start, e->end};
}

static void describe(void *vm, uint64_t site, guest_place *place) {
    lox_frame f = lox_describe(vm, site);
    *place = (guest_place){.function = f.top_level ? NULL : f.function,
                           .class_name = f.class_name,
                           .file = f.file,
                           .line = f.line,
                           .call = f.call,
                           .expression = {f.line, f.line, f.start, f.end},
                           .statement = extent(&f.statement),
                           .body = extent(&f.body)};
}

static const char *builtin(void *vm) {
    return lox_stack_builtin(vm);
}

static size_t depth(void *vm, size_t *kept) {
    *kept = lox_stack_kept(vm);
    return lox_stack_depth(vm);
}

static void sites(void *vm, size_t first, uint64_t *keys, size_t n) {
    lox_stack_sites(vm, first, keys, n);
}

static void allocated(void *context, const lox_allocation *a) {
    if (a->internal)
        tracer_count_internal(context, a->site_key, a->type, a->class_name, a->bytes, a->samples);
    else
        tracer_count(context, a->site_key, a->type, a->class_name, a->bytes, a->samples);
}

tracer *tracing_start(lox_vm *vm, const memtracer_options *options, uint64_t seed) {
    tracer *t = tracer_create(options, &(guest){vm, describe, builtin, depth, sites});
    if (t)
        lox_observe(vm, &(lox_observer){t, allocated, options->rate, seed});
    return t;
}
