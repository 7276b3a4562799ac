/* short_name.h: shortens names that are too long for the format.
 *
 * A name is shortened within its template arguments and parameters, the innermost first, never at
 * its ends: `void f<A, B<…9f2c01b7d4e5a613…>>(…)`. The number is a hash of the whole name, so that
 * different names stay different when shortened, and equal names are shortened equally in all
 * traces and builds. A name without brackets, such as a mangled one, loses its middle. Allocates no
 * memory. */
#ifndef TRACE_SHORT_NAME_H
#define TRACE_SHORT_NAME_H

#include <stddef.h>

enum { SHORT_NAME_LEAST = 60 /* bytes: the lowest limit that may be passed */ };

/* Returns the size of a name of `size` bytes when shortened to at most `limit` bytes. */
size_t short_name_size(const char *name, size_t size, size_t limit);

/* Writes the shortened name, without a NUL, and returns the position after it. */
char *short_name_put(char *out, const char *name, size_t size, size_t limit);

#endif
