/* usdt.c: contains the only instance of each probe, so that each is one place in the code. */
#define _SDT_HAS_SEMAPHORES 1
#include "record/usdt.h"

#include <sys/sdt.h>

#define PROBE_SECTION __attribute__((section(".probes")))

volatile unsigned short otel_memory_alloc_semaphore PROBE_SECTION;
volatile unsigned short otel_memory_free_semaphore PROBE_SECTION;

__attribute__((noinline)) void usdt_tell_alloc(const void *block, uint64_t words, uint64_t samples,
                                               double rate) {
    const uint64_t size = (words - 1) * sizeof(uint64_t);
    const double weight = (double)size * (double)samples / ((double)words * rate);
    STAP_PROBE3(USDT_PROVIDER, alloc, block, size, (uint64_t)(weight + 0.5));
}

__attribute__((noinline)) void usdt_tell_free(const void *block) {
    STAP_PROBE1(USDT_PROVIDER, free, block);
}
