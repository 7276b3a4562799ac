/* thread_local.h: where a thread-local variable of the program's is, in any thread, without dlsym,
 * which would give the asking thread memory for it.
 *
 * The objects that are loaded are found in the loader's list, and the variable by the symbols that
 * they export. Where it is in a thread says the C library: glibc describes its own data for
 * debuggers (libthread_db). No memory, errno kept.
 *
 * Mostly without the loader's lock either, which who waits for us may hold; then the kernel reads
 * all of it, as memory that may go at any moment. With another C library, in static programs, or
 * where glibc does not describe itself, there are no variables. */
#ifndef PLATFORM_THREAD_LOCAL_H
#define PLATFORM_THREAD_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/pages_seen.h"

/* Of one variable, in all threads. */
typedef uint64_t thread_local_place;

enum { THREAD_LOCAL_MOST = 4 };

/* The variables of one name, in the order in which the objects that have them were loaded. Legal
 * when zeroed: none was looked for. */
struct thread_local_found {
    thread_local_place places[THREAD_LOCAL_MOST];
    /* Where the loader will say that it has given the variable a fixed place in each thread, when
     * it binds the object's code; 0: it has decided. */
    uintptr_t undecided[THREAD_LOCAL_MOST];
    size_t n;
    uintptr_t last; /* object that was looked at; 0: none */
};

/* Looks at all objects, while the loader holds still. */
void thread_local_find(const char *name, struct thread_local_found *found);

/* The same at those that were loaded since, or at all if none was looked at, or those that were are
 * gone; takes no lock. Nothing is found where /proc is not to be had. */
void thread_local_find_more(const char *name, struct thread_local_found *found);

/* Whether that would find something new, perhaps; a glance. */
bool thread_local_is_more(const struct thread_local_found *found);

/* Reads the calling thread's, which is a pointer. NULL also if the thread has no such variable yet.
 */
uintptr_t thread_local_pointer(thread_local_place place, struct pages_seen *seen);

#endif
