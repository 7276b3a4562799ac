/* reader_head.c: reads the first packet with the trace info, or says why a file is not a trace. */
#include <string.h>

#include "trace/bytes.h"
#include "trace/reader.h"

static memtrace_status head_bad_header(memtrace_error *error, const input *in,
                                       packet_verdict verdict) {
    const uint8_t *p = in->next;
    switch (verdict) {
    case PACKET_SHORT:
        return reader_error_format(
            error, in->available, "the trace ends after %zu bytes, within its head", in->available);
    case PACKET_BAD_VERSION:
        return reader_error_format(error, FORMAT_AT_VERSION,
                                   "not a memtrace trace of version 1 to 3: it says version %u",
                                   bytes_u16(p + FORMAT_AT_VERSION));
    case PACKET_BAD_SIZE:
        return reader_error_format(
            error, FORMAT_AT_SIZE,
            "not a memtrace trace: its first packet has %u bits, more or fewer than"
            " a packet can have",
            bytes_u32(p + FORMAT_AT_SIZE));
    default:
        return reader_error_format(
            error, 0,
            "not a memtrace trace: it begins with %02x %02x %02x %02x instead of"
            " c1 1f fc c1",
            p[0], p[1], p[2], p[3]);
    }
}

/* Reads a string of the head. Returns NULL if it does not end within the packet. */
static const char *head_string(memtrace_reader *r, const uint8_t **p, bool *nomem) {
    const uint8_t *nul = *p < r->end ? memchr(*p, 0, (size_t)(r->end - *p)) : NULL;
    if (!nul)
        return NULL;
    const char *s = intern(&r->strings, (const char *)*p, (size_t)(nul - *p));
    *nomem |= !s;
    *p = nul + 1;
    return s;
}

static double load_f64(const uint8_t *p) {
    uint64_t bits = bytes_u64(p);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool head_is_rate(double rate) {
    return rate > 0 && rate <= 1;
}

static bool head_is_word_size(unsigned bits) {
    return bits == 32 || bits == 64;
}

/* Damaged bytes may look like the event, but hardly contain a valid rate as well. */
bool reader_is_at_head(memtrace_reader *r) {
    enum { RATE = 8, WORD_SIZE = 1 };
    const size_t size = r->header.header_size + FORMAT_EVENT_HEADER + RATE + WORD_SIZE;
    if (r->header.packet.size < size || input_peek(&r->in, size) < size)
        return false;
    const uint8_t *event = r->in.next + r->header.header_size;
    const uint8_t *info = event + FORMAT_EVENT_HEADER;
    return bytes_u32(event) >> FORMAT_TIME_BITS == FORMAT_TRACE_INFO &&
           head_is_rate(load_f64(info)) && head_is_word_size(info[RATE]);
}

/* Reads the payload of the trace info event at `p`. Returns NULL, or what is wrong with it. */
static const char *head_read_info(memtrace_reader *r, const uint8_t *p, bool *nomem) {
    memtrace_info *info = &r->info;
    info->sample_rate = load_f64(p);
    info->word_size = p[8];
    p += 9;
    info->executable_name = head_string(r, &p, nomem);
    info->host_name = head_string(r, &p, nomem);
    info->runtime_params = head_string(r, &p, nomem);
    info->pid = bytes_u64(p);
    p += 8;
    info->context = info->version >= 2 ? head_string(r, &p, nomem) : "";
    if (*nomem)
        return NULL;
    if (p > r->end || !info->executable_name || !info->host_name || !info->runtime_params ||
        !info->context)
        return r->cut ? "the trace ends within its head"
                      : "trace info that goes beyond its packet; the head is damaged";
    if (!head_is_rate(info->sample_rate))
        return "a sampling rate that is not above 0 and at most 1; the head is damaged";
    if (!head_is_word_size(info->word_size))
        return "a word size that is neither 32 nor 64 bits; the head is damaged";
    r->next = p;
    return NULL;
}

memtrace_status reader_read_head(memtrace_reader *r) {
    packet_header *h = &r->header;
    size_t n = input_peek(&r->in, format_header_size(FORMAT_MAX_VERSION));
    if (r->in.status != MEMTRACE_OK && n < format_header_size(FORMAT_MIN_VERSION))
        return r->in.status == MEMTRACE_FORMAT
                   ? reader_error_format(&r->error, n, "%s", r->in.reason)
                   : reader_error_system(&r->error, r->in.reason, r->in.os_error);
    if (n == 0)
        return reader_error_format(&r->error, 0, "empty file");
    packet_verdict verdict = packet_parse(r->in.next, n, 0, h);
    if (verdict != PACKET_GOOD)
        return head_bad_header(&r->error, &r->in, verdict);
    r->info.version = h->version;
    r->info.pid = r->header_pid = h->packet.pid;
    memtrace_status status = reader_enter_packet(r);
    if (status != MEMTRACE_OK)
        return status;
    uint64_t offset = reader_offset(r, r->next);
    uint32_t event = bytes_u32(r->next);
    if (r->cut && r->end - r->next < FORMAT_EVENT_HEADER)
        return reader_error_format(&r->error, offset, "the trace ends within its head");
    if (r->end - r->next < FORMAT_EVENT_HEADER || event >> FORMAT_TIME_BITS != FORMAT_TRACE_INFO)
        return reader_error_format(&r->error, offset,
                                   "not a memtrace trace: its first packet holds no trace info");
    bool nomem = false, backwards;
    const char *why = head_read_info(r, r->next + FORMAT_EVENT_HEADER, &nomem);
    if (nomem)
        return reader_error_nomem(&r->error);
    if (why)
        return reader_error_format(&r->error, offset, "%s", why);
    r->info.start_time = reader_time(r, event, &backwards);
    return MEMTRACE_OK;
}
