/* input.c: three layers: stored bytes (from a descriptor or memory), a codec that turns them into
 * trace bytes, and the window that collects these. */
#include "trace/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/file.h"

enum { STORED_BUFFER = 64 * 1024 };

struct input_codec {
    /* Writes at most `room` bytes to `out` and returns their number. 0 means the end, whose reason
     * is then in in->status. */
    size_t (*read)(input *in, uint8_t *out, size_t room);
    z_stream gzip;
    ZSTD_DStream *zstd;
    bool between; /* no member or frame is open, so the stored bytes may end here */
};

/* ---- stored bytes ------------------------------------------------------------------------ */

static size_t end_with(input *in, memtrace_status status, int os_error, const char *reason) {
    in->status = status;
    in->os_error = os_error;
    in->reason = reason;
    return 0;
}

/* Reads up to `room` stored bytes. Returns 0 at the end or after an error. */
static size_t stored_read(input *in, uint8_t *out, size_t room) {
    ssize_t n;
    do
        n = read(in->fd, out, room);
    while ((n < 0 && errno == EINTR) || (n == 0 && in->more && in->more(in->more_context)));
    if (n < 0)
        return end_with(in, MEMTRACE_IO, errno, "cannot read");
    in->n_read += (uint64_t)n;
    return (size_t)n;
}

/* Makes sure that there is a stored byte; false at the end. */
static bool stored_fill(input *in) {
    if (in->n_stored == 0 && !in->stored_at_end) {
        in->n_stored = stored_read(in, in->stored_buffer, STORED_BUFFER);
        in->stored = in->stored_buffer;
        in->stored_at_end = in->n_stored == 0;
    }
    return in->n_stored > 0;
}

static void stored_skip(input *in, size_t size) {
    in->stored += size;
    in->n_stored -= size;
}

/* ---- codecs ------------------------------------------------------------------------------ */

/* The bytes that were read ahead to detect the codec come first, then the rest of the file. */
static size_t plain_read(input *in, uint8_t *out, size_t room) {
    if (in->n_stored > 0) {
        size_t n = in->n_stored < room ? in->n_stored : room;
        memcpy(out, in->stored, n);
        stored_skip(in, n);
        return n;
    }
    return in->stored_at_end ? 0 : stored_read(in, out, room);
}

/* Ends the stream at the end of the stored bytes, with an error if it is incomplete. */
static size_t codec_end(input *in, const char *reason) {
    if (in->status != MEMTRACE_OK || in->codec->between)
        return 0;
    return end_with(in, MEMTRACE_FORMAT, 0, reason);
}

/* Starts the next member of a gzip file. Further members may follow; any other bytes, such as the
 * zeros that pad a tape or block device, end the trace. */
static bool gzip_next_member(input *in) {
    if (in->stored[0] != 0x1F)
        return false;
    in->codec->between = false;
    return inflateReset(&in->codec->gzip) == Z_OK;
}

static size_t gzip_read(input *in, uint8_t *out, size_t room) {
    input_codec *c = in->codec;
    z_stream *z = &c->gzip;
    z->next_out = out;
    z->avail_out = (uInt)room;
    while (z->avail_out == room) {
        if (!stored_fill(in))
            return codec_end(in, "the gzip stream ends early");
        if (c->between && !gzip_next_member(in))
            return 0;
        z->next_in = (Bytef *)in->stored;
        z->avail_in = in->n_stored > STORED_BUFFER ? STORED_BUFFER : (uInt)in->n_stored;
        int result = inflate(z, Z_NO_FLUSH);
        stored_skip(in, (size_t)(z->next_in - in->stored));
        c->between = result == Z_STREAM_END;
        if (result == Z_MEM_ERROR)
            return end_with(in, MEMTRACE_NOMEM, 0, "out of memory");
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
            end_with(in, MEMTRACE_FORMAT, 0, "the gzip stream is damaged");
            break;
        }
    }
    return room - z->avail_out;
}

static const char *zstd_reason(size_t error) {
    return ZSTD_getErrorCode(error) == ZSTD_error_frameParameter_windowTooLarge
               ? "the zstd stream requires a window of more than 128 MB"
               : "the zstd stream is damaged";
}

static size_t zstd_read(input *in, uint8_t *out, size_t room) {
    ZSTD_outBuffer o = {.dst = out, .size = room};
    while (o.pos == 0) {
        /* The decoder may still hold output that did not fit the window. So the end is only reached
         * when the input is at its end and the decoder produces nothing more. */
        bool more = stored_fill(in);
        ZSTD_inBuffer i = {.src = in->stored, .size = in->n_stored};
        size_t hint = ZSTD_decompressStream(in->codec->zstd, &o, &i);
        stored_skip(in, i.pos);
        if (ZSTD_isError(hint)) {
            end_with(in, MEMTRACE_FORMAT, 0, zstd_reason(hint));
            break;
        }
        if (more || o.pos > 0)
            in->codec->between = hint == 0;
        if (!more && o.pos == 0)
            return codec_end(in, "the zstd stream ends early");
    }
    return o.pos;
}

static bool codec_choose(input *in) {
    static const uint8_t gzip_magic[] = {0x1F, 0x8B}, zstd_magic[] = {0x28, 0xB5, 0x2F, 0xFD};
    input_codec *c = in->codec;
    c->read = plain_read;
    if (in->n_stored >= 4 && memcmp(in->stored, zstd_magic, 4) == 0) {
        c->read = zstd_read;
        c->zstd = ZSTD_createDStream();
        return c->zstd != NULL;
    }
    if (in->n_stored >= 2 && memcmp(in->stored, gzip_magic, 2) == 0) {
        c->read = gzip_read;
        return inflateInit2(&c->gzip, 16 + MAX_WBITS) == Z_OK;
    }
    return true;
}

/* ---- the window -------------------------------------------------------------------------- */

size_t input_fill(input *in, size_t want) {
    if (in->next != in->window) {
        memmove(in->window, in->next, in->available);
        in->next = in->window;
    }
    while (in->available < want && !in->at_end) {
        size_t n = in->codec->read(in, in->window + in->available, INPUT_WINDOW - in->available);
        in->available += n;
        in->at_end = n == 0 || in->status != MEMTRACE_OK;
    }
    memset(in->window + in->available, 0, INPUT_SLACK);
    return in->available;
}

/* Reads enough bytes to detect the codec. A pipe may deliver them one by one. */
static void stored_read_magic(input *in) {
    in->stored = in->stored_buffer;
    while (in->n_stored < 4 && !in->stored_at_end) {
        size_t n = stored_read(in, in->stored_buffer + in->n_stored, STORED_BUFFER - in->n_stored);
        in->n_stored += n;
        in->stored_at_end = n == 0;
    }
}

static void source_open(input *in, int fd, const void *bytes, size_t size) {
    struct stat st;
    in->fd = fd;
    if (fd >= 0) {
        in->total = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
        stored_read_magic(in);
        return;
    }
    in->stored = bytes;
    in->n_stored = size;
    in->n_read = in->total = size;
    in->stored_at_end = true;
}

memtrace_status input_open(input *in, int fd, const void *bytes, size_t size,
                           memtrace_error *error) {
    *in = (input){.fd = fd,
                  .window = malloc(INPUT_WINDOW + INPUT_SLACK),
                  .stored_buffer = fd >= 0 ? malloc(STORED_BUFFER) : NULL,
                  .codec = calloc(1, sizeof(input_codec))};
    bool enough = in->window && in->codec && (in->stored_buffer || fd < 0);
    if (enough) {
        in->next = in->window;
        source_open(in, fd, bytes, size);
        enough = in->status != MEMTRACE_OK || codec_choose(in);
    }
    if (enough && in->status == MEMTRACE_OK)
        return MEMTRACE_OK;
    *error =
        (memtrace_error){.status = enough ? in->status : MEMTRACE_NOMEM, .os_error = in->os_error};
    if (enough)
        snprintf(error->reason, sizeof error->reason, "%s: %s", in->reason, strerror(in->os_error));
    else
        snprintf(error->reason, sizeof error->reason, "out of memory");
    input_close(in);
    return error->status;
}

void input_close(input *in) {
    if (in->codec) {
        if (in->codec->read == gzip_read)
            inflateEnd(&in->codec->gzip);
        ZSTD_freeDStream(in->codec->zstd);
    }
    if (in->fd >= 0)
        close(in->fd);
    free(in->codec);
    free(in->stored_buffer);
    free(in->window);
    *in = (input){.fd = -1};
}

bool input_is_compressed(const input *in) {
    return in->codec->read != plain_read;
}

bool input_read_again(const input *in, void *bytes, size_t size, uint64_t offset) {
    return in->fd >= 0 && in->codec->read == plain_read &&
           file_read_at(in->fd, bytes, size, offset) == 0;
}

uint64_t input_consumed(const input *in) {
    uint64_t ahead = in->n_stored;
    if (in->codec->read == plain_read)
        ahead += in->available;
    return in->n_read - ahead;
}
