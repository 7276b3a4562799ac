/* seccomp.h: computes what seccomp filters would do to the system calls of recording. The recorder
 * asks this about a filter that its program is about to install; `attach` asks it about the filters
 * of a process. */
#ifndef CONTRACT_SECCOMP_H
#define CONTRACT_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>

struct seccomp_data;
struct sock_fprog;

/* Answers of a filter to a call, strictest first. The kernel takes the strictest answer of all
 * filters. */
typedef enum seccomp_answer {
    SECCOMP_ENDS,    /* ends the thread or the process; also any action unknown to this code */
    SECCOMP_SIGNALS, /* sends SIGSYS */
    SECCOMP_FAKES,   /* the call seems to have succeeded or to have been interrupted */
    SECCOMP_FAILS,
    SECCOMP_ASKS, /* lets another process decide */
    SECCOMP_LOGS,
    SECCOMP_ALLOWS,
} seccomp_answer;

typedef struct seccomp_harm {
    const char *call; /* name of the system call */
    seccomp_answer answer;
} seccomp_harm;

/* Returns whether some call of recording would be answered in a way that harms the program, and
 * sets *harm to the first such call. `fd` is the descriptor of the trace; -1: not known yet. If the
 * answer depends on something unknown, such as an address, it counts as harmful if it may be. */
bool seccomp_harms_recording(const struct sock_fprog *filters, size_t n, int fd,
                             seccomp_harm *harm);

/* Returns the same for the calls that ask for a thread's name and for the mapping of its stack.
 * Recording works without them. */
bool seccomp_harms_asking(const struct sock_fprog *filters, size_t n, seccomp_harm *harm);

/* Returns the same for the calls by which the C library, from 2.34 to 2.41, loads the recorder into
 * a running process. Each of them may fail harmlessly. */
bool seccomp_harms_loading(const struct sock_fprog *filters, size_t n, seccomp_harm *harm);

/* Returns whether one call would be answered harmfully. `data` describes the call completely. */
bool seccomp_harms_call(const struct sock_fprog *filters, size_t n,
                        const struct seccomp_data *data);

/* Returns whether a thread may certainly continue a sleep, or the like, that was interrupted. The
 * kernel continues it by the system call restart_syscall. */
bool seccomp_allows_restart(const struct sock_fprog *filters, size_t n);

#endif
