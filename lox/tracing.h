/* tracing.h: connects the tracer of guest programs (src/guest) to a Lox VM. */
#ifndef LOX_TRACING_H
#define LOX_TRACING_H

#include "guest/tracer.h"
#include "lox.h"

/* Starts to count what the VM allocates, as the options say. Returns NULL when there is no memory.
 * The tracer may be freed only when the VM has been destroyed or has another observer. */
tracer *tracing_start(lox_vm *vm, const memtracer_options *options, uint64_t seed);

#endif
