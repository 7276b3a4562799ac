/* pages.h: zeroed memory straight from the kernel, for code that runs inside somebody's malloc.
 * No state, no locks, errno kept; safe in a signal handler. Sizes are rounded up to whole pages:
 * ask for much at once. Untouched pages cost no memory. */
#ifndef PLATFORM_PAGES_H
#define PLATFORM_PAGES_H

#include <stddef.h>

/* The size of a page of this machine. */
size_t pages_unit(void);

/* NULL if there is no memory, or if `size` is 0. */
void *pages_alloc(size_t size);

/* `size` is that of the allocation. NULL is ignored. */
void pages_free(void *memory, size_t size);

/* Makes whole pages of an allocation zero again, by giving their memory back. */
void pages_clear(void *memory, size_t size);

/* Grows or shrinks, moving if it must; new bytes beyond the old pages are zero. `memory` may be
 * NULL. On failure gives NULL and leaves the old memory as it was. */
void *pages_realloc(void *memory, size_t old_size, size_t new_size);

#endif
