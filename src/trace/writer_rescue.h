/* writer_rescue.h: takes out of a dead process's stream what it had not written yet. */
#ifndef TRACE_WRITER_RESCUE_H
#define TRACE_WRITER_RESCUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

/* How large a stream is: what `reallocate` is asked for when one is opened, and for nothing else.
 */
size_t writer_stream_size(void);

typedef struct rescued_packet {
    const uint8_t *bytes; /* in the copy of the stream */
    size_t size;
} rescued_packet;

enum { WRITER_RESCUED_PACKETS = 2 }; /* names, and the events that they are for */

/* `stream` is a copy, aligned as malloc aligns, of a stream that was at `address` in process `pid`,
 * which may have died at any moment. Makes whole packets in it; a size of 0 is none. False if it is
 * no stream. */
bool writer_rescue(void *stream, uint64_t address, uint64_t pid,
                   rescued_packet packets[WRITER_RESCUED_PACKETS]);

/* Writes a packet without events, which says that process `pid` recorded until `time`, us since the
 * epoch. The next block would have the id `next_id`. */
void writer_put_end(uint8_t bytes[FORMAT_EMPTY_PACKET], uint64_t pid, uint64_t time,
                    uint64_t next_id);

#endif
