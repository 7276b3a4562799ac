/* alone.h: the little that the recorder asks of a C library, for where it has none: in a program
 * that is linked statically, whose C library was linked for that program alone. Of threads, forks
 * and the end of the process it hears from whoever stands before the program's functions. */
#ifndef PLATFORM_ALONE_H
#define PLATFORM_ALONE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Two modules there are: the program, and the recorder. */
struct alone_module {
    uintptr_t bias;
    const ElfW(Phdr) * headers;
    size_t n_headers;
};

/* To be called first. `stack` is where the kernel has put what it tells a program, `clock` the
 * address of its clock_gettime or 0. */
void alone_begin(const uintptr_t *stack, uintptr_t clock, const struct alone_module modules[2]);

/* Is this code of the recorder's? */
bool alone_is_own(uintptr_t pc);

/* Around a fork, and at the end of a thread: what was asked for by loader_at_fork and
 * loader_key_create. */
void alone_before_fork(void);
void alone_after_fork(bool is_child);
void alone_thread_ends(void);

#endif
