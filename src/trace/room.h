/* room.h: room for names after the head of a trace.
 *
 * A recorder knows the places of a program by their addresses. Their names are looked up after the
 * program has ended, and readers expect names before the events. If the trace reserves room for the
 * names, the events need not be copied. The room is a row of slots of equal size, all of them
 * packets of FORMAT_PID_NONE, which readers skip. A slot has FORMAT_MAX_PACKET bytes and a filler,
 * so that after a packet of any size, the rest of the slot can be one filler. */
#ifndef TRACE_ROOM_H
#define TRACE_ROOM_H

#include <stdbool.h>

#include "trace/writer_put.h"

enum {
    ROOM_FILLER = FORMAT_LEAST_PACKET, /* least size of a filler, bytes */
    ROOM_SLOT = FORMAT_MAX_PACKET + ROOM_FILLER,
    ROOM_VERSION = 3, /* version of traces that can have room */
    WORTH_ROOM = 16,  /* unused room may stay if the file is at least so many times larger */
};

/* Writes the beginning of a filler of `size` bytes, at least ROOM_FILLER; the rest of the filler
 * may be anything. Its header and first event look like those of a trace's head. `time` is the
 * trace's start, us since the epoch. */
static inline void room_put_filler(uint8_t bytes[ROOM_FILLER], size_t size, uint64_t time) {
    const packet_header h = {
        .version = ROOM_VERSION,
        .verify_bucket = FORMAT_VERIFY_NOTHING,
        .packet = {
            .size = (uint32_t)size, .time_begin = time, .time_end = time, .pid = FORMAT_PID_NONE}};
    put_event_header(put_packet_header(bytes, &h), FORMAT_TRACE_INFO, time);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The room found so far, while the packets after the head are read one after the other. */
typedef struct name_room {
    uint64_t begin; /* file offset at which the head ends */
    uint64_t end;   /* file offset up to which the room is known to be empty */
} name_room;

/* Takes a packet of FORMAT_PID_NONE into account. */
void room_meet(name_room *r, uint64_t offset, uint64_t size);

/* Returns the size in bytes of the empty slots right after the head; 0 if the first one is in
 * use. */
uint64_t room_size(const name_room *r);

/* ---- filling ------------------------------------------------------------------------------- */

/* Writes packets with names, `size` bytes in all, into the empty room of the file `fd`, and turns
 * the `n_old` packets at the offsets `old` into packets of FORMAT_PID_NONE. Whenever this is
 * interrupted, the trace is whole, with all new names, all old ones, or both; of both, the later
 * ones count. So the names must be in a domain that has no others. Returns false if they do not fit
 * or could not be written. */
bool room_fill(const name_room *r, int fd, const uint8_t *names, size_t size, const uint64_t *old,
               size_t n_old);

#endif
