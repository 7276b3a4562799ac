/* ring_run.h: memory shared by the keepers of a run that records child processes (`-o FOLDER/%p`):
 * the number of keepers, when the folder was trimmed, and which processes have segments. */
#ifndef CLI_RING_RING_RUN_H
#define CLI_RING_RING_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "push/push.h"

/* Costs up to a moment: CPU time of the recorded processes in microseconds, cycles spent by
 * recorders, and the moment in cycles and in microseconds. */
typedef struct ring_costs {
    uint64_t cpu, spent, dropped, cycles, at;
} ring_costs;

/* The shared place of a spool that is pushed (ring_push.h). */
typedef struct ring_pushed {
    _Atomic unsigned holders; /* bits of those that use it; 0: the place is free */
    _Atomic unsigned over;    /* 1: the spool is complete */
    _Atomic uint64_t left;    /* bytes on the disk that are kept for the pusher, once `over` is 1 */
    push_position position;
} ring_pushed;

/* Enough for spools with keepers, finished ones that are still pushed, and waiting ones. */
enum { RING_RUN_PUSHED = 1024 };

/* Process ids are less than this. */
#define RING_RUN_PIDS (UINT64_C(1) << 22)

typedef struct ring_run {
    uint64_t id; /* id of the process that starts the keepers; part of the spools' names, since the
                    folder may be shared with other runs */
    _Atomic uint64_t n_keepers;  /* number of keepers, which share the space */
    _Atomic uint64_t trim_after; /* monotonic, ms: until then, small segments are no reason to
                                    trim */
    _Atomic uint64_t spooled;    /* bytes on the disk that spools take */
    _Atomic uint64_t writing;    /* bytes on the disk of segments being written */
    _Atomic uint64_t n_failed;   /* keepers that could not write a segment, or were killed */
    _Atomic int error;           /* errno of the last failure; 0: all of these keepers were
                                    killed */
    _Atomic uint64_t paced;      /* monotonic, ms: when the shared rate was last checked */
    ring_costs costs;            /* costs at that time */
    _Atomic uint64_t n_unpushed; /* spools that ended before they could be offered to the pusher */
    ring_pushed pushed[RING_RUN_PUSHED];
    _Atomic uint64_t pids[RING_RUN_PIDS / 64]; /* bitmap of processes that have segments */
} ring_run;

/* Makes memory that is shared with all processes forked from now on. Returns NULL if there is no
 * memory. */
ring_run *ring_run_new(void);

/* ring_run_add notes that a process has a segment, ring_run_failed that a keeper failed with an
 * errno, or 0. */
void ring_run_add(ring_run *run, uint64_t pid);
void ring_run_failed(ring_run *run, int error);

/* Returns whether a process has a segment. */
bool ring_run_has(const ring_run *run, uint64_t pid);

#endif
