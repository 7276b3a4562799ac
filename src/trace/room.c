/* room.c: the names are first written as packets of FORMAT_PID_NONE, and assigned to the process
 * once all of them are there. */
#include "trace/room.h"

#include "base/file.h"
#include "trace/bytes.h"

/* ---- reading ------------------------------------------------------------------------------- */

void room_meet(name_room *r, uint64_t offset, uint64_t size) {
    const bool first = (r->end - r->begin) % ROOM_SLOT == 0; /* the first packet of its slot */
    if (offset == r->end && size == (first ? FORMAT_MAX_PACKET : ROOM_FILLER))
        r->end += size;
}

uint64_t room_size(const name_room *r) {
    return (r->end - r->begin) / ROOM_SLOT * ROOM_SLOT;
}

/* ---- filling ------------------------------------------------------------------------------- */

static bool set_process(int fd, uint64_t packet, uint64_t pid) {
    uint8_t bytes[sizeof pid];
    put_u64(bytes, pid);
    return file_write_at(fd, bytes, sizeof bytes, packet + FORMAT_AT_PID) == 0;
}

/* Writes a packet as one of FORMAT_PID_NONE, and a filler after it. */
static bool fill_slot(int fd, uint64_t slot, const uint8_t *packet, size_t size) {
    uint8_t bytes[ROOM_SLOT];
    memcpy(bytes, packet, size);
    put_u64(bytes + FORMAT_AT_PID, FORMAT_PID_NONE);
    room_put_filler(bytes + size, ROOM_SLOT - size, bytes_u64(packet + FORMAT_AT_TIME_BEGIN));
    return file_write_at(fd, bytes, size + ROOM_FILLER, slot) == 0;
}

bool room_fill(const name_room *r, int fd, const uint8_t *names, size_t size, const uint64_t *old,
               size_t n_old) {
    uint64_t slot = r->begin;
    for (size_t at = 0, packet; at < size; at += packet, slot += ROOM_SLOT) {
        packet = bytes_u32(names + at + FORMAT_AT_SIZE) / 8;
        if (slot - r->begin == room_size(r) || !fill_slot(fd, slot, names + at, packet))
            return false;
    }
    for (uint64_t filled = r->begin; filled < slot; filled += ROOM_SLOT)
        if (!set_process(fd, filled, bytes_u64(names + FORMAT_AT_PID)))
            return false;
    for (size_t i = n_old; i-- > 0;) /* backwards, since a packet refers to those before it */
        if (!set_process(fd, old[i], FORMAT_PID_NONE))
            return false;
    return true;
}
