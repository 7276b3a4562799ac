/* number.h: decimal numbers: digits, a point, an exponent. Rejects what else strtod accepts
 * (blanks, signs, 0x10, inf, nan). Depends on the locale, which the commands leave at "C". */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns how many bytes at the start of `text` are a number, such as `12`, `.5` or `1e-5`, and
 * sets its value, which may be infinite. Returns 0 if there is none, and leaves `*value`
 * unchanged. */
size_t number_read(const char *text, double *value);

/* Whether all of `text` is a finite number. */
bool number_parse(const char *text, double *value);

typedef enum number_whole {
    NUMBER_WHOLE,
    NUMBER_NOT_WHOLE, /* contains something other than digits */
    NUMBER_TOO_LARGE  /* exceeds 64 bits */
} number_whole;

/* Parses all of `text`. Sets `*value` for NUMBER_WHOLE only. */
number_whole number_parse_whole(const char *text, uint64_t *value);

#endif
