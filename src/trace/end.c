/* end.c: what the packet holds is a location, of which FORMAT.md tells the meaning. */
#include "trace/end.h"

#include <string.h>

#include "trace/bytes.h"
#include "trace/writer_put.h"

enum {
    LOCATION = FORMAT_EVENT_HEADER + 8 + 1, /* where the word of 48 bits is, behind the header */
    NAMES = LOCATION + FORMAT_LOCATION_SIZE,
    NEW_NAMES = 1023, /* both names follow */
    LINE = (1 << FORMAT_LINE_BITS) - 1,
    START_CHAR = (1 << FORMAT_START_CHAR_BITS) - 1,
};
static const char file_name[] = "<end>";

_Static_assert(FORMAT_EMPTY_PACKET + NAMES + sizeof file_name + MEMTRACE_MAX_REASON <= END_PACKET,
               "the longest reason fits");

/* Traces without names, or of several processes, are nobody's themselves. */
static uint64_t process_of(const end_trace *of) {
    enum { SOMEBODY = 1 };
    return of->pid == FORMAT_NOBODY ? SOMEBODY : FORMAT_NOBODY;
}

void end_put(uint8_t packet[END_PACKET], const end_trace *of, const memtrace_end *end) {
    const packet_header h = {.version = (uint16_t)of->version,
                             .verify_bucket = FORMAT_VERIFY_NOTHING,
                             .packet = {.size = END_PACKET,
                                        .time_begin = of->start + end->time,
                                        .time_end = of->start + end->time,
                                        .pid = process_of(of)}};
    const uint64_t word = (uint64_t)((unsigned)end->os_error & LINE) |
                          (uint64_t)end->how << FORMAT_LINE_BITS |
                          (uint64_t)NEW_NAMES << (48 - 2 * FORMAT_NAME_BITS);
    memset(packet, 0, END_PACKET);
    uint8_t *p =
        put_event_header(put_packet_header(packet, &h), FORMAT_LOCATION, h.packet.time_begin);
    p = put_u8(put_u64(p, end->n_lost), 1);
    p = put_u16(put_u32(p, (uint32_t)word), (uint16_t)(word >> 32));
    p = put_string(p, file_name, sizeof file_name - 1);
    put_string(p, end->reason, strnlen(end->reason, MEMTRACE_MAX_REASON - 1));
}

static bool is_known(uint64_t how) {
    return how == MEMTRACE_END_OPEN || how == MEMTRACE_END_WHOLE || how == MEMTRACE_END_EARLY;
}

bool end_parse(const uint8_t *packet, size_t n, const end_trace *of, memtrace_end *end) {
    packet_header h;
    if (n < END_PACKET || packet_parse(packet, n, 0, &h) != PACKET_GOOD ||
        h.packet.pid != process_of(of) || h.packet.size != END_PACKET)
        return false;
    const uint8_t *event = packet + h.header_size;
    const char *name = (const char *)event + NAMES, *reason = name + sizeof file_name;
    if (bytes_u32(event) >> FORMAT_TIME_BITS != FORMAT_LOCATION ||
        memcmp(name, file_name, sizeof file_name) != 0)
        return false;
    const uint64_t how = bytes_u32(event + LOCATION) >> FORMAT_LINE_BITS |
                         (uint64_t)bytes_u16(event + LOCATION + 4) << (32 - FORMAT_LINE_BITS);
    if (!is_known(how & START_CHAR))
        return false;
    const uint64_t time = h.packet.time_begin;
    *end = end_of((memtrace_ending)(how & START_CHAR), time > of->start ? time - of->start : 0,
                  (int)(bytes_u32(event + LOCATION) & LINE), reason);
    end->n_lost = bytes_u64(event + FORMAT_EVENT_HEADER);
    return true;
}

memtrace_end end_of(memtrace_ending how, uint64_t time, int os_error, const char *reason) {
    memtrace_end end = {.how = how, .time = time, .os_error = os_error};
    memcpy(end.reason, reason, strnlen(reason, MEMTRACE_MAX_REASON - 1));
    return end;
}
