/* parquet_encode.c: runs and bit-packed groups (RLE), blocks of differences (DELTA_BINARY_PACKED),
 * and plain values, according to the format's Encodings.md. */
#include "export/parquet_encode.h"

#include <stdlib.h>
#include <string.h>

#include "export/thrift.h"

enum {
    GROUP = 8,   /* numbers that are packed together */
    BLOCK = 128, /* differences in a block, which has a minimum */
    PART = 32,   /* differences in a part of a block, which has a bit width */
    PARTS = BLOCK / PART,
};

unsigned parquet_width(uint64_t most) {
    return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}

static void put_little(output *o, uint64_t value, size_t size) {
    char *to = output_room(o, size);
    if (!to)
        return;
    for (size_t i = 0; i < size; i++)
        to[i] = (char)(value >> 8 * i);
    o->used += size;
}

/* ---- bits -------------------------------------------------------------------------------- */

/* Packs numbers of `width` bits without gaps, starting at the lowest bit of the first byte. */
typedef struct packing {
    output *o;
    uint64_t held; /* bits that do not fill a byte yet */
    unsigned n;    /* number of `held` bits, below 8 between numbers */
} packing;

static void pack_byte(packing *p) {
    output_char(p->o, (char)p->held);
    p->held >>= 8;
    p->n -= 8;
}

/* Packs at most 32 bits: 7 bits may be held already, and a number may have 64. */
static void pack_half(packing *p, uint64_t value, unsigned width) {
    p->held |= value << p->n;
    p->n += width;
    while (p->n >= 8)
        pack_byte(p);
}

static void pack(packing *p, uint64_t value, unsigned width) {
    if (width > 32) {
        pack_half(p, value & UINT32_MAX, 32);
        pack_half(p, value >> 32, width - 32);
    } else if (width) {
        pack_half(p, value, width);
    }
}

/* ---- runs -------------------------------------------------------------------------------- */

/* Returns how many values at the beginning are equal. */
static size_t run_of(const uint32_t *values, size_t n, size_t most) {
    size_t i = 1;
    while (i < n && i < most && values[i] == values[0])
        i++;
    return i;
}

static void put_run(output *o, uint32_t value, size_t n, unsigned width) {
    output_varint(o, (uint64_t)n << 1);
    put_little(o, value, (width + 7) / 8);
}

/* Writes packed groups. The last group is padded with zeros. */
static void put_groups(output *o, const uint32_t *values, size_t n, unsigned width) {
    const size_t groups = (n + GROUP - 1) / GROUP;
    packing p = {.o = o};
    output_varint(o, (uint64_t)groups << 1 | 1);
    for (size_t i = 0; i < groups * GROUP; i++)
        pack(&p, i < n ? values[i] : 0, width);
}

/* Returns the end of the groups that are not runs. */
static size_t groups_at(const uint32_t *values, size_t n) {
    size_t end = 0;
    while (end < n && run_of(values + end, n - end, GROUP) < GROUP)
        end += GROUP;
    return end < n ? end : n;
}

void parquet_encode_runs(output *o, const uint32_t *values, size_t n, unsigned width) {
    for (size_t at = 0; at < n;) {
        const size_t run = run_of(values + at, n - at, n);
        size_t taken = run;
        if (run >= GROUP)
            put_run(o, values[at], run, width);
        else
            put_groups(o, values + at, taken = groups_at(values + at, n - at), width);
        at += taken;
    }
}

/* ---- differences ------------------------------------------------------------------------- */

/* Computes `n` <= BLOCK differences, starting with values[1] - values[0]. Returns the smallest. */
static int64_t differences_of(const uint64_t *values, size_t n, uint64_t *differences) {
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        differences[i] = values[i + 1] - values[i];
        if ((int64_t)differences[i] < least)
            least = (int64_t)differences[i];
    }
    return least;
}

static unsigned width_of_part(const uint64_t *above, size_t n, size_t first) {
    uint64_t all = 0;
    for (size_t i = first; i < n && i < first + PART; i++)
        all |= above[i];
    return parquet_width(all);
}

/* Writes a block. The last part that contains values is padded with zeros; parts after it are
 * omitted. */
static void put_block(output *o, const uint64_t *values, size_t n) {
    uint64_t above[BLOCK] = {0};
    const int64_t least = differences_of(values, n, above);
    packing p = {.o = o};
    for (size_t i = 0; i < n; i++)
        above[i] -= (uint64_t)least;
    thrift_zigzag(o, least);
    for (size_t first = 0; first < BLOCK; first += PART)
        output_char(o, (char)width_of_part(above, n, first));
    for (size_t first = 0; first < n; first += PART) {
        const unsigned width = width_of_part(above, n, first);
        for (size_t i = first; i < first + PART; i++)
            pack(&p, above[i], width);
    }
}

void parquet_encode_deltas(output *o, const uint64_t *values, size_t n) {
    output_varint(o, BLOCK);
    output_varint(o, PARTS);
    output_varint(o, n);
    thrift_zigzag(o, n ? (int64_t)values[0] : 0);
    for (size_t at = 0; at + 1 < n; at += BLOCK)
        put_block(o, values + at, n - 1 - at < BLOCK ? n - 1 - at : BLOCK);
}

/* ---- plain values --------------------------------------------------------------------- */

void parquet_encode_plain(output *o, const uint64_t *values, size_t n, size_t size) {
    for (size_t i = 0; i < n; i++)
        put_little(o, values[i], size);
}

void parquet_encode_texts(output *o, const parquet_bytes *texts, size_t n) {
    for (size_t i = 0; i < n; i++) {
        put_little(o, texts[i].size, 4);
        output_bytes(o, texts[i].bytes, texts[i].size);
    }
}

bool parquet_encode_lengths(output *o, const parquet_bytes *texts, size_t n) {
    uint64_t *lengths = calloc(n + 1, sizeof *lengths);
    if (!lengths)
        return false;
    for (size_t i = 0; i < n; i++)
        lengths[i] = texts[i].size;
    parquet_encode_deltas(o, lengths, n);
    for (size_t i = 0; i < n; i++)
        output_bytes(o, texts[i].bytes, texts[i].size);
    free(lengths);
    return true;
}
