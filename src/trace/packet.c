/* packet.c: a header is parsed as far as there are bytes, so that a reader can ask for more.
 * Whether it is plausible is a separate question, for readers that look for packets in damaged
 * bytes. */
#include "trace/packet.h"

#include <string.h>

#include "trace/bytes.h"

static const uint8_t magic_bytes[] = {FORMAT_MAGIC & 255, FORMAT_MAGIC >> 8 & 255,
                                      FORMAT_MAGIC >> 16 & 255, FORMAT_MAGIC >> 24};

static void header_load(const uint8_t *p, packet_header *h) {
    const uint8_t *back = p + format_header_back(h->version);
    h->packet.domain = h->version >= 3 ? bytes_u16(p + FORMAT_AT_DOMAIN) : 0;
    h->packet.time_begin = bytes_u64(p + FORMAT_AT_TIME_BEGIN);
    h->packet.time_end = bytes_u64(p + FORMAT_AT_TIME_END);
    h->packet.pid = bytes_u64(p + FORMAT_AT_PID);
    h->packet.id_begin = bytes_u64(back + FORMAT_BACK_ID_BEGIN);
    h->packet.id_end = bytes_u64(back + FORMAT_BACK_ID_END);
    h->verify_bucket = bytes_u16(back + FORMAT_BACK_VERIFY_BUCKET);
    h->verify_prediction = bytes_u16(back + FORMAT_BACK_VERIFY_PREDICTION);
    h->verify_code = bytes_u64(back + FORMAT_BACK_VERIFY_CODE);
}

packet_verdict packet_parse(const uint8_t *bytes, size_t available, unsigned version,
                            packet_header *h) {
    size_t n = available < sizeof magic_bytes ? available : sizeof magic_bytes;
    if (memcmp(bytes, magic_bytes, n) != 0)
        return PACKET_BAD_MAGIC;
    if (available < FORMAT_HEADER_FRONT)
        return PACKET_SHORT;
    h->version = bytes_u16(bytes + FORMAT_AT_VERSION);
    if (version ? h->version != version
                : h->version < FORMAT_MIN_VERSION || h->version > FORMAT_MAX_VERSION)
        return PACKET_BAD_VERSION;
    h->header_size = format_header_size(h->version);
    uint32_t bits = bytes_u32(bytes + FORMAT_AT_SIZE);
    h->packet.size = bits / 8;
    if (bits % 8 != 0 || h->packet.size < h->header_size || h->packet.size > FORMAT_MAX_PACKET)
        return PACKET_BAD_SIZE;
    if (available < h->header_size)
        return PACKET_SHORT;
    header_load(bytes, h);
    return PACKET_GOOD;
}

bool packet_plausible(const packet_header *h) {
    const memtrace_packet *p = &h->packet;
    bool verify_good =
        h->verify_bucket == FORMAT_VERIFY_NOTHING || h->verify_bucket < FORMAT_BUCKETS;
    return p->time_begin <= p->time_end && p->time_end - p->time_begin < 1u << FORMAT_TIME_BITS &&
           p->id_begin <= p->id_end && p->id_end - p->id_begin <= p->size && verify_good &&
           h->verify_prediction < FORMAT_BUCKETS;
}
