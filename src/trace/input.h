/* input.h: the byte source of the reader: a file, a pipe or memory, plain or compressed.
 *
 * Owns a window of the (decompressed) bytes, small enough to stay in the cache and large enough for
 * any packet, so that packets are decoded in place. Files are read, not mapped: a file that shrinks
 * while it is mapped would kill the process. Knows nothing about packets.
 *
 * Memory after the window may be read up to INPUT_SLACK bytes beyond its end. */
#ifndef TRACE_INPUT_H
#define TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

enum {
    INPUT_WINDOW = 128 * 1024, /* bytes, at least two packets */
    INPUT_SLACK = 64,          /* bytes, more than the fixed part of any event */
};

typedef struct input_codec input_codec; /* the decompressor and its state */

typedef struct input {
    const uint8_t *next; /* bytes not consumed yet */
    size_t available;    /* number of them in the window */
    uint64_t offset;     /* offset of `next` in the decompressed bytes */
    bool at_end;         /* no bytes follow the available ones */
    /* Why no bytes follow. MEMTRACE_OK: the regular end; MEMTRACE_IO: see os_error;
     * MEMTRACE_FORMAT: the compressed stream is truncated or damaged, see `reason`. */
    memtrace_status status;
    int os_error;
    const char *reason; /* a static string */

    uint8_t *window; /* INPUT_WINDOW + INPUT_SLACK bytes */

    /* The bytes as stored: from `fd`, or from memory if `fd` is -1. */
    int fd;
    const uint8_t *stored; /* not consumed yet; in `stored_buffer` or in the caller's memory */
    size_t n_stored;
    uint8_t *stored_buffer; /* NULL unless compressed bytes are read from `fd` */
    bool stored_at_end;
    uint64_t n_read;             /* bytes taken from `fd` or memory into the window or buffer */
    uint64_t total;              /* size of the whole in bytes, 0 if unknown */
    bool (*more)(void *context); /* called at the end of `fd`: whether to try again. NULL: no */
    void *more_context;
    input_codec *codec;
} input;

/* Opens a source. `fd` is closed by input_close, and also if opening fails. With `fd` -1, the
 * source is `size` bytes of memory. On failure, only `error` is set. */
MEMTRACE_NODISCARD memtrace_status input_open(input *in, int fd, const void *bytes, size_t size,
                                              memtrace_error *error);
void input_close(input *in);

/* Whether the stored bytes are compressed. A few of them can then expand to any number of bytes. */
bool input_is_compressed(const input *in);

/* Reads more bytes when fewer than `want` (at most INPUT_WINDOW) are available. */
size_t input_fill(input *in, size_t want);

/* Makes `want` bytes available, or all remaining ones if there are fewer. Returns the number of
 * bytes available, which may be more. Moves the window, which invalidates earlier pointers into
 * it. */
static inline size_t input_peek(input *in, size_t want) {
    return in->available >= want ? in->available : input_fill(in, want);
}

/* Consumes `size` available bytes. */
static inline void input_skip(input *in, size_t size) {
    in->next += size;
    in->available -= size;
    in->offset += size;
}

/* Reads again what is at `offset` by now, in a file that is not compressed. Returns false for other
 * sources. */
bool input_read_again(const input *in, void *bytes, size_t size, uint64_t offset);

/* Returns roughly how many stored bytes were consumed. If the source is not compressed, bytes in
 * the window do not count. */
uint64_t input_consumed(const input *in);

#endif
