/* utf8.h: characters in UTF-8, of texts that may be none. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it is not the first byte of a character. */
static inline bool utf8_continues(char byte) {
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* The bytes of the valid character at `s`; 0: there is none. At the end of a string, 1. */
size_t utf8_size(const char *s);

/* Behind the character at `s`, which is not empty, well formed or not. */
const char *utf8_next(const char *s);

/* The same of text that ends at `end` instead of with a NUL. */
const char *utf8_next_within(const char *s, const char *end);

/* How many of the first `size` bytes of a longer text are whole characters. */
static inline size_t utf8_whole(const char *text, size_t size) {
    while (size > 0 && utf8_continues(text[size]))
        size--;
    return size;
}

/* Characters in `size` bytes; what is none counts as one. */
size_t utf8_count(const char *text, size_t size);

/* The columns of a terminal that they take: two for wide characters, none for those that combine
 * with others, where LC_CTYPE is of UTF-8; else one each. */
size_t utf8_columns(const char *text, size_t size);

#endif
