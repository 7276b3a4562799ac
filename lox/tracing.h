/* tracing.h: the tracer of guest programs (src/guest) on a Lox VM. */
#ifndef LOX_TRACING_H
#define LOX_TRACING_H

#include "guest/tracer.h"
#include "lox.h"

/* Starts to count what the VM allocates, as the options say. NULL when there is no memory. Only
 * when the VM is destroyed, or has another observer, may the tracer be freed. */
tracer *tracing_start(lox_vm *vm, const memtracer_options *options, uint64_t seed);

#endif
