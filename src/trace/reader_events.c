/* reader_events.c: allocations, promotions and collections: one each call of memtrace_reader_next.
 *
 * Speed lives here and in backtrace.c: what every event passes through is in line and looks at the
 * end of its packet once a record (see bytes.h); what few events need is cold. */
#include "trace/bytes.h"
#include "trace/reader.h"

/* How the reading of an event went: a backtrace_result, or one of these. */
enum { EVENT_BAD_SOURCE = BACKTRACE_NOMEM + 1, EVENT_BAD_SAMPLES, EVENT_UNKNOWN };

/* An event that cannot be decoded. */
static __attribute__((cold)) memtrace_status reader_wrong_event(memtrace_reader *r,
                                                                unsigned result) {
    static const char *const why[] = {
        [BACKTRACE_TOO_DEEP] = "a backtrace of impossible depth",
        [EVENT_BAD_SOURCE] = "an allocation of unknown source",
        [EVENT_BAD_SAMPLES] = "an allocation with more samples than words",
        [EVENT_UNKNOWN] = "an event of unknown kind",
    };
    if (result == BACKTRACE_NOMEM)
        return error_nomem(&r->error);
    return reader_bad_event(r, r->next, result == BACKTRACE_OVERRUN ? reader_overrun : why[result]);
}

/* An event that was read, but is not as it should be. A bucket that was never filled stands for
 * code 0; unless the trace knows that code, what filled the bucket was lost. */
static __attribute__((cold)) memtrace_status reader_odd_event(memtrace_reader *r, const uint8_t *at,
                                                              memtrace_event *event, bool backwards,
                                                              bool unset) {
    uint64_t offset = reader_offset(r, at);
    if (backwards) {
        memtrace_status status =
            reader_defect(r, TIME_BACKWARDS, offset, "an event earlier than the one before it");
        if (status != MEMTRACE_OK)
            return status;
    }
    if (!unset || r->domain->backtrace.loss > 0 || frame_table_knows(&r->frames, 0))
        return MEMTRACE_OK;
    reader_domain_lose(r);
    event->suspect = true;
    return reader_defect(r, CACHE_MISMATCH, offset, "a backtrace uses a bucket never filled");
}

/* In what follows, `whole` is a constant: the fixed part of the event is known to be there (see
 * EVENT_MAX_FIXED), and the common case is decoded in line. */

/* Reads the backtrace of an allocation: `n` codewords at `p`. */
static inline unsigned reader_backtrace(memtrace_reader *r, const uint8_t *p, uint32_t n,
                                        uint64_t prefix, bool whole, memtrace_event *event) {
    backtrace *b = &r->domain->backtrace;
    p = whole ? backtrace_decode(b, &r->frames, p, r->end, n, prefix)
              : backtrace_decode_any(b, &r->frames, p, r->end, n, prefix);
    const unsigned result = b->result;
    if (unlikely(!p))
        return result;
    r->next = p;
    event->frames = b->frames;
    event->n_frames = b->n_frames;
    event->common_prefix = backtrace_take(b);
    event->suspect = unlikely(b->loss != 0) && backtrace_is_suspect(b);
    return result;
}

static unsigned reader_skip_backtrace(memtrace_reader *r, const uint8_t *p, uint32_t n,
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
        p = load_vint(p, prefix);
        *n = *p;
        return p + 1;
    }
    uint64_t length, samples;
    p = load_vint(p, &length);
    p = load_vint(p, &samples);
    *n = *p > MEMTRACE_EXTERNAL                       ? EVENT_BAD_SOURCE
         : length > INT64_MAX || samples > length + 1 ? EVENT_BAD_SAMPLES
                                                      : BACKTRACE_GOOD;
    if (unlikely(*n != BACKTRACE_GOOD))
        return NULL;
    event->source = (memtrace_source)*p;
    event->length = length;
    event->samples = samples;
    p = load_vint(p + 1, prefix);
    *n = load_u16(p);
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
    p = load_vint(p, &delta);
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

static inline bool is_fate(unsigned kind) {
    return kind == FORMAT_PROMOTE || kind == FORMAT_COLLECT;
}

static inline bool is_alloc(unsigned kind) {
    return kind - FORMAT_SHORT_ALLOC - 1 < FORMAT_SHORT_ALLOC_MAX || kind == FORMAT_ALLOC;
}

/* The most that an event takes without what counts for itself: codewords, locations. */
enum { EVENT_MAX_FIXED = FORMAT_EVENT_HEADER + 3 * FORMAT_VINT_MAX_SIZE + 1 + sizeof(uint16_t) };

_Static_assert((int)EVENT_MAX_FIXED <= (int)INPUT_SLACK, "it is read before the end is looked at");

/* There is no event at r->next, for lack of bytes. */
static __attribute__((cold)) memtrace_status reader_go_on(memtrace_reader *r) {
    if (r->error.status != MEMTRACE_OK)
        return r->error.status;
    if (r->ended)
        return MEMTRACE_END;
    bool at_end = r->next == r->end && !(r->cut && r->next);
    return at_end ? reader_next_packet(r) : reader_bad_event(r, r->next, reader_overrun);
}

/* Nothing is read after this status; r->next is NULL so that each further call ends up here again.
 */
static __attribute__((cold)) memtrace_status reader_stop(memtrace_reader *r,
                                                         memtrace_status status) {
    r->next = r->end = NULL;
    return status;
}

/* Gives the event at `at`, whose payload was read with this result, its time. */
static inline memtrace_status reader_finish(memtrace_reader *r, const uint8_t *at, uint32_t header,
                                            unsigned result, memtrace_event *event) {
    bool backwards;
    event->time = reader_time(r, header, &backwards) - r->info.start_time;
    if (likely(!backwards && result == BACKTRACE_GOOD))
        return MEMTRACE_OK;
    memtrace_status status = reader_odd_event(r, at, event, backwards, result == BACKTRACE_UNSET);
    return status == MEMTRACE_OK ? status : reader_stop(r, status);
}

/* Reads whatever stands at r->next. */
static __attribute__((noinline)) memtrace_status reader_next_any(memtrace_reader *r,
                                                                 memtrace_event *event) {
    for (;;) {
        const uint8_t *at = r->next;
        memtrace_status status;
        if (r->end - at < FORMAT_EVENT_HEADER) {
            status = reader_go_on(r);
        } else if (load_u32(at) >> FORMAT_TIME_BITS == FORMAT_LOCATION) {
            status = reader_location(r);
        } else {
            unsigned kind = load_u32(at) >> FORMAT_TIME_BITS, result = EVENT_UNKNOWN;
            if (is_alloc(kind))
                result = reader_alloc(r, at + FORMAT_EVENT_HEADER, kind, false, event);
            else if (is_fate(kind))
                result = reader_fate(r, at + FORMAT_EVENT_HEADER, kind, false, event);
            if (likely(result <= BACKTRACE_UNSET))
                return reader_finish(r, at, load_u32(at), result, event);
            status = reader_wrong_event(r, result);
        }
        if (status != MEMTRACE_OK)
            return reader_stop(r, status);
    }
}

/* Reads the allocation at r->next, whose fixed part is before the end of the packet. */
static __attribute__((noinline)) memtrace_status
reader_next_alloc(memtrace_reader *r, memtrace_event *event, uint32_t header) {
    const uint8_t *at = r->next;
    unsigned kind = header >> FORMAT_TIME_BITS;
    unsigned result = reader_alloc(r, at + FORMAT_EVENT_HEADER, kind, true, event);
    if (likely(result <= BACKTRACE_UNSET))
        return reader_finish(r, at, header, result, event);
    memtrace_status status = reader_wrong_event(r, result);
    return status == MEMTRACE_OK ? reader_next_any(r, event) : reader_stop(r, status);
}

/* Far from the end of the packet each kind of event has a way of its own, the shortest one for
 * promotions and collections: they are the commonest. */
memtrace_status memtrace_reader_next(memtrace_reader *r, memtrace_event *event) {
    const uint8_t *at = r->next;
    if (likely(r->end - at >= EVENT_MAX_FIXED)) {
        uint32_t header = load_u32(at);
        unsigned kind = header >> FORMAT_TIME_BITS;
        if (is_fate(kind))
            return reader_finish(
                r, at, header, reader_fate(r, at + FORMAT_EVENT_HEADER, kind, true, event), event);
        if (likely(is_alloc(kind)))
            return reader_next_alloc(r, event, header);
    }
    return reader_next_any(r, event);
}
