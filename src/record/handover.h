/* handover.h: asks `run` to follow a program that cannot load the recorder, before that program
 * begins. contract/handover.h has the messages.
 * Problem. A static program loads no library, and some heaps are read from outside. `run` has to be
 * present at the exec of such a program, and only the process that makes the exec knows when that
 * is.
 * Approach. The headers of the program's file tell, at the cost of some system calls for each exec.
 * They are only a hint: `run` checks the program again when it begins. Set-user-id programs must
 * never be handed over, because the kernel gives a traced program no additional rights.
 * Invariants. This runs after vfork, in signal handlers and on small stacks, so it allocates
 * nothing, takes no lock and keeps errno. It waits HANDOVER_MOST_MS at most for an answer. Without
 * an answer, the exec is made anyway. */
#ifndef RECORD_HANDOVER_H
#define RECORD_HANDOVER_H

#include <stdbool.h>

/* Called before the exec of the program `path`, given as for execveat, with the environment `envp`.
 * The calling thread makes the exec, or (`spawns`) starts a process that does. Returns a value for
 * handover_failed and handover_end; -1: nobody follows. */
int handover_begin(int folder, const char *path, int flags, char *const envp[], bool spawns);

/* Same as handover_begin for a name that is looked up in $PATH, as by execvp. */
int handover_begin_named(const char *file, char *const envp[], bool spawns);

/* Called if there was no exec. Returns when nobody traces this thread any more. */
void handover_failed(int handed);

/* Called if there was an exec and this process continues. */
void handover_end(int handed);

#endif
