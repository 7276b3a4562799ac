/* names.h: the names of functions that language runtimes give to frames: a table of pairs of file
 * and function, which are copied when a frame is first met, since the program may free what it
 * calls them by. It only grows: equal names have one entry, and an entry never changes. */
#ifndef RUNTIMES_NAMES_H
#define RUNTIMES_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NAMES_BITS = 19 /* of an entry's number */,
    NAMES_TEXT = 4096 /* bytes of a name, NUL too */
};

/* Whoever adds to the table, or to one beside it, holds the lock. False: somebody has it who may
 * not come back. */
bool names_lock(void);
void names_unlock(void);

/* Room for a file and a function, 2 * NAMES_TEXT bytes; NULL: there is no memory. */
char *names_room(void);

/* The entry of a file, which stands at names_room, and the function behind it, `size` bytes in all.
 * 0, which stands for all that found no room: there is none. */
uint32_t names_entry(const char *file, const char *function, size_t size);

/* The same for texts that stand elsewhere, and are cut; with the lock held, too. */
uint32_t names_entry_of(const char *file, const char *function);

/* Without the lock: an entry's names live as long as the process. */
const char *names_file(uint32_t entry);
const char *names_function(uint32_t entry);

#endif
