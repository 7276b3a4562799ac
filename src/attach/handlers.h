/* handlers.h: what the signal handlers that a stopped thread is in have interrupted. Only for
 * x86-64. */
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

/* Looks for what the kernel leaves on a stack when it calls a handler, from `sp` upwards; `memory`
 * is /proc/PID/mem, `ranges` what is mapped there. What a handler that has returned has left is
 * found, too, where nothing was written over it. Gives how many there are, at most `max`. */
size_t handlers_find(const process_ranges *ranges, int memory, uint64_t sp, interrupted *found,
                     size_t max);

/* Whether the call stack of a thread that we trace, and that is stopped, leads through a handler to
 * code that was interrupted at `pc`. True as well if the stack cannot be followed. */
bool handlers_lead_to(pid_t pid, pid_t tid, uint64_t pc);

#endif
