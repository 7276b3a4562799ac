/* index_stream.h: the byte stream of an index file: single numbers, and columns of numbers packed
 * into as few bytes as they need, with a checksum over each section.
 *
 * A section is a sequence of 64-bit words in the byte order of the machine. Reading trusts nothing:
 * after the end of a section, and after a failure to read the file, every number is 0 and the
 * stream has failed. This layer does not know what the numbers mean. */
#ifndef PROFILE_INDEX_STREAM_H
#define PROFILE_INDEX_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

enum {
    INDEX_CHUNK = 4096,     /* numbers of a column with a common base and width */
    INDEX_LANES = 4,        /* words; a section is a multiple of so many */
    INDEX_BUFFER = 1 << 15, /* words; a multiple of the lanes, and more than a chunk */
};

/* A section of a file. */
typedef struct index_section {
    uint64_t offset, size; /* bytes; size 0: there is no such section */
    uint64_t sum;
} index_section;

/* A packed chunk of a column: each number is `base` plus an offset of `width` bytes. */
typedef struct index_column {
    uint64_t base;
    unsigned width; /* 0, 1, 2, 4 or 8 */
    const void *packed;
    size_t n; /* numbers */
} index_column;

/* The range of some numbers. */
typedef struct index_range {
    uint64_t least, most;
} index_range;

/* A section that is being written or read. */
typedef struct index_stream {
    int fd;
    uint64_t *words; /* INDEX_BUFFER words */
    size_t next, n;  /* words consumed (only when reading), words in the buffer */
    uint64_t at;     /* offset in the file of what follows the buffer, bytes */
    uint64_t end;    /* of the section; only when reading */
    uint64_t lanes[INDEX_LANES];
    int error; /* errno of the first failure to write or read; 0: none */
    bool failed;
    index_section section;
} index_stream;

/* False when there is no memory. Must be closed in any case. */
MEMTRACE_NODISCARD bool index_stream_open(index_stream *s, int fd);
void index_stream_close(index_stream *s);

/* ---- writing: failures show in `error` ----------------------------------------------------- */

/* Begins a section at this offset of the file. */
void index_begin(index_stream *s, uint64_t offset);
void index_put(index_stream *s, uint64_t value);
void index_put_bytes(index_stream *s, const char *bytes, size_t size);
void index_put_column(index_stream *s, const uint64_t *values, size_t n); /* a chunk at most */

/* Writes what is left in the buffer, and returns the section. */
index_section index_end(index_stream *s);

/* ---- reading: failures show in `failed` ---------------------------------------------------- */

void index_enter(index_stream *s, const index_section *section);
uint64_t index_get(index_stream *s);
void index_get_bytes(index_stream *s, char *bytes, size_t size);
void index_get_column(index_stream *s, uint64_t *values, size_t n); /* a chunk at most */

/* Like index_get_column, but does not unpack. The result is valid until the next read. */
index_column index_get_packed(index_stream *s, size_t n);

/* The column must not be empty. If a number overflows 64 bits, the range is 0 to UINT64_MAX. */
index_range index_column_range(const index_column *c);

/* Unpack all numbers into `values`, cut to its width. */
void index_unpack_8(const index_column *c, uint8_t *values);
void index_unpack_16(const index_column *c, uint16_t *values);
void index_unpack_32(const index_column *c, uint32_t *values);
void index_unpack_64(const index_column *c, uint64_t *values);

/* Returns the words that were not read yet. No more numbers than these can follow, except in
 * columns. */
uint64_t index_words_left(const index_stream *s);

/* Returns the most numbers that so many words can hold in columns. */
uint64_t index_most_in(uint64_t n_words);

/* Whether the whole section was read and its checksum is right. */
MEMTRACE_NODISCARD bool index_leave(index_stream *s);

/* Returns a checksum of words outside of sections; `n` is a multiple of INDEX_LANES. Any change of
 * a single word changes it. */
uint64_t index_checksum(const uint64_t *words, size_t n);

#endif
