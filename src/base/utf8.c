/* utf8.c: valid sequences are those of Unicode's table 3-7: not overlong, no surrogates, nothing
 * above U+10FFFF. A byte that begins no valid sequence counts as one character. */
#include "base/utf8.h"

#include <stdint.h>
#include <wchar.h>

/* Returns the size of the character at `text`, which has `size` bytes and may lack a NUL; 0 if it
 * is invalid. */
static size_t size_within(const char *text, size_t size) {
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80)
        return 1;
    const size_t n = s[0] >= 0xC2 && s[0] <= 0xDF   ? 2
                     : s[0] >= 0xE0 && s[0] <= 0xEF ? 3
                     : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4
                                                    : 0;
    for (size_t i = 1; i < n; i++)
        if (i >= size || !utf8_continues(text[i])) /* also false for the NUL */
            return 0;
    const bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    const bool beyond = (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F);
    return overlong || beyond ? 0 : n;
}

size_t utf8_size(const char *text) {
    return size_within(text, SIZE_MAX);
}

const char *utf8_next(const char *s) {
    return utf8_next_within(s, NULL);
}

const char *utf8_next_within(const char *s, const char *end) {
    do
        s++;
    while (s != end && utf8_continues(*s));
    return s;
}

size_t utf8_count(const char *text, size_t size) {
    size_t n = 0;
    for (size_t i = 0; i < size; i++)
        n += !utf8_continues(text[i]);
    return n;
}

/* Returns the code point of a valid character of `n` bytes. */
static wchar_t code_point(const char *s, size_t n) {
    static const unsigned char first[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    wchar_t c = (unsigned char)s[0] & first[n];
    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)s[i] & 0x3F);
    return c;
}

size_t utf8_columns(const char *text, size_t size) {
    const char *end = text + size;
    size_t columns = 0;
    while (text < end) {
        const size_t n = (unsigned char)*text < 0x80 ? 1 : size_within(text, (size_t)(end - text));
        const int width = n > 1 ? wcwidth(code_point(text, n)) : 1;
        columns += width >= 0 ? (size_t)width : 1;
        text += n ? n : 1;
    }
    return columns;
}
