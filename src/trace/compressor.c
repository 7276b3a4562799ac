/* compressor.c: one interface for zstd, gzip and no compression. Without compression, files are
 * copied inside the kernel. The zstd settings are explained next to them. */
#include "trace/compressor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/file.h"
#include "trace/bytes.h"
#include "trace/failure.h"
#include "trace/format.h"
#include "trace/replacement.h"

/* Level 3 is zstd's default: it compresses traces to a third less than level 1, in hardly more
 * time. But it ignores matches of four bytes, which is what two times in a trace have in common.
 * Allowing them makes traces with stacks a tenth smaller, and leaves others as they are. The time
 * for these matches is saved by a window and tables that fit into a core's own cache: most matches
 * are close by, and data read next need not evict the tables. */
enum {
    ZSTD_LEVEL = 3,
    ZSTD_MIN_MATCH = 4,
    ZSTD_WINDOW_LOG2 = 18, /* bytes */
    ZSTD_LONG_LOG2 = 15,   /* entries of the table of long matches */
    ZSTD_SHORT_LOG2 = 14
};

enum { GZIP_LEVEL = 1, GZIP_WRAPPER = 16 };

enum { BUFFER = 1 << 17 };

compression compression_of(const char *path) {
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (dot && strcmp(dot, ".zst") == 0)
        return COMPRESSION_ZSTD;
    return dot && strcmp(dot, ".gz") == 0 ? COMPRESSION_GZIP : COMPRESSION_NONE;
}

/* ---- zstd -------------------------------------------------------------------------------- */

static int zstd_open(compressor *c) {
    c->stream = ZSTD_createCCtx();
    if (!c->stream)
        return ENOMEM;
    ZSTD_CCtx_setParameter(c->stream, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    ZSTD_CCtx_setParameter(c->stream, ZSTD_c_minMatch, ZSTD_MIN_MATCH);
    ZSTD_CCtx_setParameter(c->stream, ZSTD_c_windowLog, ZSTD_WINDOW_LOG2);
    ZSTD_CCtx_setParameter(c->stream, ZSTD_c_hashLog, ZSTD_LONG_LOG2);
    ZSTD_CCtx_setParameter(c->stream, ZSTD_c_chainLog, ZSTD_SHORT_LOG2);
    ZSTD_CCtx_setParameter(c->stream, ZSTD_c_checksumFlag, 1);
    return 0;
}

static int zstd_write(compressor *c, const void *bytes, size_t size, ZSTD_EndDirective end) {
    ZSTD_inBuffer in = {.src = bytes, .size = size};
    for (;;) {
        ZSTD_outBuffer out = {.dst = c->bytes, .size = BUFFER};
        const size_t left = ZSTD_compressStream2(c->stream, &out, &in, end);
        if (ZSTD_isError(left))
            return ENOMEM;
        const int error = file_write_all(c->fd, c->bytes, out.pos);
        if (error || (end == ZSTD_e_end ? left == 0 : in.pos == in.size))
            return error;
    }
}

/* ---- gzip -------------------------------------------------------------------------------- */

static int gzip_open(compressor *c) {
    z_stream *z = calloc(1, sizeof *z);
    if (!z || deflateInit2(z, GZIP_LEVEL, Z_DEFLATED, GZIP_WRAPPER + MAX_WBITS, MAX_MEM_LEVEL,
                           Z_DEFAULT_STRATEGY) != Z_OK) {
        free(z);
        return ENOMEM;
    }
    c->stream = z;
    return 0;
}

static int gzip_write(compressor *c, const void *bytes, size_t size, int flush) {
    z_stream *z = c->stream;
    do {
        const size_t part = size < BUFFER ? size : BUFFER;
        z->next_in = (Bytef *)bytes;
        z->avail_in = (uInt)part;
        do {
            z->next_out = c->bytes;
            z->avail_out = BUFFER;
            deflate(z, flush);
            const int error = file_write_all(c->fd, c->bytes, BUFFER - z->avail_out);
            if (error)
                return error;
        } while (z->avail_out == 0);
        size -= part;
        if (size > 0) /* at the end there are no bytes, and `bytes` may be NULL */
            bytes = (const uint8_t *)bytes + part;
    } while (size > 0);
    return 0;
}

/* ---- the interface ----------------------------------------------------------------------- */

int compressor_open(compressor *c, int fd, compression how) {
    *c = (compressor){.fd = fd, .how = how};
    if (how == COMPRESSION_NONE)
        return 0;
    c->bytes = malloc(BUFFER);
    if (!c->bytes)
        return ENOMEM;
    const int error = how == COMPRESSION_ZSTD ? zstd_open(c) : gzip_open(c);
    if (error)
        free(c->bytes);
    return error;
}

int compressor_write(compressor *c, const void *bytes, size_t size) {
    switch (c->how) {
    case COMPRESSION_ZSTD:
        return zstd_write(c, bytes, size, ZSTD_e_continue);
    case COMPRESSION_GZIP:
        return gzip_write(c, bytes, size, Z_NO_FLUSH);
    case COMPRESSION_NONE:
        break;
    }
    return file_write_all(c->fd, bytes, size);
}

int compressor_close(compressor *c, int failed) {
    if (!failed && c->how == COMPRESSION_ZSTD)
        failed = zstd_write(c, NULL, 0, ZSTD_e_end);
    if (!failed && c->how == COMPRESSION_GZIP)
        failed = gzip_write(c, NULL, 0, Z_FINISH);
    if (c->how == COMPRESSION_ZSTD)
        ZSTD_freeCCtx(c->stream);
    if (c->how == COMPRESSION_GZIP) {
        deflateEnd(c->stream);
        free(c->stream);
    }
    free(c->bytes);
    return failed;
}

/* ---- from another file ------------------------------------------------------------------- */

static int copy_by_hand(compressor *c, int from, uint64_t offset, uint64_t size) {
    uint8_t bytes[BUFFER];
    while (size > 0) {
        const size_t n = size < BUFFER ? size : BUFFER;
        int error = file_read_at(from, bytes, n, offset);
        if (!error)
            error = compressor_write(c, bytes, n);
        if (error)
            return error;
        offset += n;
        size -= n;
    }
    return 0;
}

int compressor_copy(compressor *c, int from, uint64_t offset, uint64_t size) {
    while (size > 0 && c->how == COMPRESSION_NONE) {
        off64_t at = (off64_t)offset;
        const ssize_t n = copy_file_range(from, &at, c->fd, NULL, size, 0);
        if (n <= 0)
            break;
        offset += (uint64_t)n;
        size -= (uint64_t)n;
    }
    return copy_by_hand(c, from, offset, size);
}

static bool is_plain(int fd) {
    uint8_t magic[4];
    return pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
           bytes_u32(magic) == FORMAT_MAGIC;
}

static int compress_whole(int from, int to, compression how) {
    struct stat st;
    compressor c;
    if (fstat(from, &st) != 0)
        return errno;
    const int error = compressor_open(&c, to, how);
    return error ? error : compressor_close(&c, compressor_copy(&c, from, 0, (uint64_t)st.st_size));
}

static memtrace_status compress_open_file(int fd, const char *path, memtrace_error *error) {
    replacement new;
    const memtrace_status status = replacement_begin(&new, path, error);
    if (status != MEMTRACE_OK)
        return status;
    const int os_error = compress_whole(fd, new.fd, compression_of(path));
    if (!os_error)
        return replacement_commit(&new, error);
    replacement_abort(&new);
    return failure(error, MEMTRACE_IO, os_error, "the trace cannot be compressed");
}

memtrace_status compressor_by_name(const char *path, memtrace_error *error) {
    memtrace_status status = MEMTRACE_OK;
    if (compression_of(path) == COMPRESSION_NONE)
        return status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && is_plain(fd))
        status = compress_open_file(fd, path, error);
    if (fd >= 0)
        close(fd);
    return status;
}
