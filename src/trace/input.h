/* input.h: the one byte source of the reader: a file, a pipe or memory, plain or compressed.
 *
 * Owns a window of the (decompressed) bytes that is small enough to stay in cache and large enough
 * for any packet, so that packets are decoded in place. It reads rather than maps: a file that
 * shrinks while it is mapped would kill the process. Knows nothing of packets.
 *
 * All memory behind the window may be read up to INPUT_SLACK bytes beyond its end. */
#ifndef TRACE_INPUT_H
#define TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

enum {
    INPUT_WINDOW = 128 * 1024, /* bytes; at least two packets */
    INPUT_SLACK = 64,          /* more than the fixed part of any event */
};

typedef struct input_codec input_codec; /* how to decompress, with its state */

typedef struct input {
    const uint8_t *next; /* the bytes not consumed yet */
    size_t available;    /* how many of them are in the window */
    uint64_t offset;     /* of `next` in the decompressed bytes */
    bool at_end;         /* nothing will follow what is available */
    /* Why nothing will follow. MEMTRACE_OK: the regular end; MEMTRACE_IO: see os_error;
     * MEMTRACE_FORMAT: the compressed stream is cut short or damaged, as `reason` says. */
    memtrace_status status;
    int os_error;
    const char *reason; /* static */

    uint8_t *window; /* INPUT_WINDOW + INPUT_SLACK bytes */

    /* The bytes as they are stored: from `fd`, or from memory if it is -1. */
    int fd;
    const uint8_t *stored; /* not consumed yet: in `stored_buffer` or in the caller's memory */
    size_t n_stored;
    uint8_t *stored_buffer; /* NULL unless compressed bytes are read from `fd` */
    bool stored_at_end;
    uint64_t n_read;             /* bytes taken from fd or memory into the window or the buffer */
    uint64_t total;              /* bytes of the whole, 0 if unknown */
    bool (*more)(void *context); /* at the end of `fd`: may there be more by now? NULL: no */
    void *more_context;
    input_codec *codec;
} input;

/* Opens a source; `fd` is closed by input_close, also after a failure to open. With fd -1 the
 * `size` bytes of memory are the source. On failure only `error` is filled. */
MEMTRACE_NODISCARD memtrace_status input_open(input *in, int fd, const void *bytes, size_t size,
                                              memtrace_error *error);
void input_close(input *in);

/* Whether the stored bytes are compressed: a few of them may then be any number. */
bool input_is_compressed(const input *in);

/* Reads more, as `want` bytes (at most INPUT_WINDOW) are not available. */
size_t input_fill(input *in, size_t want);

/* Makes `want` bytes available, or all until the end if there are fewer; returns how many there
 * are, which may be more. Moves the window: earlier pointers into it are invalid. */
static inline size_t input_peek(input *in, size_t want) {
    return in->available >= want ? in->available : input_fill(in, want);
}

/* Consumes `size` available bytes. */
static inline void input_skip(input *in, size_t size) {
    in->next += size;
    in->available -= size;
    in->offset += size;
}

/* What stands at `offset` now, of a file that is not compressed; false of others. */
bool input_read_again(const input *in, void *bytes, size_t size, uint64_t offset);

/* Stored bytes that were consumed, roughly: what is in the window counts as not yet consumed if
 * the source is not compressed. */
uint64_t input_consumed(const input *in);

#endif
