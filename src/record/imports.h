/* imports.h: allocators in shared libraries that a program calls by names of their own: mi_malloc
 * of libmimalloc, tc_malloc of libtcmalloc, mallocx of libjemalloc, scalable_malloc of
 * libtbbmalloc. Says what is to stand in the entry of a module's global offset table by which it
 * calls such a function; late.c puts it there, in programs that start and in those that run
 * already.
 *
 * Problem. To export these names from the recorder would lie to programs that ask by them whether
 * the allocator is there. To change the library's code would count blocks twice: mi_malloc and
 * malloc are one function, by which others of the library's are made.
 *
 * Way. The library stays as it is, and what it calls itself is not seen. The modules that call it
 * are led here, but not one that has a malloc: what it calls in there, its malloc was called for.
 */
#ifndef RECORD_IMPORTS_H
#define RECORD_IMPORTS_H

#include <stdbool.h>

#include "platform/entries.h"

/* Looks for libraries that have such functions; `late`: also for operators of C++ beside a malloc,
 * where none of ours stand before them. To be called before a recording begins, and again to find
 * what was loaded meanwhile: but where there was none at first, none is found later, as a recording
 * counts on how near to each other blocks can be. By one thread at a time, as all of these. */
void imports_look(bool late);

/* Are there any? */
bool imports_any(void);

/* What is to stand in an entry of module `m`, or NULL: that stays. */
void *imports_replacement(const struct module *m, const struct entries *entries, const char *name,
                          void *const *slot);

/* Is it one of those? */
bool imports_is_replacement(const void *function);

#endif
