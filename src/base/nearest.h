/* nearest.h: finds the known name that a mistyped word probably means. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/* Returns the number of letters to insert, delete, replace or swap; SIZE_MAX if a word is too
 * long. */
size_t nearest_distance(const char *a, const char *b);

typedef const char *nearest_known(const void *context, size_t i);

/* Returns the one of `n` known words that the first `size` bytes of `text` probably mean: it begins
 * with them, or is at most two letters away, ignoring case. Returns NULL if there is none. */
const char *nearest_name(const char *text, size_t size, nearest_known *known, const void *context,
                         size_t n);

#endif
