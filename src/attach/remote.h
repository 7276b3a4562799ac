/* remote.h: calls functions of the C library in another running process, without its cooperation.
 * ptrace stops one of its threads at a place where the thread can hold no lock of the allocator or
 * the loader, lends it a stack, makes it call the function, and restores everything. Only for
 * x86-64, and for programs that are linked dynamically with glibc 2.34 or later. */
#ifndef ATTACH_REMOTE_H
#define ATTACH_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/rights.h"
#include "contract/control.h"

typedef struct remote remote;

/* Why something cannot be done: one line without a period. */
typedef struct remote_reason {
    char text[256];
} remote_reason;

/* Sets the reason. Returns false. */
__attribute__((format(printf, 2, 3))) bool remote_refuse(remote_reason *why, const char *format,
                                                         ...);

/* Stops a thread of the process. The thread does nothing else until remote_close. Waits some
 * seconds at most for a place where that is safe. Returns NULL on failure, with the reason in
 * *why. */
remote *remote_open(pid_t pid, remote_reason *why);

/* Lets the thread continue as if nothing had happened. */
void remote_close(remote *r);

/* Reads the rights that the thread has now. Returns false if the process is gone. */
bool remote_rights(const remote *r, rights *whose);

/* Returns whether the seccomp filters of all threads are harmless to recording. remote_open checks
 * this; callers check again where it matters that no filter was added since. On failure the reason
 * is in *why. */
bool remote_check_filters(remote *r, remote_reason *why);

/* Returns whether one of the filters forbids what seccomp_harms_asking checks. */
bool remote_may_not_ask(const remote *r);

/* Size in bytes of the room in the process for arguments and results. It exists until
 * remote_close. */
enum { REMOTE_ROOM = 64 * 1024 };

/* Returns the address in the process of byte `at` of the room. */
uint64_t remote_room(const remote *r, size_t at);

/* Write to and read from the room. Return false if the range is outside it, or if the process is
 * gone. */
bool remote_write(remote *r, size_t at, const void *bytes, size_t size);
bool remote_read(remote *r, size_t at, void *bytes, size_t size);

/* Reads the text at an address of the process, up to its NUL or as much as fits, and terminates
 * it. */
bool remote_read_text(remote *r, uint64_t address, char *text, size_t size);

/* Returns the address of a function that the process's C library exports; 0: there is none. */
uint64_t remote_function(const remote *r, const char *name);

/* Calls a function with up to three arguments. Returns false if the function did not return, with
 * the reason in *why; the thread is then back where it was. */
bool remote_call(remote *r, uint64_t function, const uint64_t arguments[3], uint64_t *result,
                 remote_reason *why);

/* Changes code, or with `back` restores it, all or nothing. No thread of the process runs
 * meanwhile, and none is in the middle of the code. Code that is already in the wanted state is
 * left alone. Returns false on failure, with the reason in *why. */
bool remote_change_code(remote *r, const control_code *codes, size_t n, bool back,
                        remote_reason *why);

#endif
