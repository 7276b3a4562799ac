/* compressor.h: bytes on their way to a file descriptor, compressed as the name of the file says.
 * The reader opens what comes of it without being told. Single-threaded. */
#ifndef TRACE_COMPRESSOR_H
#define TRACE_COMPRESSOR_H

#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

typedef enum compression { COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD } compression;

/* By the end of the name, .gz or .zst; NULL and all other names: none. */
compression compression_of(const char *path);

typedef struct compressor {
    int fd;
    compression how;
    void *stream;   /* of the library that compresses */
    uint8_t *bytes; /* compressed ones, not written yet */
} compressor;

/* These return 0 or an errno. compressor_close is for one that was opened; it ends the compressed
 * stream unless something failed before, and leaves the descriptor open. */
int compressor_open(compressor *c, int fd, compression how);
int compressor_write(compressor *c, const void *bytes, size_t size);
int compressor_close(compressor *c, int failed);

/* Writes a part of another file. */
int compressor_copy(compressor *c, int from, uint64_t offset, uint64_t size);

/* Compresses a file that is not compressed but has the name of one that is; leaves others alone.
 * It is replaced as a whole or not at all. */
MEMTRACE_NODISCARD memtrace_status compressor_by_name(const char *path, memtrace_error *error);

#endif
