/* usdt.h: statically defined probes, by which eBPF programs and debuggers are told of sampled
 * blocks while the program runs:
 *
 *     otel_memory:alloc(void *block, uint64_t size, uint64_t weighted_bytes)
 *     otel_memory:free(void *block)
 *
 * `size` is in bytes, to the word; the sum of `weighted_bytes` over the samples is, on average,
 * that of the sizes of all blocks. While nobody looks, a probe is a load and a test at an event. A
 * signal handler's event inside another is dropped here as in the trace. The names are those that
 * OpenTelemetry's profiler proposes. */
#ifndef RECORD_USDT_H
#define RECORD_USDT_H

#include <stdint.h>

#define USDT_PROVIDER otel_memory

/* Not 0 while somebody looks: the kernel, or a debugger, counts. */
extern volatile unsigned short otel_memory_alloc_semaphore, otel_memory_free_semaphore;

/* Of `words`, header included, `samples` are sampled, each with the probability `rate`. */
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
