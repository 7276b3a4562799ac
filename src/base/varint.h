/* varint.h: integers with seven bits per byte, lowest first (LEB128, as in protocol buffers). */
#ifndef BASE_VARINT_H
#define BASE_VARINT_H

#include <stdint.h>

typedef enum varint_result {
    VARINT_OK,
    VARINT_CUT, /* the text ends within the number */
    VARINT_LONG /* the number does not fit into 64 bits */
} varint_result;

/* Reads the number at `*at`. Moves `*at` past it, or to where the error is. */
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

/* Decodes a signed number, zigzag-encoded: 0, -1, 1, -2, … */
static inline int64_t varint_signed(uint64_t n) {
    return (int64_t)(n >> 1 ^ (n & 1 ? UINT64_MAX : 0));
}

#endif
