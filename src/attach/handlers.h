/* handlers.h: finds the code that was interrupted by the signal handlers on a stopped thread's
 * stack. Only for x86-64. */
#ifndef ATTACH_HANDLERS_H
#define ATTACH_HANDLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/process.h"

typedef struct interrupted {
    uint64_t pc, result; /* rip and rax */
} interrupted;

/* Searches a stack, from `sp` upwards, for the frames that the kernel writes when it calls a
 * handler. `memory` is /proc/PID/mem; `ranges` are the process's mappings. Frames of handlers that
 * have returned are found, too, if they were not overwritten. Returns the number found, at most
 * `max`. */
size_t handlers_find(const process_ranges *ranges, int memory, uint64_t sp, interrupted *found,
                     size_t max);

/* Returns whether the call stack of a traced, stopped thread leads through a handler to code that
 * was interrupted at `pc`. Also returns true if the stack cannot be unwound. */
bool handlers_lead_to(pid_t pid, pid_t tid, uint64_t pc);

#endif
