/* text.c: a percent sign that is not followed by two hexadecimal digits is left as it is. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

char *text_format(const char *format, ...) {
    char *text;
    va_list arguments;
    va_start(arguments, format);
    const int n = vasprintf(&text, format, arguments);
    va_end(arguments);
    return n < 0 ? NULL : text;
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

size_t text_decode_percent(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        const int high = *from == '%' ? hex_digit(from[1]) : -1;
        const int low = high >= 0 ? hex_digit(from[2]) : -1;
        const bool decodes = low >= 0 && (high || low);
        *to++ = decodes ? (char)(high << 4 | low) : *from;
        from += decodes ? 2 : 0;
    }
    *to = '\0';
    return (size_t)(to - text);
}
