/* room.h: room for names behind the head of a trace.
 *
 * A recorder knows the places of a program by their addresses; their names are looked up when it
 * has ended, and readers want names in front of the events. Where there is room for them, the
 * events need not be copied. It is a row of slots of equal size, all of it packets of nobody
 * (FORMAT_NOBODY), which readers skip. A slot is FORMAT_MAX_PACKET bytes and a filler, so that
 * whatever packet comes to stand in it, a filler can take the rest. */
#ifndef TRACE_ROOM_H
#define TRACE_ROOM_H

#include <stdbool.h>

#include "trace/writer_put.h"

enum {
    ROOM_FILLER = FORMAT_LEAST_PACKET, /* bytes, at least */
    ROOM_SLOT = FORMAT_MAX_PACKET + ROOM_FILLER,
    ROOM_VERSION = 3, /* of traces that can have it */
    WORTH_ROOM = 16,  /* a file of so many times its size may keep what stays empty of it */
};

/* Writes the beginning of a filler of `size` bytes, at least ROOM_FILLER; the rest of it is of no
 * importance. Its header and its first event are those of a head. `time` is the trace's start, us
 * since the epoch. */
static inline void room_put_filler(uint8_t bytes[ROOM_FILLER], size_t size, uint64_t time) {
    const packet_header h = {
        .version = ROOM_VERSION,
        .verify_bucket = FORMAT_VERIFY_NOTHING,
        .packet = {
            .size = (uint32_t)size, .time_begin = time, .time_end = time, .pid = FORMAT_NOBODY}};
    put_event_header(put_packet_header(bytes, &h), FORMAT_TRACE_INFO, time);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* What is known of the room while the packets behind the head are met one after the other. */
typedef struct name_room {
    uint64_t begin; /* in the file, bytes: where the head ends */
    uint64_t end;   /* of what is known to be empty */
} name_room;

/* Takes a packet of nobody into account. */
void room_meet(name_room *r, uint64_t offset, uint64_t size);

/* How much there is, bytes, if all of it is empty; else 0. */
uint64_t room_size(const name_room *r);

/* ---- filling ------------------------------------------------------------------------------- */

/* Puts packets with names, `size` bytes in all, into an empty room of the file `fd`, which can be
 * written, and takes away `n_old` others, which begin at `old`: they become packets of nobody. At
 * whatever moment this ends the trace is whole, with all new names or with all old ones, or with
 * both, of which the later ones count: the names must be of a domain that has no others. False:
 * they do not fit, or could not be written. */
bool room_fill(const name_room *r, int fd, const uint8_t *names, size_t size, const uint64_t *old,
               size_t n_old);

#endif
