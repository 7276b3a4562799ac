/* intern.h: stores each distinct string once, so that equal strings are the same pointer.
 *
 * Strings live until intern_free. Single-threaded. */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stddef.h>

#include "base/arena.h"

/* Valid when zeroed. */
typedef struct intern_table {
    const char **slots; /* NULL: empty */
    size_t n_slots;     /* a power of two */
    size_t count;
    arena strings;
} intern_table;

/* Returns the single copy of `size` bytes, NUL-terminated, or NULL when there is no memory. The
 * bytes must not contain a NUL. */
const char *intern(intern_table *t, const char *s, size_t size);

void intern_free(intern_table *t);

#endif
