/* pace.h: makes the rate of a recording follow its cost. The recorder writes here what it spends,
 * and the process that keeps the recording (cli/ring/keeper.h) writes how often the rate is to be
 * halved. Under `run`, this struct is in the memory that both share (rescue.h). After `attach`, it
 * is in the recorded process: the recorder tells its address, and the keeper accesses it through
 * /proc/PID/mem. */
#ifndef CONTRACT_PACE_H
#define CONTRACT_PACE_H

#include <stdatomic.h>
#include <stdint.h>

#define PACE_MAGIC UINT64_C(0x616c6c6f70616365)

struct pace {
    uint64_t magic;
    _Atomic uint64_t follows; /* 1: the rate follows `level` */
    _Atomic uint64_t level;   /* how many times the rate is to be halved; written by the keeper */
    _Atomic uint64_t spent;   /* cycles that the recorder has spent on samples that it recorded */
    _Atomic uint64_t cycles;  /* value at time `at` of the counter that `spent` is measured by */
    _Atomic uint64_t at;      /* time of `cycles` and `cpu`: microseconds of the monotonic clock */
    _Atomic uint64_t cpu;     /* microseconds of CPU time of all processes that add to `spent` */
    _Atomic uint64_t dropped; /* cycles spent on samples that the level dropped: only a lower --rate
                               * saves them, a higher level does not */
};

#define PACE_MAX_LEVEL 20

#endif
