/* reader_gaps.c: records where events are missing, as times and bytes.
 *
 * A gap begins at the latest event that was read. It ends with the packet if only the packet's
 * content is damaged, or with the next packet if it is unknown what was lost. */
#include "trace/end.h"
#include "trace/reader.h"

static uint64_t from_start(const memtrace_reader *r, uint64_t time) {
    return time > r->info.start_time ? time - r->info.start_time : 0;
}

static memtrace_gap *last_gap(const memtrace_reader *r) {
    return r->gaps.count ? &r->gaps.items[r->gaps.count - 1] : NULL;
}

/* Whether the loss belongs to the last gap: adjacent damage counts as one gap. */
static bool is_same(const memtrace_reader *r, const memtrace_gap *last, uint64_t from,
                    uint64_t to) {
    return last && (r->gap_is_open || r->gap_at == r->header.packet.offset ||
                    (from <= last->to && to >= last->from));
}

static memtrace_status add(memtrace_reader *r, memtrace_gap gap, bool is_open) {
    memtrace_gap *last = last_gap(r);
    if (is_same(r, last, gap.from, gap.to)) {
        last->from = gap.from < last->from ? gap.from : last->from;
        last->to = gap.to > last->to ? gap.to : last->to;
        last->bytes += gap.bytes;
    } else if (!vec_push(&r->gaps, gap)) {
        return reader_error_nomem(&r->error);
    }
    r->gap_at = r->header.packet.offset;
    r->gap_is_open = is_open;
    r->gap_domain = r->latest_domain;
    return MEMTRACE_OK;
}

/* Returns the end time of the packet being read, or 0 if its header is not plausible. */
static uint64_t packet_ends(const memtrace_reader *r) {
    return packet_plausible(&r->header) ? r->header.packet.time_end : 0;
}

memtrace_status reader_lose(memtrace_reader *r, uint64_t bytes, uint64_t in_packet) {
    const uint64_t latest = r->domain ? from_start(r, r->domain->last_time) : 0,
                   end = in_packet ? from_start(r, packet_ends(r)) : 0;
    return add(r, (memtrace_gap){latest, end > latest ? end : latest, bytes, 0},
               end == 0 || bytes > in_packet);
}

memtrace_status reader_miss(memtrace_reader *r, uint64_t until) {
    const uint64_t latest = from_start(r, r->domain->last_time), to = from_start(r, until);
    return add(r, (memtrace_gap){latest, to > latest ? to : latest, 0, 0}, false);
}

/* Packets are in the order in which they were filled. So anything lost before a packet of another
 * domain is not later than that packet's end. */
void reader_close_gap(memtrace_reader *r) {
    const memtrace_packet *p = &r->header.packet;
    memtrace_gap *last = last_gap(r);
    if (!r->gap_is_open)
        return;
    const uint64_t to = from_start(r, r->gap_domain == p->domain ? p->time_begin : p->time_end);
    r->gap_is_open = false;
    if (packet_plausible(&r->header) && to > last->to)
        last->to = to;
}

void reader_finish_gaps(memtrace_reader *r) {
    const uint64_t duration = memtrace_reader_duration(r),
                   end = r->said_end.time > duration ? r->said_end.time : duration;
    memtrace_gap *last = last_gap(r);
    if (r->gap_is_open && end > last->to)
        last->to = end;
    r->gap_is_open = false;
    for (size_t i = 0; i < r->gaps.count; i++)
        if (r->gaps.items[i].of == 0)
            r->gaps.items[i].of = r->in.offset;
}

memtrace_status reader_take_gap(memtrace_reader *r, bool *is_gap) {
    const end_trace of = reader_end_trace(r);
    const size_t n = input_peek(&r->in, END_PACKET); /* may move the window */
    memtrace_gap gap;
    *is_gap = end_parse_gap(r->in.next, n, &of, &gap);
    if (!*is_gap)
        return MEMTRACE_OK;
    reader_close_gap(r);
    if (!vec_push(&r->gaps, gap))
        return reader_error_nomem(&r->error);
    return reader_defect(r, GAP, r->header.packet.offset,
                         "%.6f s to %.6f s from its start; %llu bytes could not be read",
                         (double)gap.from / 1e6, (double)gap.to / 1e6,
                         (unsigned long long)gap.bytes);
}

const memtrace_gap *memtrace_reader_gaps(const memtrace_reader *r, size_t *n) {
    *n = r->gaps.count;
    return r->gaps.items;
}
