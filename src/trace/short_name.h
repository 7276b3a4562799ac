/* short_name.h: names too long for the format, as traces have them.
 *
 * A name is shortened within its template arguments and parameters, the innermost first, never at
 * its ends: `void f<A, B<…9f2c01b7d4e5a613…>>(…)`. The number is a hash of the whole name, so that
 * names which differ anywhere differ when they are short, in each trace of each build alike. A name
 * without brackets, a mangled one for instance, loses its middle. Takes no memory. */
#ifndef TRACE_SHORT_NAME_H
#define TRACE_SHORT_NAME_H

#include <stddef.h>

enum { SHORT_NAME_LEAST = 60 /* the lowest limit that may be asked for, in bytes */ };

/* The size of a name of `size` bytes in at most `limit`. */
size_t short_name_size(const char *name, size_t size, size_t limit);

/* Writes it, without a NUL, and returns the place after it. */
char *short_name_put(char *out, const char *name, size_t size, size_t limit);

#endif
