/* number.c: finds the extent of a number first, by its form, and then passes it to strtod. */
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789";

static size_t number_size(const char *text) {
    size_t whole = strspn(text, digits), size = whole, fraction = 0;
    if (text[size] == '.') {
        fraction = strspn(text + size + 1, digits);
        if (whole + fraction > 0)
            size += 1 + fraction;
    }
    if (whole + fraction == 0)
        return 0;
    if (text[size] == 'e' || text[size] == 'E') {
        size_t sign = text[size + 1] == '-' || text[size + 1] == '+';
        size_t exponent = strspn(text + size + 1 + sign, digits);
        if (exponent > 0)
            size += 1 + sign + exponent;
    }
    return size;
}

size_t number_read(const char *text, double *value) {
    size_t size = number_size(text);
    if (size == 0)
        return 0;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        *value = 0; /* strtod would read a hexadecimal number */
    else
        *value = strtod(text, NULL);
    return size;
}

bool number_parse(const char *text, double *value) {
    double number;
    size_t size = number_read(text, &number);
    if (size == 0 || text[size] || !isfinite(number))
        return false;
    *value = number;
    return true;
}

number_whole number_parse_whole(const char *text, uint64_t *value) {
    if (!*text || text[strspn(text, digits)])
        return NUMBER_NOT_WHOLE;
    errno = 0;
    uint64_t number = strtoull(text, NULL, 10);
    if (errno)
        return NUMBER_TOO_LARGE;
    *value = number;
    return NUMBER_WHOLE;
}
