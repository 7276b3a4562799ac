/* reader.h: the state of the event reader, shared by the files that implement it.
 *
 * reader.c handles packets: which ones belong to the trace, and where to continue after damage.
 * reader_head.c reads the first packet. reader_gaps.c records what is lost. reader_events.c,
 * reader_locations.c and reader_remark.c decode the content of packets, up to the first event that
 * makes no sense. Other code includes this header only through reader_next.h. */
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

/* The state of a domain that lasts from packet to packet. */
typedef struct reader_domain {
    uint64_t last_time; /* time of its latest event, us since the epoch; never decreases */
    uint64_t losses;    /* value of the reader's `losses` that the tables here account for */
    backtrace backtrace;
    names_packed *names; /* NULL before the first location; outdated while this is `named` */
    bool names_lost;     /* call names_lose after unpacking the names */
    span_reading span;
} reader_domain;

struct memtrace_reader {
    input in;
    memtrace_reader_options options;
    memtrace_info info;  /* its strings are interned */
    uint64_t header_pid; /* pid of the first packet; should equal info.pid */
    memtrace_error error;
    defect_log defects;
    uint64_t fruitful; /* offset of the last packet that is not empty */
    /* Offset last shown in a search for the next packet, megabytes. */
    uint64_t shown;
    memtrace_packet_fn *on_packet; /* NULL: no callback */
    void *on_packet_context;

    VEC(reader_domain *) domains;
    map64 domain_index; /* domain number -> index in domains */
    frame_table frames;
    intern_table strings;
    names names;                    /* the tables of `named` */
    reader_domain *named;           /* domain whose locations were read last; NULL: none */
    VEC(memtrace_location) scratch; /* locations of one code */
    char span_text[SPAN_TEXT];      /* name of the last event, if that is a span */
    columns columns;
    memtrace_end said_end; /* the trace's latest statement of its end */
    uint64_t said_at;      /* offset of that statement, bytes */
    bool judged;           /* reader_judge_end has run */
    uint64_t losses;       /* number of packets, or parts of packets, that could not be read */
    VEC(memtrace_gap) gaps;
    uint64_t gap_at; /* offset of the packet where the last gap was found */
    /* The last gap extends to the next packet, which was not read yet. */
    bool gap_is_open;
    /* Of the packet before the gap, and of the packet being read. */
    uint16_t gap_domain, latest_domain;

    /* The packet being read. `next` and `end` are NULL if there is none. */
    packet_header header;
    reader_domain *domain;
    const uint8_t *next, *end; /* the rest of it, in the window */
    bool ended;                /* no packet follows */
    bool cut;                  /* the trace ends inside this packet */
    uint64_t time_limit;       /* no event of this packet may be later, us since the epoch */
    /* Latest end of the packets before it, us since the epoch; 0: none. */
    uint64_t packets_end;
    uint64_t next_id; /* id of its next allocation */
};

/* Returns how many bytes were read from a file that is not compressed, which may end within a
 * packet. */
static inline uint64_t reader_bytes_read(const memtrace_reader *r) {
    return r->in.n_read;
}

/* ---- errors (reader.c) -------------------------------------------------------------------- */

memtrace_status reader_error_nomem(memtrace_error *error);
memtrace_status reader_error_system(memtrace_error *error, const char *what, int os_error);
__attribute__((format(printf, 3, 4))) memtrace_status
reader_error_format(memtrace_error *error, uint64_t offset, const char *format, ...);

#define reader_defect(r, kind, offset, ...)                                                        \
    defect_met(&(r)->defects, &(r)->error, MEMTRACE_DEFECT_##kind, (offset), __VA_ARGS__)

/* The defect of an event that extends beyond its packet. Compared by address. */
extern const char reader_overrun[];

/* ---- packets (reader.c) ------------------------------------------------------------------- */

/* Returns the offset in the trace of a byte of the packet being read. */
static inline uint64_t reader_offset(const memtrace_reader *r, const uint8_t *p) {
    return r->header.packet.offset + (uint64_t)(p - r->in.next);
}

/* Starts to read the packet at `in.next`, whose header was decoded. */
memtrace_status reader_enter_packet(memtrace_reader *r);

/* Moves to the next packet that belongs to the trace. */
memtrace_status reader_next_packet(memtrace_reader *r);

/* Handles an event at `at` that cannot be decoded. If the trace ends inside the packet, that is the
 * cause. Otherwise the rest of the packet is skipped, up to the next header if there is one inside:
 * then the packet was cut short and another one written after it. */
memtrace_status reader_bad_event(memtrace_reader *r, const uint8_t *at, const char *why);

/* Returns the properties by which statements of this trace are recognized. */
static inline end_trace reader_end_trace(const memtrace_reader *r) {
    return (end_trace){
        .version = r->info.version, .start = r->info.start_time, .pid = r->header_pid};
}

/* ---- gaps (reader_gaps.c) ----------------------------------------------------------------- */

/* Records that `bytes` bytes after the latest event were lost, of which `in_packet` are the rest of
 * the packet being read. */
MEMTRACE_NODISCARD memtrace_status reader_lose(memtrace_reader *r, uint64_t bytes,
                                               uint64_t in_packet);

/* Records that packets before the time `until` are missing, without any visible damage. */
MEMTRACE_NODISCARD memtrace_status reader_miss(memtrace_reader *r, uint64_t until);

/* Ends an open gap: where a packet begins, or when everything was read. */
void reader_close_gap(memtrace_reader *r);
void reader_finish_gaps(memtrace_reader *r);

/* Records the gap that the packet at `in.next` states. `*is_gap` is false if it states none. */
MEMTRACE_NODISCARD memtrace_status reader_take_gap(memtrace_reader *r, bool *is_gap);

/* Returns MEMTRACE_END at the end of the trace, or in strict reading the error that it is
 * incomplete. */
memtrace_status reader_judge_end(memtrace_reader *r);

/* To be called when something of the packet's domain was lost: its tables may differ from the
 * writer's. */
void reader_domain_lose(memtrace_reader *r);

/* ---- content of packets ------------------------------------------------------------------- */

/* Reads the trace's head, which is its first packet. */
memtrace_status reader_read_head(memtrace_reader *r);

/* Whether the packet whose header was read last, and which is not the first, is the head of a
 * trace. */
bool reader_is_at_head(memtrace_reader *r);

/* Reads the location event at `r->next`. */
memtrace_status reader_location(memtrace_reader *r);

/* Returns the full time of an event of this packet, in us since the epoch. `*backwards`: the time
 * was out of order and was clamped. */
static inline uint64_t reader_time(memtrace_reader *r, uint32_t event_header, bool *backwards) {
    const uint32_t low_mask = (1u << FORMAT_TIME_BITS) - 1;
    uint64_t begin = r->header.packet.time_begin;
    uint64_t time = begin + ((event_header - (uint32_t)begin) & low_mask);
    uint64_t last = r->domain->last_time;
    *backwards = time < last || time > r->time_limit;
    return r->domain->last_time = *backwards ? last : time;
}

#endif
