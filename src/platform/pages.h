/* pages.h: zeroed memory straight from the kernel, for code that runs inside a program's malloc. No
 * state, no locks, errno kept; safe in a signal handler. Sizes are rounded up to whole pages, so
 * callers should ask for much at once. Untouched pages cost no memory. */
#ifndef PLATFORM_PAGES_H
#define PLATFORM_PAGES_H

#include <stddef.h>

/* Returns the page size of this machine, bytes. */
size_t pages_unit(void);

/* Returns NULL if there is no memory, or if `size` is 0. */
void *pages_alloc(size_t size);

/* `size` is the size of the allocation. NULL is ignored. */
void pages_free(void *memory, size_t size);

/* Zeroes whole pages of an allocation by giving their memory back to the kernel. */
void pages_clear(void *memory, size_t size);

/* Grows or shrinks an allocation, moving it if necessary. New bytes after the old pages are zero.
 * `memory` may be NULL. On failure returns NULL and leaves the old memory unchanged. */
void *pages_realloc(void *memory, size_t old_size, size_t new_size);

#endif
