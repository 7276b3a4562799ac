/* keeper_pace.h: adjusts the sampling rate so that samples cost no more than allowed
 * (contract/pace.h). */
#ifndef CLI_RING_KEEPER_PACE_H
#define CLI_RING_KEEPER_PACE_H

#include "cli/ring/ring_plan.h"
#include "contract/pace.h"
#include "trace/cutter.h"

typedef struct keeper_pace {
    struct pace *shared; /* NULL: it is in the process's memory (see ring_plan), or there is none */
    uint64_t level;      /* how many times the rate is halved */
    ring_costs costs;    /* at the last measurement */
} keeper_pace;

/* Measures what process `pid` costs, or all processes of a run, which share one rate; then one
 * keeper measures once a second. The cutter knows the rates of live blocks. */
void keeper_pace_steer(keeper_pace *p, ring_plan *plan, pid_t pid, const cutter *c);

/* Returns how many times the rate is halved for the next samples. */
uint64_t keeper_pace_level(const keeper_pace *p);

/* Uses the pace at `pace_at` in the process's memory, if there is one whose level can be set. The
 * process may be hostile, so nothing read from it is trusted. */
bool ring_plan_pace(ring_plan *plan, int memory, uint64_t pace_at);

#endif
