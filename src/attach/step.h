/* step.h: lets a stopped thread go on until it stands where the caller wants it. A thread that is
 * asked to stop does so at the next place where the kernel looks, which in one that makes a system
 * call every few hundred nanoseconds is always the end of one. */
#ifndef ATTACH_STEP_H
#define ATTACH_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether a thread at that address may be where it is wanted; is asked after each instruction. */
typedef bool step_test(void *context, uint64_t pc);

typedef enum step_end {
    STEP_THERE, /* it stands, at a stop as PTRACE_INTERRUPT makes it */
    STEP_LEFT,  /* it stands, somewhere else: it waits, or has gone far enough */
    STEP_GONE,
} step_end;

/* Goes on an instruction at a time with a thread that stands and waits in no system call, for a
 * fifth of a second at most. Signals that come are its. `memory` is /proc/PID/mem. */
step_end step_until(pid_t tid, int memory, step_test *is_wanted, void *context);

#endif
