/* writer_put.h: writes little-endian integers, and structures made of them. Each function returns
 * the position after what it wrote. The caller must make sure that there is room. */
#ifndef TRACE_WRITER_PUT_H
#define TRACE_WRITER_PUT_H

#include <stdint.h>
#include <string.h>

#include "trace/format.h"
#include "trace/packet.h"

static inline uint8_t *put_u8(uint8_t *p, uint8_t v) {
    *p = v;
    return p + 1;
}

/* On little-endian machines, compilers turn each of these into a single store. */
#define PUT_LITTLE_ENDIAN(name, type)                                                              \
    static inline uint8_t *name(uint8_t *p, type v) {                                              \
        for (unsigned i = 0; i < sizeof v && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__; i++)       \
            p[i] = (uint8_t)(v >> 8 * i);                                                          \
        if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)                                             \
            memcpy(p, &v, sizeof v);                                                               \
        return p + sizeof v;                                                                       \
    }
PUT_LITTLE_ENDIAN(put_u16, uint16_t)
PUT_LITTLE_ENDIAN(put_u32, uint32_t)
PUT_LITTLE_ENDIAN(put_u64, uint64_t)

static inline uint8_t *put_vint(uint8_t *p, int64_t v) {
    if (v >= 0 && v <= FORMAT_VINT_MAX_BYTE)
        return put_u8(p, (uint8_t)v);
    if (v >= 0 && v <= UINT16_MAX)
        return put_u16(put_u8(p, FORMAT_VINT_16), (uint16_t)v);
    if (v >= INT32_MIN && v <= INT32_MAX)
        return put_u32(put_u8(p, FORMAT_VINT_32), (uint32_t)v);
    return put_u64(put_u8(p, FORMAT_VINT_64), (uint64_t)v);
}

/* Writes `size` bytes, which contain no NUL, and a NUL. */
static inline uint8_t *put_string(uint8_t *p, const char *s, size_t size) {
    memcpy(p, s, size);
    return put_u8(p + size, 0);
}

static inline uint8_t *put_event_header(uint8_t *p, unsigned code, uint64_t time) {
    const uint32_t low = (uint32_t)time & ((UINT32_C(1) << FORMAT_TIME_BITS) - 1);
    return put_u32(p, low | (uint32_t)code << FORMAT_TIME_BITS);
}

/* Writes the header that packet_parse decodes. */
static inline uint8_t *put_packet_header(uint8_t *p, const packet_header *h) {
    p = put_u32(p, FORMAT_MAGIC);
    p = put_u32(p, h->packet.size * 8);
    p = put_u64(p, h->packet.time_begin);
    p = put_u64(p, h->packet.time_end);
    p = put_u32(p, 0); /* flush duration */
    p = put_u16(p, h->version);
    p = put_u64(p, h->packet.pid);
    if (h->version >= 3)
        p = put_u16(p, h->packet.domain);
    p = put_u16(p, h->verify_bucket);
    p = put_u16(p, h->verify_prediction);
    p = put_u64(p, h->verify_code);
    p = put_u64(p, h->packet.id_begin);
    return put_u64(p, h->packet.id_end);
}

#endif
