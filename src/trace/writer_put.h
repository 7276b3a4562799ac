/* writer_put.h: little-endian integers into bytes. Each function returns the place after what it
 * wrote; that there is room is the caller's business. */
#ifndef TRACE_WRITER_PUT_H
#define TRACE_WRITER_PUT_H

#include <stdint.h>
#include <string.h>

#include "trace/format.h"

static inline uint8_t *put_u8(uint8_t *p, uint8_t v) {
    *p = v;
    return p + 1;
}

static inline uint8_t *put_u16(uint8_t *p, uint16_t v) {
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    return p + 2;
}

static inline uint8_t *put_u32(uint8_t *p, uint32_t v) {
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
    return p + 4;
}

static inline uint8_t *put_u64(uint8_t *p, uint64_t v) {
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
    p[4] = (uint8_t)(v >> 32);
    p[5] = (uint8_t)(v >> 40);
    p[6] = (uint8_t)(v >> 48);
    p[7] = (uint8_t)(v >> 56);
    return p + 8;
}

static inline uint8_t *put_vint(uint8_t *p, int64_t v) {
    if (v >= 0 && v <= FORMAT_VINT_MAX_BYTE)
        return put_u8(p, (uint8_t)v);
    if (v >= 0 && v <= UINT16_MAX)
        return put_u16(put_u8(p, FORMAT_VINT_16), (uint16_t)v);
    if (v >= INT32_MIN && v <= INT32_MAX)
        return put_u32(put_u8(p, FORMAT_VINT_32), (uint32_t)v);
    return put_u64(put_u8(p, FORMAT_VINT_64), (uint64_t)v);
}

/* `size` bytes without any NUL, and a NUL. */
static inline uint8_t *put_string(uint8_t *p, const char *s, size_t size) {
    memcpy(p, s, size);
    return put_u8(p + size, 0);
}

#endif
