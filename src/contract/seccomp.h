/* seccomp.h: what seccomp filters would do to the system calls that recording takes. The recorder
 * asks it of a filter that its program is about to install, `attach` of those that a process has.
 */
#ifndef CONTRACT_SECCOMP_H
#define CONTRACT_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>

struct seccomp_data;
struct sock_fprog;

/* How a call is answered. The kernel takes the strictest answer of all filters: the first in this
 * order. */
typedef enum seccomp_answer {
    SECCOMP_ENDS,    /* the thread or the process; also what this kernel may not know */
    SECCOMP_SIGNALS, /* SIGSYS */
    SECCOMP_FAKES,   /* the call seems to have succeeded, or to have been interrupted */
    SECCOMP_FAILS,
    SECCOMP_ASKS, /* another process */
    SECCOMP_LOGS,
    SECCOMP_ALLOWS,
} seccomp_answer;

typedef struct seccomp_harm {
    const char *call; /* its name */
    seccomp_answer answer;
} seccomp_harm;

/* Is there a call that is answered in a way that harms the program? Then *harm is one. `fd` is the
 * descriptor that is written to, -1: not known yet. What a filter says of what is not known before,
 * an address say, does harm if it may. */
bool seccomp_harms_recording(const struct sock_fprog *filters, size_t n, int fd,
                             seccomp_harm *harm);

/* The same of the one by which a thread's name is had, without which recording goes on. */
bool seccomp_harms_naming(const struct sock_fprog *filters, size_t n, seccomp_harm *harm);

/* The same of those by which the C library, from 2.34 to 2.41, loads the recorder into a process
 * that runs; each of them may fail. */
bool seccomp_harms_loading(const struct sock_fprog *filters, size_t n, seccomp_harm *harm);

/* The same of one that is about to be made, and is known in full. */
bool seccomp_harms_call(const struct sock_fprog *filters, size_t n,
                        const struct seccomp_data *data);

/* Whether it is certain that a thread is let go on with a sleep, or the like, that was interrupted:
 * by a system call of the kernel's own, restart_syscall. */
bool seccomp_allows_restart(const struct sock_fprog *filters, size_t n);

#endif
