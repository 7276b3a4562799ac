/* remote.h: calls functions of the C library in another process that runs, without its
 * cooperation: ptrace stops one of its threads at a place where it can hold no lock of the
 * allocator or the loader, lends it a stack, has it make the call, and puts everything back.
 *
 * Only for x86-64, and for programs that are linked dynamically with glibc 2.34 or later. */
#ifndef ATTACH_REMOTE_H
#define ATTACH_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/rights.h"
#include "contract/control.h"

typedef struct remote remote;

/* Why something cannot be done: one line without a full stop. */
typedef struct remote_reason {
    char text[256];
} remote_reason;

/* Stops a thread of the process; until remote_close it does nothing else. NULL: *why. Waits at most
 * some seconds for a place where that is safe. */
remote *remote_open(pid_t pid, remote_reason *why);

/* Lets the thread go on as if nothing had been. */
void remote_close(remote *r);

/* What the thread may do now. False: the process has gone. */
bool remote_rights(const remote *r, rights *whose);

/* Whether the seccomp filters of all threads let recording do no harm: asked by remote_open, and to
 * be asked again where it matters that none has changed since. False: *why. */
bool remote_check_filters(remote *r, remote_reason *why);

/* Whether one of them forbids to ask what the thread is called. */
bool remote_is_nameless(const remote *r);

/* Room in the process for arguments and results, until remote_close. */
enum { REMOTE_ROOM = 64 * 1024 };

/* The address in the process of byte `at` of that room. */
uint64_t remote_room(const remote *r, size_t at);

/* False: the process has gone. */
bool remote_write(remote *r, size_t at, const void *bytes, size_t size);
bool remote_read(remote *r, size_t at, void *bytes, size_t size);

/* What stands at an address of the process, up to its zero or to what fits, ended by one. */
bool remote_read_text(remote *r, uint64_t address, char *text, size_t size);

/* The address of a function that its C library exports; 0: it does not. */
uint64_t remote_function(const remote *r, const char *name);

/* Calls the function with up to three arguments. False: it did not return, *why; then the process
 * was put back to where it was. */
bool remote_call(remote *r, uint64_t function, const uint64_t arguments[3], uint64_t *result,
                 remote_reason *why);

/* Changes code, or `back`, all or nothing of it: while no thread of the process runs, and none is
 * in the middle of it. What is back already, or there, is left. False: *why. */
bool remote_change_code(remote *r, const control_code *codes, size_t n, bool back,
                        remote_reason *why);

#endif
