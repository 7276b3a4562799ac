/* clock.c: see clock.h. clock_gettime is answered by the vDSO, without a system call. */
#include "platform/clock.h"

#include <time.h>

static uint64_t clock_us(clockid_t clock) {
    struct timespec t = {0};
    clock_gettime(clock, &t); /* cannot fail for the clocks below */
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t clock_monotonic_us(void) {
    return clock_us(CLOCK_MONOTONIC);
}

uint64_t clock_wall_us(void) {
    return clock_us(CLOCK_REALTIME);
}

struct clock_anchor clock_anchor_now(void) {
    return (struct clock_anchor){.wall_us = clock_wall_us(), .monotonic_us = clock_monotonic_us()};
}
