/* nearest.h: which known name somebody may have meant who mistyped it. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/* How alike two words are: the number of letters to insert, delete, replace or swap; SIZE_MAX if
 * one is too long. */
size_t nearest_distance(const char *a, const char *b);

typedef const char *nearest_known(const void *context, size_t i);

/* Of `n` known words, the one that was likely meant by the first `size` bytes of a text: which
 * begins with them, or is two letters away at most, in any case of letters; NULL: none. */
const char *nearest_name(const char *text, size_t size, nearest_known *known, const void *context,
                         size_t n);

#endif
