/* profile.h: the sampling engine, as used by the heap, and the trace that it fills. */
#ifndef LOX_PROFILE_H
#define LOX_PROFILE_H

#include "vm.h"

/* Start and stop the engine that chooses what an observer hears of. It tracks nothing. */
void profile_start_sampler(heap *h, double rate, uint64_t seed);
void profile_stop_sampler(heap *h);

/* Handles a new object, k of whose words were sampled, and runs the engine's callbacks. The engine
 * must have left the nursery. */
void profile_track(lox_vm *vm, object *o, uint64_t k, memprof_heap where);

#endif
