/* number.h: numbers as people write them: decimal digits, a point, an exponent. Not what else
 * strtod takes (blanks, signs, 0x10, inf, nan). In the program's locale, which the commands leave
 * alone. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes at the start of `text` are a number, `12`, `.5`, `1e-5`; its value, which may be
 * infinite. 0: none, and `*value` is as before. */
size_t number_read(const char *text, double *value);

/* Whether all of `text` is a number, and a finite one. */
bool number_parse(const char *text, double *value);

typedef enum number_whole {
    NUMBER_WHOLE,
    NUMBER_NOT_WHOLE, /* something else than digits */
    NUMBER_TOO_LARGE  /* for 64 bits */
} number_whole;

/* Reads all of `text`; `*value` is set for NUMBER_WHOLE alone. */
number_whole number_parse_whole(const char *text, uint64_t *value);

#endif
