/* parquet_encode.h: the encodings of Parquet for a sequence of numbers or texts within a page. Each
 * function appends to an output in memory. Pure functions; parquet.c chooses among them. */
#ifndef EXPORT_PARQUET_ENCODE_H
#define EXPORT_PARQUET_ENCODE_H

#include "render/output.h"

/* Returns the number of bits that `most` takes. */
unsigned parquet_width(uint64_t most);

/* RLE: runs of equal numbers, and between them numbers of `width` bits (at most 32) in groups of
 * eight. */
void parquet_encode_runs(output *o, const uint32_t *values, size_t n, unsigned width);

/* DELTA_BINARY_PACKED: differences, with a bit width for each 32 of them. */
void parquet_encode_deltas(output *o, const uint64_t *values, size_t n);

/* PLAIN: `size` bytes each, 4 or 8. */
void parquet_encode_plain(output *o, const uint64_t *values, size_t n, size_t size);

/* Bytes that are owned elsewhere. */
typedef struct parquet_bytes {
    const char *bytes;
    size_t size;
} parquet_bytes;

/* PLAIN: each text after its length. */
void parquet_encode_texts(output *o, const parquet_bytes *texts, size_t n);

/* DELTA_LENGTH_BYTE_ARRAY: all lengths, as by parquet_encode_deltas, then all bytes. Returns false
 * when out of memory. */
bool parquet_encode_lengths(output *o, const parquet_bytes *texts, size_t n);

#endif
