/* reader_next.h: reads an event, inline: for memtrace_reader_next, and for code that reads so many
 * events that a call per event, and writing the event to memory, would cost noticeable time.
 *
 * The path of almost every event is here and in backtrace.h. It checks for the end of the packet
 * once per record (see bytes.h). Rare cases are in reader_events.c. */
#ifndef TRACE_READER_NEXT_H
#define TRACE_READER_NEXT_H

#include "base/inline.h"
#include "trace/bytes.h"
#include "trace/reader.h"

/* The result of reading an event: a backtrace_result, or one of these. */
enum { EVENT_BAD_SOURCE = BACKTRACE_NOMEM + 1, EVENT_BAD_SAMPLES, EVENT_UNKNOWN };

/* Reads whatever is at r->next. */
memtrace_status reader_next_slow(memtrace_reader *r, memtrace_event *event);

/* Continues after an event at r->next that cannot be decoded, for the reason `result`. */
memtrace_status reader_next_after(memtrace_reader *r, unsigned result, memtrace_event *event);

/* Reports that an event was read but is not as it should be. */
memtrace_status reader_odd_event(memtrace_reader *r, const uint8_t *at, bool backwards, bool unset,
                                 memtrace_event *event);

/* Turns the allocation without samples that was just read into the mark or gauge that it
 * represents, and skips its collection, unless events are to be returned as written. */
void reader_tell_remark(memtrace_reader *r, memtrace_event *event);

/* In the functions below, `whole` is a constant: the fixed part of the event is known to be in the
 * packet (see EVENT_MAX_FIXED), and the common case is decoded inline. */

/* Reads the backtrace of an allocation: `n` codewords at `p`. */
static ALWAYS_INLINE unsigned reader_backtrace(memtrace_reader *r, const uint8_t *p, uint32_t n,
                                               uint64_t prefix, bool whole, memtrace_event *event) {
    backtrace *b = &r->domain->backtrace;
    p = whole ? backtrace_decode(b, &r->frames, p, r->end, n, prefix)
              : backtrace_decode_slow(b, &r->frames, p, r->end, n, prefix);
    const unsigned result = b->result;
    if (unlikely(!p))
        return result;
    r->next = p;
    event->frames = b->frames;
    event->n_frames = b->n_frames;
    event->common_prefix = backtrace_take_kept(b);
    event->suspect = unlikely(b->loss != 0) && backtrace_is_suspect(b);
    return result;
}

static inline unsigned reader_skip_backtrace(memtrace_reader *r, const uint8_t *p, uint32_t n,
                                             memtrace_event *event) {
    p = backtrace_skip(p, r->end, n);
    if (!p)
        return BACKTRACE_OVERRUN;
    r->next = p;
    event->frames = NULL;
    event->n_frames = event->common_prefix = 0;
    event->suspect = false;
    return BACKTRACE_GOOD;
}

/* Reads the fields of an allocation before its backtrace. `*prefix` and `*n` receive the shared
 * prefix and the number of codewords. Returns the end of the fields, or NULL if they make no sense,
 * with the reason in `*n`. */
static ALWAYS_INLINE const uint8_t *reader_alloc_head(const uint8_t *p, unsigned kind,
                                                      memtrace_event *event, uint64_t *prefix,
                                                      uint32_t *n) {
    event->kind = MEMTRACE_ALLOC;
    event->source = MEMTRACE_MINOR;
    event->length = kind - FORMAT_SHORT_ALLOC;
    event->samples = 1;
    if (likely(kind != FORMAT_ALLOC)) {
        p = bytes_vint(p, prefix);
        *n = *p;
        return p + 1;
    }
    uint64_t length, samples;
    p = bytes_vint(p, &length);
    p = bytes_vint(p, &samples);
    *n = *p > MEMTRACE_EXTERNAL                       ? EVENT_BAD_SOURCE
         : length > INT64_MAX || samples > length + 1 ? EVENT_BAD_SAMPLES
                                                      : BACKTRACE_GOOD;
    if (unlikely(*n != BACKTRACE_GOOD))
        return NULL;
    event->source = (memtrace_source)*p;
    event->length = length;
    event->samples = samples;
    p = bytes_vint(p + 1, prefix);
    *n = bytes_u16(p);
    return p + 2;
}

/* Reads the payload of an allocation at `p`. */
static ALWAYS_INLINE unsigned reader_alloc(memtrace_reader *r, const uint8_t *p, unsigned kind,
                                           bool whole, memtrace_event *event) {
    uint64_t prefix;
    uint32_t n;
    p = reader_alloc_head(p, kind, event, &prefix, &n);
    if (unlikely(!p))
        return n;
    if (!whole && p > r->end)
        return BACKTRACE_OVERRUN;
    event->domain = r->header.packet.domain;
    event->id = r->next_id;
    unsigned result = unlikely(r->options.skip_backtraces)
                          ? reader_skip_backtrace(r, p, n, event)
                          : reader_backtrace(r, p, n, prefix, whole, event);
    r->next_id += result <= BACKTRACE_UNSET;
    return result;
}

/* Reads the payload of a promotion or collection at `p`. */
static ALWAYS_INLINE unsigned reader_fate(memtrace_reader *r, const uint8_t *p, unsigned kind,
                                          bool whole, memtrace_event *event) {
    uint64_t delta;
    p = bytes_vint(p, &delta);
    if (!whole && p > r->end)
        return BACKTRACE_OVERRUN;
    r->next = p;
    event->kind = kind - FORMAT_PROMOTE + MEMTRACE_PROMOTE;
    event->domain = r->header.packet.domain;
    event->id = r->next_id - 1 - delta;
    event->source = 0;
    event->length = event->samples = 0;
    event->frames = NULL;
    event->n_frames = event->common_prefix = 0;
    event->suspect = false;
    return BACKTRACE_GOOD;
}

static inline bool reader_is_fate(unsigned kind) {
    return kind == FORMAT_PROMOTE || kind == FORMAT_COLLECT;
}

static inline bool reader_is_alloc(unsigned kind) {
    return kind - FORMAT_SHORT_ALLOC - 1 < FORMAT_SHORT_ALLOC_MAX || kind == FORMAT_ALLOC;
}

/* The largest size of an event without its variable parts: codewords and locations. */
enum { EVENT_MAX_FIXED = FORMAT_EVENT_HEADER + 3 * FORMAT_VINT_MAX_SIZE + 1 + sizeof(uint16_t) };

_Static_assert((int)EVENT_MAX_FIXED <= (int)INPUT_SLACK, "it is read before the end is looked at");

/* Sets the time of the event at `at`, whose payload was read with this result. */
static ALWAYS_INLINE memtrace_status reader_finish(memtrace_reader *r, const uint8_t *at,
                                                   uint32_t header, unsigned result,
                                                   memtrace_event *event) {
    bool backwards;
    event->time = reader_time(r, header, &backwards) - r->info.start_time;
    if (likely(!backwards && result == BACKTRACE_GOOD))
        return MEMTRACE_OK;
    memtrace_event odd = *event;
    const memtrace_status status =
        reader_odd_event(r, at, backwards, result == BACKTRACE_UNSET, &odd);
    event->suspect = odd.suspect;
    return status;
}

/* Whether the fixed part of an event at r->next is inside the packet. */
static inline bool reader_has_whole(const memtrace_reader *r) {
    return likely(r->end - r->next >= EVENT_MAX_FIXED);
}

/* Reads the promotion or collection at r->next, whose fixed part is inside the packet. Here and in
 * reader_next_alloc, `event` is never passed to a function that is not inlined, so that its fields
 * can be registers of the caller. */
static ALWAYS_INLINE memtrace_status reader_next_fate(memtrace_reader *r, uint32_t header,
                                                      memtrace_event *event) {
    const uint8_t *at = r->next;
    const unsigned kind = header >> FORMAT_TIME_BITS;
    return reader_finish(r, at, header, reader_fate(r, at + FORMAT_EVENT_HEADER, kind, true, event),
                         event);
}

/* Reads the allocation at r->next, whose fixed part is inside the packet. If it has no samples, the
 * caller must call reader_tell_remark. If `*result` is beyond BACKTRACE_UNSET, the allocation
 * cannot be decoded and the reader does not move; the caller must continue with
 * reader_next_after. */
static ALWAYS_INLINE memtrace_status reader_next_alloc(memtrace_reader *r, uint32_t header,
                                                       unsigned *result, memtrace_event *event) {
    const uint8_t *at = r->next;
    *result = reader_alloc(r, at + FORMAT_EVENT_HEADER, header >> FORMAT_TIME_BITS, true, event);
    return likely(*result <= BACKTRACE_UNSET) ? reader_finish(r, at, header, *result, event)
                                              : MEMTRACE_OK;
}

#endif
