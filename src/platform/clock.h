/* clock.h: the clocks, as the kernel has them. The time in a trace is the monotonic clock in
 * microseconds, anchored once to the wall clock. So a step of the wall clock never makes time run
 * backwards. Nor does a clock_gettime that the program or a preloaded library defines, such as
 * libfaketime's: it is not called. No locks, errno kept. */
#ifndef PLATFORM_CLOCK_H
#define PLATFORM_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct clock_anchor {
    uint64_t wall_us;      /* since 1970, at the moment of anchoring */
    uint64_t monotonic_us; /* the monotonic clock at the same moment */
};

/* The vDSO's clock_gettime, or the system call; before the first reading, a function that looks for
 * it. */
typedef int clock_function(clockid_t clock, struct timespec *now);
extern clock_function *_Atomic clock_source __attribute__((visibility("hidden")));

static inline struct timespec clock_now(clockid_t clock) {
    struct timespec t = {0};
    atomic_load_explicit(&clock_source, memory_order_relaxed)(clock, &t);
    return t;
}

static inline uint64_t clock_us(clockid_t clock) {
    const struct timespec t = clock_now(clock);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static inline uint64_t clock_monotonic_us(void) {
    return clock_us(CLOCK_MONOTONIC);
}

static inline uint64_t clock_monotonic_ms(void) {
    return clock_monotonic_us() / 1000;
}

/* Returns the time of the monotonic clock `ms` milliseconds from now, as a deadline for waiting. */
static inline struct timespec clock_in_ms(uint64_t ms) {
    const uint64_t us = clock_monotonic_us() + ms * 1000;
    return (struct timespec){.tv_sec = (time_t)(us / 1000000),
                             .tv_nsec = (long)(us % 1000000 * 1000)};
}

static inline bool clock_is_before(struct timespec a, struct timespec b) {
    return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

static inline uint64_t clock_wall_us(void) {
    return clock_us(CLOCK_REALTIME);
}

static inline struct clock_anchor clock_anchor_now(void) {
    return (struct clock_anchor){.wall_us = clock_wall_us(), .monotonic_us = clock_monotonic_us()};
}

/* Converts a time of the monotonic clock to the wall clock. The time may be before the anchor. */
static inline uint64_t clock_anchored_us(struct clock_anchor anchor, uint64_t monotonic_us) {
    return anchor.wall_us + (monotonic_us - anchor.monotonic_us);
}

#endif
