/* imports.h: allocators in shared libraries that a program calls by names of their own: mi_malloc
 * of libmimalloc, tc_malloc of libtcmalloc, mallocx of libjemalloc, scalable_malloc of
 * libtbbmalloc. This module finds the replacement for the entry, in a module's global offset table,
 * through which such a function is called. late.c writes the replacements, both in starting
 * programs and in running ones.
 * Problem. If the recorder exported these names, programs that test by them whether the allocator
 * is present would be misled. If the library's code were changed, blocks would be counted twice:
 * mi_malloc and malloc are one function, and other functions of the library call it.
 * Approach. The library stays unchanged, and its internal calls are not seen. Calls from other
 * modules are redirected to the recorder. A module that exports a malloc is left alone, because its
 * calls to the allocator serve calls of that malloc. */
#ifndef RECORD_IMPORTS_H
#define RECORD_IMPORTS_H

#include <stdbool.h>

#include "platform/entries.h"

/* Looks for libraries with such functions. With `late`, also looks for operators of C++ in a
 * library that has a malloc, because the recorder's operators do not preempt those. Must be called
 * before a recording begins, and again to find libraries that were loaded since. If the first call
 * finds none, later calls find none either, because the recording relies on how close blocks can
 * be. All functions here must be called by one thread at a time. */
void imports_look(bool late);

/* Returns whether any were found. */
bool imports_any(void);

/* Returns the function that is to replace an entry of module `m`; NULL: the entry stays. */
void *imports_replacement(const struct module *m, const struct entries *entries, const char *name,
                          void *const *slot);

/* Returns whether the function is such a replacement. */
bool imports_is_replacement(const void *function);

#endif
