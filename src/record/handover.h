/* handover.h: before a program begins that cannot load the recorder, `run` is asked to follow it:
 * contract/handover.h has what is said.
 *
 * Problem. A static program loads no library, and some heaps are read from outside; `run` has to be
 * there at their exec, and only the process that makes it knows when that is.
 *
 * Way. The file's headers tell, for some system calls an exec. They are a hint: what begins is
 * looked at again by `run`. It is set-user-id programs that must never be handed over, as the
 * kernel gives one that is traced no rights.
 *
 * What must hold. This runs after vfork, in signal handlers, on little stack: no memory, no lock,
 * no errno. It waits HANDOVER_MOST_MS for an answer, and without one the exec is made anyway. */
#ifndef RECORD_HANDOVER_H
#define RECORD_HANDOVER_H

#include <stdbool.h>

/* The program `path` is about to be exec'ed, as by execveat, with the environment `envp`, by this
 * thread or (`spawns`) a process that it starts. Gives what handover_failed and handover_end take;
 * -1: nobody follows. */
int handover_begin(int folder, const char *path, int flags, char *const envp[], bool spawns);

/* The same of a name that is looked for in $PATH, as by execvp. */
int handover_begin_named(const char *file, char *const envp[], bool spawns);

/* There was no exec. Comes back when nobody traces this thread any more. */
void handover_failed(int handed);

/* There was one, and this process goes on. */
void handover_end(int handed);

#endif
