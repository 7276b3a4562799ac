/* clock.h: the time of a trace: microseconds of the monotonic clock, anchored once to the wall
 * clock, so that a step of the wall clock never makes time run backwards. No locks, errno kept. */
#ifndef PLATFORM_CLOCK_H
#define PLATFORM_CLOCK_H

#include <stdint.h>

struct clock_anchor {
    uint64_t wall_us;      /* since 1970, at the moment of anchoring */
    uint64_t monotonic_us; /* the monotonic clock at the same moment */
};

uint64_t clock_monotonic_us(void);
uint64_t clock_wall_us(void);
struct clock_anchor clock_anchor_now(void);

/* The wall clock's time at a moment of the monotonic clock, which may lie before the anchor. */
static inline uint64_t clock_anchored_us(struct clock_anchor anchor, uint64_t monotonic_us) {
    return anchor.wall_us + (monotonic_us - anchor.monotonic_us);
}

#endif
