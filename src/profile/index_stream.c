/* index_stream.c: a packed column is its smallest number, a width, and for each number its distance
 * to the smallest in so many bytes. */
#include "profile/index_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"

enum { WORD = sizeof(uint64_t), CHUNK_HEAD = 2 /* words: the base and the width */ };

bool index_stream_open(index_stream *s, int fd) {
    *s = (index_stream){.fd = fd, .words = malloc(INDEX_BUFFER * sizeof *s->words)};
    return s->words;
}

void index_stream_close(index_stream *s) {
    free(s->words);
    s->words = NULL;
}

/* ---- checksums --------------------------------------------------------------------------- */

/* For any word, a step is a bijection of the lane, so a changed word changes the lane. */
static void add_to_lanes(uint64_t lanes[INDEX_LANES], const uint64_t *words, size_t n) {
    for (size_t i = 0; i + INDEX_LANES <= n; i += INDEX_LANES)
        for (size_t lane = 0; lane < INDEX_LANES; lane++) {
            const uint64_t x = lanes[lane] ^ words[i + lane];
            lanes[lane] = (x << 29 | x >> 35) * UINT64_C(0x9FB21C651E98DF25);
        }
}

static void start_lanes(uint64_t lanes[INDEX_LANES]) {
    for (size_t i = 0; i < INDEX_LANES; i++)
        lanes[i] = hash_u64(i + 1);
}

static uint64_t sum_of_lanes(const uint64_t lanes[INDEX_LANES]) {
    uint64_t sum = 0;
    for (size_t i = 0; i < INDEX_LANES; i++)
        sum = hash_u64(sum ^ lanes[i]);
    return sum;
}

uint64_t index_checksum(const uint64_t *words, size_t n) {
    uint64_t lanes[INDEX_LANES];
    start_lanes(lanes);
    add_to_lanes(lanes, words, n);
    return sum_of_lanes(lanes);
}

/* ---- writing ----------------------------------------------------------------------------- */

void index_begin(index_stream *s, uint64_t offset) {
    s->n = 0;
    s->at = offset;
    s->section = (index_section){.offset = offset};
    start_lanes(s->lanes);
}

static void flush(index_stream *s) {
    const size_t size = s->n * WORD;
    add_to_lanes(s->lanes, s->words, s->n);
    if (!s->error)
        s->error = file_write_at(s->fd, s->words, size, s->at);
    s->at += size;
    s->n = 0;
}

void index_put(index_stream *s, uint64_t value) {
    if (s->n == INDEX_BUFFER)
        flush(s);
    s->words[s->n++] = value;
}

/* Returns room for `n` words in sequence, at most a chunk. */
static uint64_t *room_for(index_stream *s, size_t n) {
    while (s->n + n > INDEX_BUFFER) {
        /* Words that do not fill all lanes stay in the buffer. */
        uint64_t rest[INDEX_LANES];
        const size_t over = s->n % INDEX_LANES;
        s->n -= over;
        memcpy(rest, s->words + s->n, over * WORD);
        flush(s);
        memcpy(s->words, rest, over * WORD);
        s->n = over;
    }
    s->n += n;
    return s->words + s->n - n;
}

void index_put_bytes(index_stream *s, const char *bytes, size_t size) {
    for (size_t i = 0; i < size; i += WORD) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < WORD ? size - i : WORD);
        index_put(s, word);
    }
}

/* Returns how many bytes numbers up to `most` need: 0 or a power of two. */
static unsigned width_of(uint64_t most) {
    return most == 0            ? 0
           : most <= UINT8_MAX  ? 1
           : most <= UINT16_MAX ? 2
           : most <= UINT32_MAX ? 4
                                : 8;
}

static size_t words_of(size_t n, unsigned width) {
    return (n * width + WORD - 1) / WORD;
}

/* Types of the numbers in a word buffer. */
typedef uint8_t __attribute__((may_alias)) packed_8;
typedef uint16_t __attribute__((may_alias)) packed_16;
typedef uint32_t __attribute__((may_alias)) packed_32;
typedef uint64_t __attribute__((may_alias)) packed_64;

/* X(width, type) */
#define WIDTHS(X)                                                                                  \
    X(1, packed_8)                                                                                 \
    X(2, packed_16)                                                                                \
    X(4, packed_32)                                                                                \
    X(8, packed_64)

void index_put_column(index_stream *s, const uint64_t *values, size_t n) {
    uint64_t least = n > 0 ? values[0] : 0, most = least;
    for (size_t i = 0; i < n; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    const unsigned width = width_of(most - least);
    const size_t n_words = words_of(n, width);
    index_put(s, least);
    index_put(s, width);
    uint64_t *packed = room_for(s, n_words);
    if (n_words > 0)
        packed[n_words - 1] = 0;
    switch (width) {
#define NARROW(bytes, type)                                                                        \
    case bytes:                                                                                    \
        for (size_t i = 0; i < n; i++) {                                                           \
            const type narrow = (type)(values[i] - least);                                         \
            memcpy((char *)packed + i * (bytes), &narrow, bytes);                                  \
        }                                                                                          \
        break;
        WIDTHS(NARROW)
#undef NARROW
    default:
        break;
    }
}

index_section index_end(index_stream *s) {
    while (s->n % INDEX_LANES != 0)
        index_put(s, 0);
    flush(s);
    s->section.size = s->at - s->section.offset;
    s->section.sum = sum_of_lanes(s->lanes);
    return s->section;
}

/* ---- reading ----------------------------------------------------------------------------- */

void index_enter(index_stream *s, const index_section *section) {
    s->next = s->n = 0;
    s->section = *section;
    s->at = section->offset;
    s->end = section->offset + section->size;
    s->failed = section->size % (INDEX_LANES * WORD) != 0 || s->end < s->at;
    start_lanes(s->lanes);
}

uint64_t index_words_left(const index_stream *s) {
    return s->failed ? 0 : s->n - s->next + (s->end - s->at) / WORD;
}

uint64_t index_most_in(uint64_t n_words) {
    return n_words / CHUNK_HEAD * INDEX_CHUNK;
}

static bool fail(index_stream *s) {
    s->failed = true;
    return false;
}

/* Reads whole groups of lanes after what is left in the buffer. */
static bool fill(index_stream *s) {
    memmove(s->words, s->words + s->next, (s->n - s->next) * WORD);
    s->n -= s->next;
    s->next = 0;
    uint64_t want = (INDEX_BUFFER - s->n) / INDEX_LANES * INDEX_LANES * WORD;
    want = want < s->end - s->at ? want : s->end - s->at;
    s->error = file_read_at(s->fd, s->words + s->n, want, s->at);
    if (s->error)
        return fail(s);
    add_to_lanes(s->lanes, s->words + s->n, want / WORD);
    s->at += want;
    s->n += want / WORD;
    return true;
}

/* Returns the next words, at most a chunk; NULL if there are fewer. */
static const uint64_t *take(index_stream *s, size_t n) {
    if (n > index_words_left(s) || (n > s->n - s->next && !fill(s))) {
        fail(s);
        return NULL;
    }
    s->next += n;
    return s->words + s->next - n;
}

uint64_t index_get(index_stream *s) {
    const uint64_t *word = take(s, 1);
    return word ? *word : 0;
}

void index_get_bytes(index_stream *s, char *bytes, size_t size) {
    for (size_t i = 0; i < size; i += WORD) {
        const uint64_t word = index_get(s);
        memcpy(bytes + i, &word, size - i < WORD ? size - i : WORD);
    }
}

/* A chunk that cannot be read is one of zeros. */
index_column index_get_packed(index_stream *s, size_t n) {
    const uint64_t base = index_get(s), width = index_get(s);
    const bool known = width <= 8 && (width & (width - 1)) == 0;
    const uint64_t *packed = known ? take(s, words_of(n, (unsigned)width)) : NULL;
    if (packed)
        return (index_column){.base = base, .width = (unsigned)width, .packed = packed, .n = n};
    fail(s);
    return (index_column){.n = n};
}

index_range index_column_range(const index_column *c) {
    uint64_t least = 0, most = 0;
    switch (c->width) {
#define RANGE(bytes, type)                                                                         \
    case bytes: {                                                                                  \
        const type *packed = c->packed;                                                            \
        type low = packed[0], high = low;                                                          \
        for (size_t i = 0; i < c->n; i++) {                                                        \
            low = packed[i] < low ? packed[i] : low;                                               \
            high = packed[i] > high ? packed[i] : high;                                            \
        }                                                                                          \
        least = low;                                                                               \
        most = high;                                                                               \
        break;                                                                                     \
    }
        WIDTHS(RANGE)
#undef RANGE
    default:
        break;
    }
    return most > UINT64_MAX - c->base ? (index_range){0, UINT64_MAX}
                                       : (index_range){c->base + least, c->base + most};
}

#define WIDEN(bytes, type)                                                                         \
    case bytes:                                                                                    \
        for (size_t i = 0; i < n; i++)                                                             \
            values[i] = (__typeof__(*values))(base + ((const type *)c->packed)[i]);                \
        break;
#define UNPACK(bits)                                                                               \
    void index_unpack_##bits(const index_column *c, uint##bits##_t *restrict values) {             \
        const uint##bits##_t base = (uint##bits##_t)c->base;                                       \
        const size_t n = c->n;                                                                     \
        switch (c->width) {                                                                        \
            WIDTHS(WIDEN)                                                                          \
        default:                                                                                   \
            for (size_t i = 0; i < n; i++)                                                         \
                values[i] = base;                                                                  \
        }                                                                                          \
    }
UNPACK(8)
UNPACK(16)
UNPACK(32)
UNPACK(64)
#undef UNPACK
#undef WIDEN

void index_get_column(index_stream *s, uint64_t *values, size_t n) {
    const index_column c = index_get_packed(s, n);
    index_unpack_64(&c, values);
}

bool index_leave(index_stream *s) {
    return !s->failed && index_words_left(s) < INDEX_LANES && s->at == s->end &&
           sum_of_lanes(s->lanes) == s->section.sum;
}
