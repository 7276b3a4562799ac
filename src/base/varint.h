/* varint.h: whole numbers of seven bits a byte, the lowest first (LEB128, protocol buffers). */
#ifndef BASE_VARINT_H
#define BASE_VARINT_H

#include <stdint.h>

typedef enum varint_result {
    VARINT_OK,
    VARINT_CUT, /* the text ends first */
    VARINT_LONG /* it has more bytes than a number of 64 bits takes */
} varint_result;

/* Reads the number at `*at`, which moves behind it, or to where it went wrong. */
static inline varint_result varint_read(const uint8_t **at, const uint8_t *end, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (*at >= end)
            return VARINT_CUT;
        const uint8_t byte = *(*at)++;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return VARINT_OK;
    }
    return VARINT_LONG;
}

/* A number of either sign, small ones in few bits: 0, -1, 1, -2, … */
static inline int64_t varint_signed(uint64_t n) {
    return (int64_t)(n >> 1 ^ (n & 1 ? UINT64_MAX : 0));
}

#endif
