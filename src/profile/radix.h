/* radix.h: sorts large arrays by a number, digit by digit from the lowest. The sort is stable.
 *
 *   static size_t digit_of(const void *thing, unsigned shift) {
 *       return radix_digit(((const thing *)thing)->time, shift);
 *   }
 *   sorted = radix_sort(things, other, n, sizeof *things, radix_bits(most), digit_of);
 */
#ifndef PROFILE_RADIX_H
#define PROFILE_RADIX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/inline.h"

enum { RADIX_DIGIT_BITS = 11, RADIX_DIGITS = 1 << RADIX_DIGIT_BITS };

/* Returns the digit of a thing's number that begins at bit `shift`. */
typedef size_t radix_digit_of(const void *thing, unsigned shift);

static inline size_t radix_digit(uint64_t number, unsigned shift) {
    return (size_t)(number >> shift) % RADIX_DIGITS;
}

/* Returns how many bits a number has. */
static inline unsigned radix_bits(uint64_t number) {
    return number ? 64 - (unsigned)__builtin_clzll(number) : 0;
}

/* Returns the sorted things, which are then in `things` or in `other`, which has as much room.
 * Inlined so that size and digit are constants. */
static ALWAYS_INLINE void *radix_sort(void *things, void *other, size_t n, size_t size,
                                      unsigned bits, radix_digit_of *digit_of) {
    char *from = things, *to = other;
    for (unsigned shift = 0; shift < bits; shift += RADIX_DIGIT_BITS) {
        size_t next[RADIX_DIGITS] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++)
            next[digit_of(from + i * size, shift)]++;
        if (n == 0 || next[digit_of(from, shift)] == n)
            continue; /* all have the same digit */
        for (size_t d = 0; d < RADIX_DIGITS; d++) {
            const size_t begin = sum;
            sum += next[d];
            next[d] = begin;
        }
        for (size_t i = 0; i < n; i++)
            memcpy(to + next[digit_of(from + i * size, shift)]++ * size, from + i * size, size);
        char *sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

#endif
