/* enter.h: puts the recorder into a statically linked program before its first instruction.
 * Problem. The program has no dynamic loader that could load the recorder, and no room for the
 * recorder's thread-local variables.
 * Approach. The program stands at its exec, traced. Its thread makes system calls for us that map
 * the recorder (liballotrace-static.so, which needs no other library) as a loader would, and we
 * relocate it. The C library in the program allocates thread-local variables as the program headers
 * say, and it finds the headers through an address that the kernel has put on the stack. We replace
 * that address by the address of a copy, in which the segment for thread-local storage is larger.
 * The recorder's variables come first in that segment. The program's variables are addressed from
 * the end of the segment, so they stay where they were:
 *     before:                [ program's ] thread pointer
 *     after:  [ recorder's ] [ program's ] thread pointer
 * Each later thread gets both parts, initialized. Then the recorder is called once
 * (contract/entered.h), with a thread pointer that is valid only during that call. Finally the
 * program stands as before, with its original registers: the caller lets it begin.
 * Invariant. If anything fails, the program begins as if nothing had been done to it. */
#ifndef ATTACH_ENTER_H
#define ATTACH_ENTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "attach/remote.h"

/* Returns whether this CPU is supported. */
bool enter_is_possible(void);

/* Traces a process up to its next exec. Returns 0 or an errno. */
int enter_follow(pid_t pid);

/* Waits for the exec. Returns false if the process ended without one, or is gone; *status is then
 * its status. */
bool enter_await_exec(pid_t pid, int *status);

/* Enters the program, which stands at its exec, and leaves it stopped, for follow_begin or
 * follow_let_go. `library` is an absolute path. Returns true if the program is recorded; `outcome`
 * then tells what is recorded. Otherwise `outcome` tells why nothing is. Both texts continue the
 * name of the program. */
bool enter_program(pid_t pid, const char *library, remote_reason *outcome);

#endif
