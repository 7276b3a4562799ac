/* dwarf_reader.h: reads the primitive types of DWARF from a bounded piece of memory. Reading past
 * the end gives zeros and sets `bad`, which is never cleared. */
#ifndef PLATFORM_DWARF_READER_H
#define PLATFORM_DWARF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dwarf_reader {
    const uint8_t *at, *end;
    bool bad;
};

static inline void dwarf_read(struct dwarf_reader *r, void *out, size_t size) {
    if ((size_t)(r->end - r->at) < size) {
        r->bad = true;
        r->at = r->end;
        memset(out, 0, size);
        return;
    }
    memcpy(out, r->at, size);
    r->at += size;
}

#define DWARF_READER(name, type)                                                                   \
    static inline type name(struct dwarf_reader *r) {                                              \
        type value;                                                                                \
        dwarf_read(r, &value, sizeof value);                                                       \
        return value;                                                                              \
    }
DWARF_READER(dwarf_u8, uint8_t)
DWARF_READER(dwarf_u16, uint16_t)
DWARF_READER(dwarf_u32, uint32_t)
DWARF_READER(dwarf_u64, uint64_t)
DWARF_READER(dwarf_s8, int8_t)
DWARF_READER(dwarf_s16, int16_t)
DWARF_READER(dwarf_s32, int32_t)
DWARF_READER(dwarf_s64, int64_t)
#undef DWARF_READER

static inline bool dwarf_more(const struct dwarf_reader *r) {
    return !r->bad && r->at < r->end;
}

/* Reads a LEB128 number. Bits after the 64th are dropped. */
static inline uint64_t dwarf_leb(struct dwarf_reader *r, bool is_signed) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = dwarf_u8(r);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7F) << shift;
        shift += 7;
    } while (byte & 0x80 && !r->bad);
    if (is_signed && byte & 0x40 && shift < 64)
        value |= UINT64_MAX << shift;
    return value;
}

static inline uint64_t dwarf_uleb(struct dwarf_reader *r) {
    return dwarf_leb(r, false);
}

static inline int64_t dwarf_sleb(struct dwarf_reader *r) {
    return (int64_t)dwarf_leb(r, true);
}

/* Returns the next `size` bytes as a block of their own. If they do not fit, the block is empty and
 * `bad` is set. */
static inline struct dwarf_reader dwarf_block(struct dwarf_reader *r, uint64_t size) {
    if (size > (uint64_t)(r->end - r->at)) {
        r->bad = true;
        r->at = r->end;
        size = 0;
    }
    struct dwarf_reader block = {.at = r->at, .end = r->at, .bad = r->bad};
    if (size > 0) /* `at` is NULL in an empty reader */
        block.end = r->at += size;
    return block;
}

#endif
