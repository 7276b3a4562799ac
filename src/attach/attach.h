/* attach.h: has the recorder inside a running process do something, bringing it there first if need
 * be.
 *
 * Problem. A process that runs was not prepared for us: it may be in the middle of malloc or of
 * loading a library, may wait in a system call for hours, may forbid what we are about to do, and
 * must go on as if nothing had happened, whatever becomes of us meanwhile.
 *
 * Way. ptrace stops one thread at a place where it can hold no lock of the allocator or the loader,
 * and calls functions of the C library in it (remote.h): dlopen for the recorder, then the
 * recorder's control function (contract/control.h). A thread that a signal handler has interrupted
 * is looked at more closely (handlers.h). Seccomp filters of all threads are tried on what
 * recording takes before anything is changed (filters.h). The work is done by a child process of
 * ours in a session of its own, so that a signal for us, even one that kills us, leaves nothing
 * half done in there; other signals wait until it is done.
 *
 * Why not otherwise. A thread or a socket in the process would change what it is: `ps` and gdb show
 * it, forks lose it. (A language runtime whose agents start so takes a thread for some
 * milliseconds.) Writing code of ours into it takes pages that are written and executed, which
 * hardened systems forbid. (Of a runtime without hooks, and of an allocator that is linked into the
 * program, functions' first instructions are replaced for as long as they are recorded, while no
 * thread runs: remote_change_code.)
 *
 * What must hold. Registers, the signal mask and a system call that the thread waits in are as they
 * were. What could refuse or end a call of ours is asked before. What root does for another user's
 * process is done with that user's rights (base/rights.h). */
#ifndef ATTACH_ATTACH_H
#define ATTACH_ATTACH_H

#include "attach/remote.h"
#include "contract/control.h"

/* Fills in the answer in *c. `library` is the recorder's file, an absolute path; it is loaded if no
 * recorder is in the process; NULL: then c->outcome is CONTROL_IDLE. False: *why. `*whose`, which
 * may be NULL, becomes what the process might do when it answered: what it names in the answer must
 * be touched with no other rights. */
bool attach_control(pid_t pid, const char *library, control *c, rights *whose, remote_reason *why);

/* The path of the program that the process runs, or of a link to it by which it was started; false:
 * there is no such process. */
bool attach_program(pid_t pid, char *path, size_t size);

/* A process in a container sees other files than we do, and its trace is among them, as are the
 * programs and libraries that it names. -1: it sees ours, or they are not to be seen; else what
 * attach_enter_files takes, also when the process has ended. */
int attach_open_files(pid_t pid);

/* The memory of the program that the process runs now, to be read and written as a file; nothing
 * can be any more when that has ended. -1: errno. */
int attach_open_memory(pid_t pid);

/* From here on, all paths are those of the process, unless `files` is -1, and may be used as far as
 * it may use them. They may lead to files that wish us ill: nothing must be loaded or run from then
 * on. 0 or an errno: then no file must be touched. */
int attach_enter_files(int files, const rights *whose);

/* Whether its program defines malloc itself, so that its calls of it pass nobody. */
bool attach_has_own_malloc(pid_t pid);

/* Whose program it is, as the list of runtimes says it, if only `run` can record the heap of its
 * language's runtime; NULL: it is none. */
const char *attach_unreached_heap(pid_t pid);

#endif
