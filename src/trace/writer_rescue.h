/* writer_rescue.h: recovers the packets that a dead process had not written yet from its stream. */
#ifndef TRACE_WRITER_RESCUE_H
#define TRACE_WRITER_RESCUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

/* Returns the size of a stream. Opening a stream calls `reallocate` with this size, which nothing
 * else asks for. */
size_t writer_stream_size(void);

typedef struct rescued_packet {
    const uint8_t *bytes; /* in the copy of the stream */
    size_t size;
} rescued_packet;

enum { WRITER_RESCUED_PACKETS = 2 }; /* the locations, and the events that need them */

/* Completes the packets in `stream`, a copy, aligned as by malloc, of a stream that was at
 * `address` in process `pid`. The process may have died at any moment. A packet of size 0 is empty.
 * Returns false if the copy is not a stream. */
bool writer_rescue(void *stream, uint64_t address, uint64_t pid,
                   rescued_packet packets[WRITER_RESCUED_PACKETS]);

/* Writes a packet without events, which states that process `pid` recorded until `time`, us since
 * the epoch. `next_id` is the id that its next block would have got. */
void writer_put_empty_packet(uint8_t bytes[FORMAT_EMPTY_PACKET], uint64_t pid, uint64_t time,
                             uint64_t next_id);

#endif
