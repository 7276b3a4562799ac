/* text.h: small questions about texts. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool text_ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && memcmp(text + n - m, end, m) == 0;
}

/* Makes the byte of each %XX, in place; returns the size. %00 stays as it is, so that no text ends
 * before its end. */
size_t text_decode_percent(char *text);

#endif
