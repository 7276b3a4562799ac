/* thread_local.h: finds a thread-local variable of the program in any thread, without dlsym, which
 * would allocate the variable in the calling thread.
 * Objects are found in the loader's list, and the variable by the symbols that the objects export.
 * glibc describes where it keeps thread-local data, for debuggers (libthread_db); this code uses
 * that description. Allocates nothing, keeps errno.
 * thread_local_find_more does not take the loader's lock, because a thread that holds it may be
 * waiting for the caller. It reads all memory through the kernel, since any of it may be unmapped
 * at any moment. With another C library, in static programs, or where glibc does not describe
 * itself, no variables are found. */
#ifndef PLATFORM_THREAD_LOCAL_H
#define PLATFORM_THREAD_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/pages_seen.h"

/* The place of one variable, valid in all threads. */
typedef uint64_t thread_local_place;

enum { THREAD_LOCAL_MOST = 4 };

/* The variables of one name, in the order in which their objects were loaded. Valid when zeroed: no
 * search has been made. */
struct thread_local_found {
    thread_local_place places[THREAD_LOCAL_MOST];
    /* Address of the word in which the loader will say that it has given the variable a fixed place
     * in each thread. It does so when it binds the object's code. 0: it has decided. */
    uintptr_t undecided[THREAD_LOCAL_MOST];
    size_t n;
    uintptr_t last; /* the object searched last; 0: none */
};

/* Searches all objects, with the loader's lock held. */
void thread_local_find(const char *name, struct thread_local_found *found);

/* Searches the objects that were loaded since the last search, and takes no lock. Searches all of
 * them if there was no search or if an object found then is gone. Finds nothing without /proc. */
void thread_local_find_more(const char *name, struct thread_local_found *found);

/* Returns whether thread_local_find_more might find something new. Cheap. */
bool thread_local_is_more(const struct thread_local_found *found);

/* Reads the calling thread's variable, which is a pointer. Returns 0 also if the thread has no such
 * variable yet. */
uintptr_t thread_local_pointer(thread_local_place place, struct pages_seen *seen);

#endif
