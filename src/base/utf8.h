/* utf8.h: characters of UTF-8, in text that may be invalid. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the byte continues a character, rather than beginning one. */
static inline bool utf8_continues(char byte) {
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Returns the size of the valid character at `s` in bytes; 0 if it is invalid; 1 at the end of the
 * string. */
size_t utf8_size(const char *s);

/* Returns the position after the character at `s`, valid or not. The string must not be empty. */
const char *utf8_next(const char *s);

/* Like utf8_next, for text that ends at `end` rather than with a NUL. */
const char *utf8_next_within(const char *s, const char *end);

/* Returns how many of the first `size` bytes of a longer text are whole characters. */
static inline size_t utf8_whole(const char *text, size_t size) {
    while (size > 0 && utf8_continues(text[size]))
        size--;
    return size;
}

/* Counts the characters in `size` bytes. */
size_t utf8_count(const char *text, size_t size);

/* Returns the width in columns of a terminal. If LC_CTYPE is UTF-8, wide characters count as two
 * and combining ones as none; otherwise each character counts as one. */
size_t utf8_columns(const char *text, size_t size);

#endif
