/* enter.h: puts the recorder into a statically linked program before its first instruction.
 *
 * Problem. There is no dynamic loader in it that could load anything, and thread-local variables of
 * the recorder's have no room in it.
 *
 * Way. The program stands at its exec, traced. Its thread makes system calls for us that map the
 * recorder (liballotrace-static.so, which needs no other library), as a loader would have done, and
 * we relocate it. The C library that is linked in makes room for thread-local variables as the
 * program headers say, whose place the kernel tells it on the stack: there, a copy takes their
 * place in which the segment for thread-local storage is larger. The recorder's variables come
 * first in it, so that the program's, which are addressed from its end, are where they were; each
 * thread to come gets both, initialised. Then the recorder is called once (contract/entered.h),
 * with a thread pointer that lasts as long as that call. At last the program begins, untraced, with
 * the registers that it would have had.
 *
 * What must hold. If anything fails, the program begins as if nobody had been there. */
#ifndef ATTACH_ENTER_H
#define ATTACH_ENTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "attach/remote.h"

/* Is it known how to, on this CPU? */
bool enter_is_possible(void);

/* Of a process that is to exec: traces it up to there. 0 or an errno. */
int enter_follow(pid_t pid);

/* Waits for the exec. False: it was none, and the process has ended, or is gone; its status is in
 * *status. */
bool enter_await_exec(pid_t pid, int *status);

/* Enters the program, and lets it go. `library` is an absolute path. True: `said` is what is
 * recorded; false: why nothing is. Both go on from the name of the program. */
bool enter_program(pid_t pid, const char *library, remote_reason *said);

#endif
