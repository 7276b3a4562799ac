/* reader_next.h: the reading of an event, in line: for memtrace_reader_next, and for who reads so
 * many events that a call for each, and an event in memory, are felt.
 *
 * What nearly every event passes through is here and in backtrace.h, and looks at the end of its
 * packet once a record (see bytes.h); what few events need is in reader_events.c. */
#ifndef TRACE_READER_NEXT_H
#define TRACE_READER_NEXT_H

#include "trace/bytes.h"
#include "trace/reader.h"

/* How the reading of an event went: a backtrace_result, or one of these. */
enum { EVENT_BAD_SOURCE = BACKTRACE_NOMEM + 1, EVENT_BAD_SAMPLES, EVENT_UNKNOWN };

/* Reads whatever stands at r->next. */
memtrace_status reader_next_slow(memtrace_reader *r, memtrace_event *event);

/* The event at r->next cannot be decoded, for this reason: reads what can be read after it. */
memtrace_status reader_next_after(memtrace_reader *r, unsigned result, memtrace_event *event);

/* Says that an event which was read is not as it should be. */
memtrace_status reader_odd_event(memtrace_reader *r, const uint8_t *at, bool backwards, bool unset,
                                 memtrace_event *event);

/* Makes the allocation without samples that was just read the mark or gauge that it is, and steps
 * over its end; unless it is to stay as it is written. */
void reader_tell_remark(memtrace_reader *r, memtrace_event *event);

/* In what follows, `whole` is a constant: the fixed part of the event is known to be there (see
 * EVENT_MAX_FIXED), and the common case is decoded in line. */

/* Reads the backtrace of an allocation: `n` codewords at `p`. */
static inline __attribute__((always_inline)) unsigned reader_backtrace(memtrace_reader *r,
                                                                       const uint8_t *p, uint32_t n,
                                                                       uint64_t prefix, bool whole,
                                                                       memtrace_event *event) {
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

/* Reads what an allocation has before its backtrace, and how that is coded; returns its end, or
 * NULL if it makes no sense, for the reason in `*n`. */
static inline __attribute__((always_inline)) const uint8_t *
reader_alloc_head(const uint8_t *p, unsigned kind, memtrace_event *event, uint64_t *prefix,
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
static inline __attribute__((always_inline)) unsigned reader_alloc(memtrace_reader *r,
                                                                   const uint8_t *p, unsigned kind,
                                                                   bool whole,
                                                                   memtrace_event *event) {
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
static inline __attribute__((always_inline)) unsigned reader_fate(memtrace_reader *r,
                                                                  const uint8_t *p, unsigned kind,
                                                                  bool whole,
                                                                  memtrace_event *event) {
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

/* The most that an event takes without what counts for itself: codewords, locations. */
enum { EVENT_MAX_FIXED = FORMAT_EVENT_HEADER + 3 * FORMAT_VINT_MAX_SIZE + 1 + sizeof(uint16_t) };

_Static_assert((int)EVENT_MAX_FIXED <= (int)INPUT_SLACK, "it is read before the end is looked at");

/* Gives the event at `at`, whose payload was read with this result, its time. */
static inline __attribute__((always_inline)) memtrace_status
reader_finish(memtrace_reader *r, const uint8_t *at, uint32_t header, unsigned result,
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

/* Whether the fixed part of an event at r->next is there. */
static inline bool reader_has_whole(const memtrace_reader *r) {
    return likely(r->end - r->next >= EVENT_MAX_FIXED);
}

/* Reads the promotion or collection at r->next with this header, whose fixed part is there. As in
 * the next one, what is not in line is never shown `*event`, so that its fields can be registers of
 * the caller. */
static inline __attribute__((always_inline)) memtrace_status
reader_next_fate(memtrace_reader *r, uint32_t header, memtrace_event *event) {
    const uint8_t *at = r->next;
    const unsigned kind = header >> FORMAT_TIME_BITS;
    return reader_finish(r, at, header, reader_fate(r, at + FORMAT_EVENT_HEADER, kind, true, event),
                         event);
}

/* The same of an allocation, which may have no samples: reader_tell_remark is for the caller. If
 * `*result` is beyond BACKTRACE_UNSET it cannot be decoded, and the reader does not move:
 * reader_next_after is the way on. */
static inline __attribute__((always_inline)) memtrace_status
reader_next_alloc(memtrace_reader *r, uint32_t header, unsigned *result, memtrace_event *event) {
    const uint8_t *at = r->next;
    *result = reader_alloc(r, at + FORMAT_EVENT_HEADER, header >> FORMAT_TIME_BITS, true, event);
    return likely(*result <= BACKTRACE_UNSET) ? reader_finish(r, at, header, *result, event)
                                              : MEMTRACE_OK;
}

#endif
