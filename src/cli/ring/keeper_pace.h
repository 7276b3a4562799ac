/* keeper_pace.h: how a keeper sets the rate of what it keeps, so that samples cost no more than
 * they may (contract/pace.h). */
#ifndef CLI_RING_KEEPER_PACE_H
#define CLI_RING_KEEPER_PACE_H

#include "cli/ring/ring_plan.h"
#include "contract/pace.h"
#include "trace/cutter.h"

typedef struct keeper_pace {
    struct pace *shared; /* NULL: it is in the process's memory, as the plan says, or nowhere */
    uint64_t level;      /* how many times the rate is to be halved */
    ring_costs costs;    /* at the last look */
} keeper_pace;

/* Looks at what process `pid` costs, or all of the run, which have one rate: then one keeper does
 * in a second. The cutter knows what is live. */
void keeper_pace_steer(keeper_pace *p, ring_plan *plan, pid_t pid, const cutter *c);

/* How many times what is recorded next has its rate halved. */
uint64_t keeper_pace_level(const keeper_pace *p);

/* Whether the memory has a pace there, whose rate can be set: of a process that may wish us ill, as
 * all that is read of it. */
bool ring_plan_pace(ring_plan *plan, int memory, uint64_t pace_at);

#endif
