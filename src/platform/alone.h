/* alone.h: the few C library functions that the recorder needs, for a program where it cannot call
 * a C library: a statically linked program, whose C library was linked for that program alone.
 * Whatever intercepts the program's functions must report threads, forks and the end of the process
 * to this file. */
#ifndef PLATFORM_ALONE_H
#define PLATFORM_ALONE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* A module. There are two: the program and the recorder. */
struct alone_module {
    uintptr_t bias;
    const ElfW(Phdr) * headers;
    size_t n_headers;
};

/* Must be called first. `stack` is where the kernel has put the arguments, environment and
 * auxiliary vector. */
void alone_begin(const uintptr_t *stack, const struct alone_module modules[2]);

/* Returns whether `pc` is in the recorder's code. */
bool alone_is_own(uintptr_t pc);

/* Call the handlers that were registered with loader_at_fork and loader_key_create. The caller
 * calls these functions around a fork and at the end of a thread. */
void alone_before_fork(void);
void alone_after_fork(bool is_child);
void alone_thread_ends(void);

#endif
