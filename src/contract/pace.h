/* pace.h: how the rate of a recording follows what it costs: the recorder says here what it spends,
 * and whoever keeps the recording (cli/ring/keeper.h) says how often the rate is to be halved. Of
 * `run` it lies in the memory that both share (rescue.h); of `attach` in the process, where the
 * recorder says at which address, and is read and written by way of /proc/PID/mem. */
#ifndef CONTRACT_PACE_H
#define CONTRACT_PACE_H

#include <stdatomic.h>
#include <stdint.h>

#define PACE_MAGIC UINT64_C(0x616c6c6f70616365)

struct pace {
    uint64_t magic;
    _Atomic uint64_t follows; /* 1: the rate follows `level` */
    _Atomic uint64_t level;   /* how many times the rate is to be halved: written by others */
    _Atomic uint64_t spent;   /* cycles that the recorder was busy with samples that it recorded */
    _Atomic uint64_t cycles;  /* of the clock by which those are counted, at `at` */
    _Atomic uint64_t at;      /* microseconds of the monotonic clock */
    _Atomic uint64_t cpu;     /* microseconds of processor time of all processes that spend here */
    _Atomic uint64_t dropped; /* cycles spent on samples that the level dropped: a higher level does
                                 not save them, only a lower --rate does */
};

#define PACE_MAX_LEVEL 20

#endif
