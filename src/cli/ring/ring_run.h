/* ring_run.h: what the keepers of a run share whose child processes are recorded, too
 * (`-o FOLDER/%p`): how many they are, when the folder is trimmed, and whose segments there are. */
#ifndef CLI_RING_RING_RUN_H
#define CLI_RING_RING_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "push/push.h"

/* At a moment: microseconds of what is recorded, cycles of recorders, and the two clocks of these.
 */
typedef struct ring_costs {
    uint64_t cpu, spent, dropped, cycles, at;
} ring_costs;

/* A spool that is pushed (ring_push.h). */
typedef struct ring_pushed {
    _Atomic unsigned holders; /* 0: the place is free */
    _Atomic unsigned over;    /* 1: all that was recorded is in the spool */
    _Atomic uint64_t left;    /* bytes on the disk that stay for the pusher, when that is so */
    push_position position;
} ring_pushed;

/* Those that have keepers, that are pushed after these have ended, and that wait. */
enum { RING_RUN_PUSHED = 1024 };

/* Process ids are below. */
#define RING_RUN_PIDS (UINT64_C(1) << 22)

typedef struct ring_run {
    uint64_t id; /* the process that starts the keepers; spools are called by it, as others may be
                    in the folder */
    _Atomic uint64_t n_keepers;  /* at work: they share the space */
    _Atomic uint64_t trim_after; /* monotonic, ms: before, small segments are no reason to trim */
    _Atomic uint64_t spooled;    /* bytes on the disk that their spools take */
    _Atomic uint64_t writing;    /* and the segments that are being written */
    _Atomic uint64_t n_failed;   /* keepers that could not write a segment, or were killed */
    _Atomic int error;           /* why the last one could not; 0: all of these were killed */
    _Atomic uint64_t paced;      /* monotonic, ms: when the rate of all was last looked at */
    ring_costs costs;            /* then: of whoever looked */
    _Atomic uint64_t n_unpushed; /* spools that came to their ends before anybody could push them */
    ring_pushed pushed[RING_RUN_PUSHED];
    _Atomic uint64_t pids[RING_RUN_PIDS / 64]; /* a bit for each whose segments there are */
} ring_run;

/* Shared with all processes that are forked from now on; NULL: there is no memory. */
ring_run *ring_run_new(void);

/* Takes note of a process that has a segment; of a keeper that has failed by an errno, or 0. */
void ring_run_add(ring_run *run, uint64_t pid);
void ring_run_failed(ring_run *run, int error);

/* Whether a process has. */
bool ring_run_has(const ring_run *run, uint64_t pid);

#endif
