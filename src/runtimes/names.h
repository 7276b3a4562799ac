/* names.h: the table of the names that language runtimes give to frames, as pairs of file and
 * function. Names are copied when a frame is first met, because the program may free them. The
 * table only grows: equal names share one entry, and an entry never changes. */
#ifndef RUNTIMES_NAMES_H
#define RUNTIMES_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NAMES_BITS = 19 /* width of an entry's number */,
    NAMES_TEXT = 4096 /* bytes of a name, with its NUL */
};

/* Take and release the lock that is needed to add to this table, or to one that depends on it.
 * False: its holder may never release it. */
bool names_lock(void);
void names_unlock(void);

/* Returns room for a file and a function, 2 * NAMES_TEXT bytes; NULL: out of memory. */
char *names_room(void);

/* Returns the entry of a file and a function. `file` is what names_room returned, `function`
 * follows it, and both are `size` bytes in all. 0 is the entry of all names for which there is no
 * room. */
uint32_t names_entry(const char *file, const char *function, size_t size);

/* Like names_entry, also with the lock held, but takes any two texts, and truncates them. */
uint32_t names_entry_of(const char *file, const char *function);

/* Need no lock: the names of an entry live as long as the process. */
const char *names_file(uint32_t entry);
const char *names_function(uint32_t entry);

#endif
