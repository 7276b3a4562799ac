/* keeper_pace.c: compares the time that the recorder has spent on samples with the CPU time of the
 * program, and halves or doubles the rate. In a run, recorders add up both, since a child process
 * may end before anybody can measure it. */
#include "cli/ring/keeper_pace.h"

#include <math.h>
#include <unistd.h>

#include "base/proc.h"
#include "platform/clock.h"

/* Returns the CPU time of the process so far, in microseconds; 0: it is gone. */
static uint64_t cpu_of(pid_t pid) {
    return proc_stat_us((uint64_t)pid, PROC_UTIME) + proc_stat_us((uint64_t)pid, PROC_STIME);
}

static bool read_pace(const ring_plan *plan, struct pace *pace) {
    return pread(plan->memory, pace, sizeof *pace, (off_t)plan->pace_at) == sizeof *pace &&
           pace->magic == PACE_MAGIC;
}

/* The memory belongs to the program that was attached to. Once the process has exec'ed another
 * program, reads and writes fail. */
static bool write_level(const ring_plan *plan, uint64_t level) {
    const uint64_t at = plan->pace_at + offsetof(struct pace, level);
    return pwrite(plan->memory, &level, sizeof level, (off_t)at) == sizeof level;
}

bool ring_plan_pace(ring_plan *plan, int memory, uint64_t pace_at) {
    struct pace pace;
    const ring_plan there = {.memory = memory, .pace_at = pace_at};
    if (!read_pace(&there, &pace) || !write_level(&there, 0))
        return false;
    plan->memory = memory;
    plan->pace_at = pace_at;
    return true;
}

/* Returns false if the costs are unknown; then the rate stays as it is. */
static bool costs_now(const keeper_pace *p, const ring_plan *plan, pid_t pid, ring_costs *now) {
    struct pace copy = {.magic = PACE_MAGIC};
    const struct pace *pace = p->shared ? p->shared : &copy;
    if (!p->shared && (!plan->memory || !read_pace(plan, &copy)))
        return false;
    *now = (ring_costs){.cpu = plan->run ? atomic_load(&pace->cpu) : cpu_of(pid),
                        .spent = atomic_load(&pace->spent),
                        .dropped = atomic_load(&pace->dropped),
                        .cycles = atomic_load(&pace->cycles),
                        .at = atomic_load(&pace->at)};
    return true;
}

uint64_t keeper_pace_level(const keeper_pace *p) {
    const uint64_t level = p->shared ? atomic_load(&p->shared->level) : p->level;
    return level < PACE_MAX_LEVEL ? level : PACE_MAX_LEVEL;
}

static void set_level(keeper_pace *p, ring_plan *plan, uint64_t level) {
    p->level = level;
    if (p->shared)
        atomic_store(&p->shared->level, level);
    else if (!write_level(plan, level))
        plan->memory = 0; /* the process is gone */
}

/* What samples have cost, as shares of the time that the program itself took. */
typedef struct shares {
    double recorded, dropped;
} shares;

/* Returns false if too little has happened since `before` to tell. */
static bool shares_since(const ring_costs *before, const ring_costs *now, shares *of) {
    enum { LEAST_CPU = 200000 };
    if (now->at <= before->at || now->cycles <= before->cycles ||
        now->cpu < before->cpu + LEAST_CPU)
        return false;
    const double cycles_each =
        (double)(now->cycles - before->cycles) / (double)(now->at - before->at);
    const double recorded = (double)(now->spent - before->spent) / cycles_each,
                 dropped = (double)(now->dropped - before->dropped) / cycles_each;
    const double cpu = (double)(now->cpu - before->cpu), all = recorded + dropped;
    const double own = all < cpu / 2 ? cpu - all : all;
    *of = (shares){.recorded = recorded / own, .dropped = dropped / own};
    return true;
}

/* Returns how many times the rate is to be halved. A higher level saves nothing of what dropped
 * samples cost, so recorded ones may always take half of the target: otherwise, where dropping
 * alone takes more than the target, nothing would be recorded in the end. The rate is raised again
 * only when all live blocks have a higher rate than the current one: until then, segments have the
 * lower rate anyway. */
static uint64_t level_for(double target, shares of, uint64_t level, const cutter *c) {
    enum { LOW = 4 }; /* times below the target, so that a doubled cost is still well below */
    const double room = fmax(target - of.dropped, target / 2);
    if (of.recorded > room)
        level += (uint64_t)ceil(log2(of.recorded / room));
    else if (of.recorded * LOW < room && level > 0 && cutter_live_level(c) < level)
        level--;
    return level < PACE_MAX_LEVEL ? level : PACE_MAX_LEVEL;
}

static void steer(keeper_pace *p, ring_plan *plan, pid_t pid, const cutter *c) {
    ring_costs now;
    shares of;
    if (!costs_now(p, plan, pid, &now))
        return;
    if (p->costs.at == 0 || now.cpu < p->costs.cpu || now.spent < p->costs.spent ||
        now.dropped < p->costs.dropped) {
        p->costs = now;
        return;
    }
    if (!shares_since(&p->costs, &now, &of))
        return;
    set_level(p, plan, level_for(plan->overhead, of, p->level, c));
    p->costs = now;
}

/* Takes the turn to measure, at most once a second in a run. If a keeper is killed during its turn,
 * another one takes the next. */
static bool is_our_turn(ring_run *run) {
    enum { PAUSE_MS = 1000 };
    const uint64_t now = clock_monotonic_ms();
    uint64_t before = atomic_load(&run->paced);
    return now >= before + PAUSE_MS && atomic_compare_exchange_strong(&run->paced, &before, now);
}

void keeper_pace_steer(keeper_pace *p, ring_plan *plan, pid_t pid, const cutter *c) {
    if (!plan->run) {
        steer(p, plan, pid, c);
    } else if (p->shared && is_our_turn(plan->run)) {
        p->costs = plan->run->costs;
        p->level = keeper_pace_level(p);
        steer(p, plan, pid, c);
        plan->run->costs = p->costs;
    }
}
