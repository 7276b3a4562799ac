/* end.c: the packet of a statement holds one location, whose fields FORMAT.md explains. */
#include "trace/end.h"

#include <string.h>

#include "trace/bytes.h"
#include "trace/writer_put.h"

enum {
    LOCATION = FORMAT_EVENT_HEADER + 8 + 1, /* offset of the 48-bit word within the event */
    NAMES = LOCATION + FORMAT_LOCATION_SIZE,
    NEW_NAMES = 1023, /* both codes: new names follow */
    LINE = (1 << FORMAT_LINE_BITS) - 1,
    START_CHAR = (1 << FORMAT_START_CHAR_BITS) - 1,
    FILE_NAME = 6, /* bytes of each file name below, with its NUL */
    DIGITS = 20,   /* decimal digits of the largest number */
};
static const char end_name[FILE_NAME] = "<end>", gap_name[FILE_NAME] = "<gap>";

_Static_assert(FORMAT_EMPTY_PACKET + NAMES + FILE_NAME + MEMTRACE_MAX_REASON <= END_PACKET,
               "the longest reason fits");

/* The decoded packet. Times are microseconds since the epoch. */
typedef struct statement {
    uint64_t begin, end, code;
    uint32_t line, start_char;
    char text[MEMTRACE_MAX_REASON];
} statement;

/* Traces without names, or of several processes, have the process id FORMAT_PID_NONE themselves. */
static uint64_t process_of(const end_trace *of) {
    enum { SOMEBODY = 1 };
    return of->pid == FORMAT_PID_NONE ? SOMEBODY : FORMAT_PID_NONE;
}

static void put(uint8_t packet[END_PACKET], const end_trace *of, const char name[FILE_NAME],
                const statement *s) {
    const packet_header h = {
        .version = (uint16_t)of->version,
        .verify_bucket = FORMAT_VERIFY_NOTHING,
        .packet = {
            .size = END_PACKET, .time_begin = s->begin, .time_end = s->end, .pid = process_of(of)}};
    const uint64_t word = (uint64_t)(s->line & LINE) | (uint64_t)s->start_char << FORMAT_LINE_BITS |
                          (uint64_t)NEW_NAMES << (48 - 2 * FORMAT_NAME_BITS);
    memset(packet, 0, END_PACKET);
    uint8_t *p = put_event_header(put_packet_header(packet, &h), FORMAT_LOCATION, s->begin);
    p = put_u8(put_u64(p, s->code), 1);
    p = put_u16(put_u32(p, (uint32_t)word), (uint16_t)(word >> 32));
    p = put_string(p, name, FILE_NAME - 1);
    put_string(p, s->text, strnlen(s->text, MEMTRACE_MAX_REASON - 1));
}

static bool parse(const uint8_t *packet, size_t n, const end_trace *of, const char name[FILE_NAME],
                  statement *s) {
    packet_header h;
    if (n < END_PACKET || packet_parse(packet, n, 0, &h) != PACKET_GOOD ||
        h.packet.pid != process_of(of) || h.packet.size != END_PACKET)
        return false;
    const uint8_t *event = packet + h.header_size;
    const char *text = (const char *)event + NAMES + FILE_NAME;
    if (bytes_u32(event) >> FORMAT_TIME_BITS != FORMAT_LOCATION ||
        memcmp(event + NAMES, name, FILE_NAME) != 0)
        return false;
    const uint64_t high = bytes_u32(event + LOCATION) >> FORMAT_LINE_BITS |
                          (uint64_t)bytes_u16(event + LOCATION + 4) << (32 - FORMAT_LINE_BITS);
    *s = (statement){.begin = h.packet.time_begin,
                     .end = h.packet.time_end,
                     .code = bytes_u64(event + FORMAT_EVENT_HEADER),
                     .line = bytes_u32(event + LOCATION) & LINE,
                     .start_char = (uint32_t)(high & START_CHAR)};
    memcpy(s->text, text, strnlen(text, MEMTRACE_MAX_REASON - 1));
    return true;
}

static uint64_t since(uint64_t start, uint64_t time) {
    return time > start ? time - start : 0;
}

/* ---- the end ----------------------------------------------------------------------------- */

void end_put(uint8_t packet[END_PACKET], const end_trace *of, const memtrace_end *end) {
    statement s = {.begin = of->start + end->time,
                   .end = of->start + end->time,
                   .code = end->n_lost,
                   .line = (uint32_t)end->os_error,
                   .start_char = end->how};
    memcpy(s.text, end->reason, strnlen(end->reason, MEMTRACE_MAX_REASON - 1));
    put(packet, of, end_name, &s);
}

static bool is_known(uint64_t how) {
    return how == MEMTRACE_END_OPEN || how == MEMTRACE_END_WHOLE || how == MEMTRACE_END_EARLY;
}

bool end_parse(const uint8_t *packet, size_t n, const end_trace *of, memtrace_end *end) {
    statement s;
    if (!parse(packet, n, of, end_name, &s) || !is_known(s.start_char))
        return false;
    *end = end_make((memtrace_ending)s.start_char, since(of->start, s.begin), (int)s.line, s.text);
    end->n_lost = s.code;
    return true;
}

memtrace_end end_make(memtrace_ending how, uint64_t time, int os_error, const char *reason) {
    memtrace_end end = {.how = how, .time = time, .os_error = os_error};
    memcpy(end.reason, reason, strnlen(reason, MEMTRACE_MAX_REASON - 1));
    return end;
}

/* ---- gaps -------------------------------------------------------------------------------- */

/* Without stdio, because this is linked into recorders. */
static void put_decimal(char text[DIGITS + 1], uint64_t number) {
    char digits[DIGITS];
    size_t n = 0, at = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        text[at++] = digits[--n];
    text[at] = '\0';
}

static uint64_t decimal_of(const char *text) {
    uint64_t number = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*text - '0'), &number))
            return 0;
    return *text ? 0 : number;
}

void end_put_gap(uint8_t packet[END_PACKET], const end_trace *of, const memtrace_gap *gap) {
    statement s = {.begin = of->start + gap->from, .end = of->start + gap->to, .code = gap->bytes};
    put_decimal(s.text, gap->of);
    put(packet, of, gap_name, &s);
}

bool end_parse_gap(const uint8_t *packet, size_t n, const end_trace *of, memtrace_gap *gap) {
    statement s;
    if (!parse(packet, n, of, gap_name, &s) || s.end < s.begin)
        return false;
    *gap = (memtrace_gap){.from = since(of->start, s.begin),
                          .to = since(of->start, s.end),
                          .bytes = s.code,
                          .of = decimal_of(s.text)};
    return true;
}
