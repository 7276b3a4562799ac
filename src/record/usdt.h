/* usdt.h: statically defined probes (USDT), which report sampled blocks to eBPF programs and
 * debuggers while the program runs:
 *     otel_memory:alloc(void *block, uint64_t size, uint64_t weighted_bytes)
 *     otel_memory:free(void *block)
 * `size` is in bytes, rounded up to words. The sum of `weighted_bytes` over the samples is, on
 * average, the sum of the sizes of all blocks. While nobody listens, a probe costs a load and a
 * test for each event. An event of a signal handler inside another event is dropped, as in the
 * trace. The names are those proposed by OpenTelemetry's profiler. */
#ifndef RECORD_USDT_H
#define RECORD_USDT_H

#include <stdint.h>

#define USDT_PROVIDER otel_memory

/* Not 0 while somebody listens; the kernel or a debugger counts the listeners. */
extern volatile unsigned short otel_memory_alloc_semaphore, otel_memory_free_semaphore;

/* Fire the probes. Of `words`, including the allocator's header, `samples` were sampled, each with
 * probability `rate`. */
void usdt_tell_alloc(const void *block, uint64_t words, uint64_t samples, double rate);
void usdt_tell_free(const void *block);

static inline void usdt_alloc(const void *block, uint64_t words, uint64_t samples, double rate) {
    if (__builtin_expect(otel_memory_alloc_semaphore, 0))
        usdt_tell_alloc(block, words, samples, rate);
}

static inline void usdt_free(const void *block) {
    if (__builtin_expect(otel_memory_free_semaphore, 0))
        usdt_tell_free(block);
}

#endif
