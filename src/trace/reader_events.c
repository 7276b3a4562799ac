/* reader_events.c: reads allocations, promotions and collections, one for each call of
 * memtrace_reader_next.
 *
 * The path of every event is in reader_next.h. This file has the rare and cold cases. */
#include "trace/reader_next.h"

/* Handles an event that cannot be decoded. */
static __attribute__((cold)) memtrace_status reader_wrong_event(memtrace_reader *r,
                                                                unsigned result) {
    static const char *const why[] = {
        [BACKTRACE_TOO_DEEP] = "a backtrace of impossible depth",
        [EVENT_BAD_SOURCE] = "an allocation of unknown source",
        [EVENT_BAD_SAMPLES] = "an allocation with more samples than words",
        [EVENT_UNKNOWN] = "an event of unknown kind",
    };
    if (result == BACKTRACE_NOMEM)
        return reader_error_nomem(&r->error);
    return reader_bad_event(r, r->next, result == BACKTRACE_OVERRUN ? reader_overrun : why[result]);
}

/* Handles an event that was read but is not as it should be. A bucket that was never filled stands
 * for code 0. Unless the trace knows that code, the event that filled the bucket was lost. */
static __attribute__((cold)) memtrace_status odd_event(memtrace_reader *r, const uint8_t *at,
                                                       bool backwards, bool unset,
                                                       memtrace_event *event) {
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
    const memtrace_status status = reader_miss(r, r->domain->last_time);
    if (status != MEMTRACE_OK)
        return status;
    return reader_defect(r, CACHE_MISMATCH, offset, "a backtrace uses a bucket never filled");
}

/* Continues when too few bytes are left for an event at r->next. */
static __attribute__((cold)) memtrace_status reader_go_on(memtrace_reader *r) {
    if (r->error.status != MEMTRACE_OK)
        return r->error.status;
    if (r->ended)
        return reader_judge_end(r);
    bool at_end = r->next == r->end && !(r->cut && r->next);
    return at_end ? reader_next_packet(r) : reader_bad_event(r, r->next, reader_overrun);
}

/* Stops reading. With r->next NULL, each further call ends up here again. */
static __attribute__((cold)) memtrace_status reader_stop(memtrace_reader *r,
                                                         memtrace_status status) {
    r->next = r->end = NULL;
    return status;
}

__attribute__((cold)) memtrace_status reader_odd_event(memtrace_reader *r, const uint8_t *at,
                                                       bool backwards, bool unset,
                                                       memtrace_event *event) {
    const memtrace_status status = odd_event(r, at, backwards, unset, event);
    return status == MEMTRACE_OK ? status : reader_stop(r, status);
}

memtrace_status reader_next_slow(memtrace_reader *r, memtrace_event *event) {
    for (;;) {
        const uint8_t *at = r->next;
        memtrace_status status;
        if (r->end - at < FORMAT_EVENT_HEADER) {
            status = reader_go_on(r);
        } else if (bytes_u32(at) >> FORMAT_TIME_BITS == FORMAT_LOCATION) {
            status = reader_location(r);
        } else {
            unsigned kind = bytes_u32(at) >> FORMAT_TIME_BITS, result = EVENT_UNKNOWN;
            if (reader_is_alloc(kind))
                result = reader_alloc(r, at + FORMAT_EVENT_HEADER, kind, false, event);
            else if (reader_is_fate(kind))
                result = reader_fate(r, at + FORMAT_EVENT_HEADER, kind, false, event);
            if (likely(result <= BACKTRACE_UNSET)) {
                status = reader_finish(r, at, bytes_u32(at), result, event);
                if (unlikely(event->kind == MEMTRACE_ALLOC && event->samples == 0))
                    reader_tell_remark(r, event);
                return status;
            }
            status = reader_wrong_event(r, result);
        }
        if (status != MEMTRACE_OK)
            return reader_stop(r, status);
    }
}

memtrace_status reader_next_after(memtrace_reader *r, unsigned result, memtrace_event *event) {
    const memtrace_status status = reader_wrong_event(r, result);
    return status == MEMTRACE_OK ? reader_next_slow(r, event) : reader_stop(r, status);
}

/* A function of its own, to keep the path of promotions and collections short. */
static __attribute__((noinline)) memtrace_status
next_alloc(memtrace_reader *r, memtrace_event *event, uint32_t header) {
    unsigned result;
    const memtrace_status status = reader_next_alloc(r, header, &result, event);
    if (unlikely(result > BACKTRACE_UNSET))
        return reader_next_after(r, result, event);
    if (unlikely(event->samples == 0))
        reader_tell_remark(r, event);
    return status;
}

/* Far from the end of the packet, each kind of event has its own path. Promotions and collections
 * have the shortest one, because they are the most frequent. */
memtrace_status memtrace_reader_next(memtrace_reader *r, memtrace_event *event) {
    if (reader_has_whole(r)) {
        const uint32_t header = bytes_u32(r->next);
        if (reader_is_fate(header >> FORMAT_TIME_BITS))
            return reader_next_fate(r, header, event);
        if (likely(reader_is_alloc(header >> FORMAT_TIME_BITS)))
            return next_alloc(r, event, header);
    }
    return reader_next_slow(r, event);
}
