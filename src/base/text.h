/* text.h: small functions on strings. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool text_ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && memcmp(text + n - m, end, m) == 0;
}

/* Returns a text made as printf would print it. The caller frees it. Returns NULL when there is no
 * memory. */
__attribute__((format(printf, 1, 2))) char *text_format(const char *format, ...);

/* Decodes each %XX in place, and returns the new size. %00 is left as it is, since it would end the
 * string early. */
size_t text_decode_percent(char *text);

#endif
