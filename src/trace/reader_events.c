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

/* Reads the backtrace of an allocation: `n` codewords at `p`. */
static inline unsigned reader_backtrace(memtrace_reader *r, const uint8_t *p, uint32_t n,
                                        uint64_t prefix, memtrace_event *event) {
    backtrace *b = &r->domain->backtrace;
    p = backtrace_decode(b, &r->frames, p, r->end, n, prefix);
    if (unlikely(!p))
        return b->result;
    r->next = p;
    event->frames = b->frames;
    event->n_frames = b->n_frames;
    event->common_prefix = backtrace_take(b);
    event->suspect = backtrace_is_suspect(b);
    return b->result;
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

/* Reads the payload of an allocation at `p`. */
static inline unsigned reader_alloc(memtrace_reader *r, const uint8_t *p, unsigned kind,
                                    memtrace_event *event) {
    uint64_t length = kind - FORMAT_SHORT_ALLOC, samples = 1, prefix;
    unsigned source = MEMTRACE_MINOR, n;
    if (unlikely(kind == FORMAT_ALLOC)) {
        p = load_vint(p, &length);
        p = load_vint(p, &samples);
        source = *p++;
        if (source > MEMTRACE_EXTERNAL)
            return EVENT_BAD_SOURCE;
        if (length > INT64_MAX || samples > length + 1)
            return EVENT_BAD_SAMPLES;
        p = load_vint(p, &prefix);
        n = load_u16(p);
        p += 2;
    } else {
        p = load_vint(p, &prefix);
        n = *p++;
    }
    if (unlikely(p > r->end))
        return BACKTRACE_OVERRUN;
    unsigned result = r->options.skip_backtraces ? reader_skip_backtrace(r, p, n, event)
                                                 : reader_backtrace(r, p, n, prefix, event);
    event->kind = MEMTRACE_ALLOC;
    event->domain = r->header.packet.domain;
    event->id = r->next_id;
    event->source = (memtrace_source)source;
    event->length = length;
    event->samples = samples;
    r->next_id += result <= BACKTRACE_UNSET;
    return result;
}

/* Reads the payload of a promotion or collection at `p`. */
static inline unsigned reader_fate(memtrace_reader *r, const uint8_t *p, unsigned kind,
                                   memtrace_event *event) {
    uint64_t delta;
    p = load_vint(p, &delta);
    if (unlikely(p > r->end))
        return BACKTRACE_OVERRUN;
    *event = (memtrace_event){.kind = kind - FORMAT_PROMOTE + MEMTRACE_PROMOTE,
                              .domain = r->header.packet.domain,
                              .id = r->next_id - 1 - delta};
    r->next = p;
    return BACKTRACE_GOOD;
}

static inline bool is_fate(unsigned kind) {
    return kind == FORMAT_PROMOTE || kind == FORMAT_COLLECT;
}

static inline bool is_alloc(unsigned kind) {
    return kind - FORMAT_SHORT_ALLOC - 1 < FORMAT_SHORT_ALLOC_MAX || kind == FORMAT_ALLOC;
}

/* Reads the event at r->next and moves that behind it; `header` is what it begins with. */
static inline unsigned reader_event(memtrace_reader *r, uint32_t header, memtrace_event *event) {
    const uint8_t *p = r->next + FORMAT_EVENT_HEADER;
    unsigned kind = header >> FORMAT_TIME_BITS;
    if (likely(is_alloc(kind)))
        return reader_alloc(r, p, kind, event);
    return is_fate(kind) ? reader_fate(r, p, kind, event) : EVENT_UNKNOWN;
}

/* There is no event at r->next, for lack of bytes. */
static __attribute__((cold)) memtrace_status reader_go_on(memtrace_reader *r) {
    if (r->error.status != MEMTRACE_OK)
        return r->error.status;
    if (r->ended)
        return MEMTRACE_END;
    bool at_end = r->next == r->end && !(r->cut && r->next);
    return at_end ? reader_next_packet(r) : reader_bad_event(r, r->next, reader_overrun);
}

/* Reads whatever stands at r->next. */
static __attribute__((noinline)) memtrace_status reader_next_any(memtrace_reader *r,
                                                                 memtrace_event *event) {
    memtrace_status status = MEMTRACE_OK;
    while (status == MEMTRACE_OK) {
        const uint8_t *at = r->next;
        if (unlikely(r->end - at < FORMAT_EVENT_HEADER)) {
            status = reader_go_on(r);
            continue;
        }
        uint32_t header = load_u32(at);
        if (unlikely(header >> FORMAT_TIME_BITS == FORMAT_LOCATION)) {
            status = reader_location(r);
            continue;
        }
        unsigned result = reader_event(r, header, event);
        if (unlikely(result > BACKTRACE_UNSET)) {
            status = reader_wrong_event(r, result);
            continue;
        }
        bool backwards;
        event->time = reader_time(r, header, &backwards) - r->info.start_time;
        if (unlikely(backwards || result == BACKTRACE_UNSET))
            status = reader_odd_event(r, at, event, backwards, result == BACKTRACE_UNSET);
        if (status == MEMTRACE_OK)
            return status;
    }
    r->next = r->end = NULL; /* so that each further call ends up here again */
    return status;
}

/* Reads the event at r->next if it is a promotion or collection with nothing odd about it; else
 * leaves it. These are the commonest events, and take the shortest way. */
static inline bool reader_next_fate(memtrace_reader *r, memtrace_event *event) {
    const uint8_t *at = r->next;
    if (unlikely(r->end - at < FORMAT_EVENT_HEADER))
        return false;
    uint32_t header = load_u32(at);
    unsigned kind = header >> FORMAT_TIME_BITS;
    if (!is_fate(kind) ||
        unlikely(reader_fate(r, at + FORMAT_EVENT_HEADER, kind, event) != BACKTRACE_GOOD))
        return false;
    bool backwards;
    event->time = reader_time(r, header, &backwards) - r->info.start_time;
    if (unlikely(backwards))
        r->next = at;
    return !backwards;
}

memtrace_status memtrace_reader_next(memtrace_reader *r, memtrace_event *event) {
    return reader_next_fate(r, event) ? MEMTRACE_OK : reader_next_any(r, event);
}
