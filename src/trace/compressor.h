/* compressor.h: writes bytes to a file descriptor, compressed according to the name of the file.
 * The reader detects the compression itself. Single-threaded. */
#ifndef TRACE_COMPRESSOR_H
#define TRACE_COMPRESSOR_H

#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

typedef enum compression { COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD } compression;

/* Chooses by the ending .gz or .zst. NULL and all other names mean no compression. */
compression compression_of(const char *path);

typedef struct compressor {
    int fd;
    compression how;
    void *stream;   /* state of the compression library */
    uint8_t *bytes; /* compressed bytes not written yet */
} compressor;

/* These return 0 or an errno. Each opened compressor must be closed. compressor_close finishes the
 * compressed stream unless `failed` is set, and leaves the descriptor open. */
int compressor_open(compressor *c, int fd, compression how);
int compressor_write(compressor *c, const void *bytes, size_t size);
int compressor_close(compressor *c, int failed);

/* Writes a part of another file. */
int compressor_copy(compressor *c, int from, uint64_t offset, uint64_t size);

/* Compresses a file whose name says that it is compressed but which is not; does nothing to others.
 * The file is replaced as a whole or not at all. */
MEMTRACE_NODISCARD memtrace_status compressor_by_name(const char *path, memtrace_error *error);

#endif
