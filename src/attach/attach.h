/* attach.h: makes the recorder inside a running process do something, and loads the recorder first
 * if necessary.
 * Problem. A running process was not prepared for us. It may be in the middle of malloc or of
 * loading a library, it may wait in a system call for hours, and it may forbid what we are about to
 * do. It must go on as if nothing had happened, whatever happens to us meanwhile.
 * Approach. ptrace stops one thread at a place where it can hold no lock of the allocator or the
 * loader, and calls functions of the C library in that thread (remote.h): first dlopen for the
 * recorder, then the recorder's control function (contract/control.h). If the thread is in a signal
 * handler, the code that the handler interrupted is checked, too (handlers.h). Before anything is
 * changed, the seccomp filters of all threads are tested with the system calls that recording makes
 * (filters.h). A child process of ours does the work, in a session of its own. So a signal to us,
 * even one that kills us, leaves nothing half done in the process; signals that can be blocked wait
 * until the work is done. Programs that are entered before they run have doors of their own:
 * enter.h, to which arrive.h and tree.h follow a program's children; follow.h waits for a process
 * to end, where its memory is read from outside.
 * Alternatives. A new thread or a socket would change the process visibly: `ps` and gdb show it,
 * and a fork loses it. (A language runtime whose agents start in a thread has one for some
 * milliseconds.) Writing code of our own into the process takes pages that are both written and
 * executed, which hardened systems forbid. (There is one exception, for a runtime without hooks and
 * for an allocator linked into the program: while they are recorded, the first instructions of some
 * functions are replaced. That is done while no thread runs: remote_change_code.)
 * Invariants. Registers, the signal mask and a system call that the thread waits in are restored.
 * Everything that could refuse or end one of our calls is checked first. What root does for another
 * user's process is done with that user's rights (base/rights.h). */
#ifndef ATTACH_ATTACH_H
#define ATTACH_ATTACH_H

#include "attach/remote.h"
#include "contract/control.h"

/* Sends *c to the recorder and fills in its answer. `library` is the absolute path of the
 * recorder's file, which is loaded if the process has no recorder. If `library` is NULL, c->outcome
 * becomes CONTROL_IDLE then. Returns false on failure, with the reason in *why. `*whose`, if
 * `whose` is not NULL, becomes the rights of the process when it answered. Files that the answer
 * names must be accessed with no other rights. */
bool attach_control(pid_t pid, const char *library, control *c, rights *whose, remote_reason *why);

/* Writes the path of the program that the process runs, or of the link by which it was started.
 * Returns false if there is no such process. */
bool attach_program(pid_t pid, char *path, size_t size);

/* Opens the file system of a process in a container. Its trace is there, and so are the programs
 * and libraries that it names. Returns a descriptor for attach_enter_files, which stays usable when
 * the process has ended. Returns -1 if the process sees our file system, or if its own is not
 * accessible. */
int attach_open_files(pid_t pid);

/* From this call on, all paths are those of the process, unless `files` is -1, and files are
 * accessed with the rights in *whose. The files may be hostile: nothing may be loaded or run from
 * them afterwards. Returns 0 or an errno; after an error no file may be touched. */
int attach_enter_files(int files, const rights *whose);

/* Returns whether the program defines malloc itself. Calls of that malloc cannot be intercepted. */
bool attach_has_own_malloc(pid_t pid);

/* If the program's language runtime has a heap that only `run` can record, returns whose program it
 * is, in the words of the list of runtimes. Returns NULL otherwise. */
const char *attach_unreached_heap(pid_t pid);

#endif
