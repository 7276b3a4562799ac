/* bytes.h: little-endian integers and vints, read byte by byte.
 *
 * Nothing here checks bounds. The caller checks afterwards whether it has gone past the end, in
 * memory that may be read INPUT_SLACK bytes beyond the end (see input.h). That is one branch per
 * record instead of one per field. Compilers turn each of these functions into a single load. */
#ifndef TRACE_BYTES_H
#define TRACE_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

static inline uint16_t bytes_u16(const uint8_t *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t bytes_u32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t bytes_u64(const uint8_t *p) {
    return (uint64_t)bytes_u32(p) | (uint64_t)bytes_u32(p + 4) << 32;
}

/* Reads the bytes after the first of a vint longer than u16. */
static inline const uint8_t *bytes_vint_tail(const uint8_t *p, uint8_t head, uint64_t *value) {
    switch (head) {
    case FORMAT_VINT_32:
        *value = (uint64_t)(int64_t)(int32_t)bytes_u32(p);
        return p + 4;
    default:
        *value = bytes_u64(p);
        return p + 8;
    }
}

/* Reads a vint, sign-extended, and returns the start of the next field. Which of the two short
 * forms comes next is unpredictable, so the choice is not a branch. */
static inline const uint8_t *bytes_vint(const uint8_t *p, uint64_t *value) {
    uint8_t head = *p++;
    if (__builtin_expect(head <= FORMAT_VINT_16, 1)) {
        bool wide = head == FORMAT_VINT_16;
        *value = wide ? bytes_u16(p) : head;
        return p + (wide ? 2 : 0);
    }
    return bytes_vint_tail(p, head, value);
}

#endif
