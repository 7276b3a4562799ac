/* reader_remark.c: reads marks, gauges, names of threads and scopes, and ids of spans, which
 * writer_remark.c writes.
 *
 * In the file, each is an allocation without samples, whose innermost location says what it is,
 * followed by a collection, which is not reported as an event. */
#include <string.h>

#include "trace/reader_next.h"
#include "trace/span_remark.h"

static const struct {
    const char *file;
    memtrace_event_kind kind;
} remarks[] = {{MEMTRACE_MARK_FILE, MEMTRACE_MARK},
               {MEMTRACE_GAUGE_FILE, MEMTRACE_GAUGE},
               {MEMTRACE_THREAD_FILE, MEMTRACE_THREAD},
               {MEMTRACE_SCOPE_FILE, MEMTRACE_SCOPE},
               {MEMTRACE_SPAN_FILE, MEMTRACE_SPAN}};

/* Writes `n` bytes as hexadecimal digits. Returns their end. */
static char *put_hex(char *to, const uint8_t *bytes, size_t n) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    *to = '\0';
    return to;
}

static unsigned part_named(const char *name) {
    unsigned i = 0;
    while (i < SPAN_REMARKS && strcmp(span_remark_names[i], name) != 0)
        i++;
    return i;
}

static void take_part(span_reading *r, unsigned part, uint64_t value) {
    const bool again = part == SPAN_REMARK_AGAIN && r->parts == SPAN_REMARK_NONE;
    if (part > 0 && part != r->parts && !again) {
        r->parts = 0;
        return;
    }
    for (unsigned i = SPAN_PART_BYTES; i-- > 0; value >>= 8)
        r->span.ids[part * SPAN_PART_BYTES + i] = (uint8_t)value;
    r->parts = (uint8_t)(part + 1);
}

static uint8_t digit_value(char c) {
    return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

memtrace_span span_remark_ids(const char *name) {
    memtrace_span span = {0};
    if (strlen(name) != SPAN_TEXT - 1)
        return span;
    for (size_t i = 0; i < sizeof span.ids; i++) {
        const char *at = name + 2 * i + (i >= MEMTRACE_TRACE_ID); /* skip the dash */
        span.ids[i] = (uint8_t)(digit_value(at[0]) << 4 | digit_value(at[1]));
    }
    return span;
}

/* Takes the remark of this name and value. Returns the span's name, in `text`, or an empty string
 * for no span, or NULL while more remarks are to come. If some remarks are missing, the result is
 * no span. */
static const char *take_span(span_reading *r, const char *name, uint64_t value,
                             char text[SPAN_TEXT]) {
    const unsigned part = part_named(name);
    if (part >= SPAN_REMARK_NONE)
        return part == SPAN_REMARK_NONE ? "" : NULL;
    take_part(r, part, value);
    if (part + 1 < SPAN_REMARK_NONE)
        return NULL;
    if (r->parts < SPAN_REMARK_NONE)
        return "";
    char *const end = put_hex(text, r->span.ids, MEMTRACE_TRACE_ID);
    *end = '-';
    put_hex(end + 1, r->span.ids + MEMTRACE_TRACE_ID, MEMTRACE_SPAN_ID);
    return text;
}

/* Skips the collection at r->next, if it is of this id. */
static void skip_end(memtrace_reader *r, uint64_t id) {
    const uint8_t *at = r->next;
    memtrace_event end;
    if (r->end - at >= FORMAT_EVENT_HEADER && bytes_u32(at) >> FORMAT_TIME_BITS == FORMAT_COLLECT &&
        reader_fate(r, at + FORMAT_EVENT_HEADER, FORMAT_COLLECT, false, &end) == BACKTRACE_GOOD &&
        end.id != id)
        r->next = at;
}

__attribute__((cold)) void reader_tell_remark(memtrace_reader *r, memtrace_event *event) {
    event->name = NULL;
    if (r->options.as_written)
        return;
    const memtrace_frame *f =
        event->n_frames ? memtrace_reader_frame(r, event->frames[event->n_frames - 1]) : NULL;
    const memtrace_location *l = f && f->n_locations ? &f->locations[f->n_locations - 1] : NULL;
    event->kind = MEMTRACE_MARK;
    for (size_t i = 0; l && i < sizeof remarks / sizeof *remarks; i++)
        if (strcmp(l->file, remarks[i].file) == 0) {
            event->kind = remarks[i].kind;
            event->name = l->function;
        }
    if (event->kind == MEMTRACE_SCOPE && strcmp(event->name, MEMTRACE_NO_SCOPE) == 0)
        event->name = "";
    if (event->kind == MEMTRACE_SPAN)
        event->name = take_span(&r->domain->span, event->name, event->length, r->span_text);
    skip_end(r, event->id);
}
