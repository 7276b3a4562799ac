/* step.h: single-steps a stopped thread until it reaches a place that the caller wants. Just asking
 * the thread to stop is not enough: it stops where the kernel next checks, and in a thread that
 * makes a system call every few hundred nanoseconds that is always the end of one. */
#ifndef ATTACH_STEP_H
#define ATTACH_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns whether a thread at that address may be where it is wanted. Called after each
 * instruction. */
typedef bool step_test(void *context, uint64_t pc);

typedef enum step_end {
    STEP_THERE, /* it stands where it is wanted, at a stop like that of PTRACE_INTERRUPT */
    STEP_LEFT,  /* it stands elsewhere: it waits in a system call, or the time is up */
    STEP_GONE,
} step_end;

/* Steps a stopped thread that waits in no system call, one instruction at a time, for a fifth of a
 * second at most. Signals that arrive are delivered to it. `memory` is /proc/PID/mem. */
step_end step_until(pid_t tid, int memory, step_test *is_wanted, void *context);

#endif
