/* reader.h: the state of the event reader, shared by the files that make it up.
 *
 * reader.c owns packets: which is ours, where to go on after damage; reader_head.c the first one.
 * reader_gaps.c notes what is
 * lost. reader_events.c, reader_locations.c and reader_remark.c decode what stands in them, up to
 * the first event that makes no sense. Nobody else includes this, but through reader_next.h. */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include "allotrace/memtrace.h"
#include "base/intern.h"
#include "base/map64.h"
#include "base/vec.h"
#include "trace/backtrace.h"
#include "trace/columns.h"
#include "trace/defects.h"
#include "trace/end.h"
#include "trace/frames.h"
#include "trace/input.h"
#include "trace/mtf.h"
#include "trace/packet.h"
#include "trace/span_remark.h"

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* What must be remembered of a domain between its packets. */
typedef struct reader_domain {
    uint64_t last_time; /* us since the epoch, of its latest event: never goes back */
    uint64_t losses;    /* of the reader's, those that the tables here know of */
    backtrace backtrace;
    names_packed *names; /* NULL until the first location; old while it is `named` */
    bool names_lost;     /* to be told to the names when they are unpacked */
    span_reading span;
} reader_domain;

struct memtrace_reader {
    input in;
    memtrace_reader_options options;
    memtrace_info info;  /* its strings are interned */
    uint64_t header_pid; /* of the first packet: should be info.pid */
    memtrace_error error;
    defect_log defects;
    uint64_t fruitful;             /* where the last packet began that holds something */
    uint64_t shown;                /* megabytes, in a search for the next packet */
    memtrace_packet_fn *on_packet; /* NULL: nobody asks */
    void *on_packet_context;

    VEC(reader_domain *) domains;
    map64 domain_index; /* domain number -> index in domains */
    frame_table frames;
    intern_table strings;
    names names;                    /* of `named` */
    reader_domain *named;           /* the one whose locations were read last; NULL: none */
    VEC(memtrace_location) scratch; /* the locations of one code */
    char span_text[SPAN_TEXT];      /* the name of the last event, if it is a span's */
    columns columns;
    memtrace_end said_end; /* as the trace says so far */
    uint64_t said_at;      /* in the trace, bytes */
    bool judged;           /* whether it is whole */
    uint64_t losses;       /* packets or parts of them that could not be read */
    VEC(memtrace_gap) gaps;
    uint64_t gap_at;                    /* the packet where the last one was met; bytes */
    bool gap_is_open;                   /* it lasts until the next packet, which is not known yet */
    uint16_t gap_domain, latest_domain; /* of the packet before it; of the one being read */

    /* The packet being read; `next` and `end` are NULL while there is none. */
    packet_header header;
    reader_domain *domain;
    const uint8_t *next, *end; /* what is left of it in the window */
    bool ended;                /* no packet follows */
    bool cut;                  /* the trace ends before the packet does */
    uint64_t time_limit;       /* us since the epoch: no event of it is later */
    uint64_t packets_end;      /* us since the epoch, of the packets before it; 0: there is none */
    uint64_t next_id;          /* of its next allocation */
};

/* ---- errors (reader.c) -------------------------------------------------------------------- */

memtrace_status reader_error_nomem(memtrace_error *error);
memtrace_status reader_error_system(memtrace_error *error, const char *what, int os_error);
__attribute__((format(printf, 3, 4))) memtrace_status
reader_error_format(memtrace_error *error, uint64_t offset, const char *format, ...);

#define reader_defect(r, kind, offset, ...)                                                        \
    defect_met(&(r)->defects, &(r)->error, MEMTRACE_DEFECT_##kind, (offset), __VA_ARGS__)

/* What is wrong with an event that ends behind its packet. Compared by address. */
extern const char reader_overrun[];

/* ---- packets (reader.c) ------------------------------------------------------------------- */

/* The offset in the trace of a byte of the packet being read. */
static inline uint64_t reader_offset(const memtrace_reader *r, const uint8_t *p) {
    return r->header.packet.offset + (uint64_t)(p - r->in.next);
}

/* Starts to read the packet at `in.next`, whose header has been decoded. */
memtrace_status reader_enter_packet(memtrace_reader *r);

/* Goes to the next packet of ours. */
memtrace_status reader_next_packet(memtrace_reader *r);

/* The event at `at` cannot be decoded. Where the trace ends within the packet that was to be
 * expected; otherwise the packet is left, for the next header if one stands within it: it was cut
 * short, and another one written behind it. */
memtrace_status reader_bad_event(memtrace_reader *r, const uint8_t *at, const char *why);

/* What statements of its end are told by. */
static inline end_trace reader_end_trace(const memtrace_reader *r) {
    return (end_trace){
        .version = r->info.version, .start = r->info.start_time, .pid = r->header_pid};
}

/* ---- gaps (reader_gaps.c) ----------------------------------------------------------------- */

/* So many bytes behind the latest event were lost; `in_packet` of them are all that is left of the
 * packet being read. */
MEMTRACE_NODISCARD memtrace_status reader_lose(memtrace_reader *r, uint64_t bytes,
                                               uint64_t in_packet);

/* Packets before this moment are missing, and were not met as damage. */
MEMTRACE_NODISCARD memtrace_status reader_miss(memtrace_reader *r, uint64_t until);

/* A packet begins, or all is read. */
void reader_close_gap(memtrace_reader *r);
void reader_finish_gaps(memtrace_reader *r);

/* Notes the gap that the packet at `in.next` states, if it does: `*states`. */
MEMTRACE_NODISCARD memtrace_status reader_take_gap(memtrace_reader *r, bool *states);

/* No packet follows: MEMTRACE_END, or the error that the trace is not whole in strict reading. */
memtrace_status reader_judge_end(memtrace_reader *r);

/* Something of the packet's domain was lost: its tables are no longer what the writer's are. */
void reader_domain_lose(memtrace_reader *r);

/* ---- what packets hold -------------------------------------------------------------------- */

/* Reads the head of the trace: its first packet. */
memtrace_status reader_read_head(memtrace_reader *r);

/* Whether the packet whose header was read last, which is not the first, is a head, too. */
bool reader_is_at_head(memtrace_reader *r);

/* Reads the location event at `r->next`. */
memtrace_status reader_location(memtrace_reader *r);

/* The full time, in us since the epoch, of an event of this packet; `*backwards` if that is out of
 * order, and was clamped. */
static inline uint64_t reader_time(memtrace_reader *r, uint32_t event_header, bool *backwards) {
    const uint32_t low_mask = (1u << FORMAT_TIME_BITS) - 1;
    uint64_t begin = r->header.packet.time_begin;
    uint64_t time = begin + ((event_header - (uint32_t)begin) & low_mask);
    uint64_t last = r->domain->last_time;
    *backwards = time < last || time > r->time_limit;
    return r->domain->last_time = *backwards ? last : time;
}

#endif
