/* cutter.h: cuts a recording, event by event as it comes, into segments (segment.h).
 *
 * Knows what is live, with stacks: that is what a segment begins with. The cut is where the caller
 * is in the file. Domains are written as they fill, so some events behind it are a little older
 * than others before it: a segment starts as much earlier than the latest event as domains were
 * late, at most CUTTER_LATE. So all times stay what they are; only what was later still is moved to
 * the start of its segment.
 *
 * A death can stand before its allocation in the file: where the cut is between them, the next
 * segment repeats it.
 *
 * The recorder may change its rate by powers of two, and says so in each domain (a level). A
 * segment has one rate, the lowest of what is in it, what it carries included: the rest is thinned
 * to that. So all weights stay right, and samples independent. Single-threaded. */
#ifndef TRACE_CUTTER_H
#define TRACE_CUTTER_H

#include "allotrace/memtrace.h"
#include "base/map64.h"
#include "base/vec.h"
#include "trace/segment_writer.h"
#include "trace/span_remark.h"

#define CUTTER_LATE 1000000 /* microseconds */

/* What a name may be of that holds for a domain until the next one. */
enum { CUTTER_THREAD, CUTTER_SCOPE, CUTTER_NAMES };

typedef struct cutter_block {
    uint64_t id, out; /* in the recording, and in this segment */
    uint64_t time;    /* of the allocation, microseconds from the start of the recording */
    uint64_t length, samples;
    uint32_t stack;               /* in `stacks` */
    uint32_t span;                /* in `spans` */
    uint16_t names[CUTTER_NAMES]; /* of the thread that allocated it, and so on; see cutter_lane */
    uint16_t domain;
    uint8_t source;
    uint8_t level; /* how many times its rate was halved */
    bool thinned;  /* none of its samples goes on: it is in no segment any more */
    bool promoted, dead;
} cutter_block;

typedef struct cutter_stack {
    uint64_t *codes; /* outermost caller first */
    uint32_t n, n_users;
    uint64_t hash;
} cutter_stack;

/* What a thread was in; the first is none. */
typedef struct cutter_span {
    memtrace_span ids;
    uint32_t n_users;
} cutter_span;

/* The death of a block whose allocation has not come yet. */
typedef struct cutter_death {
    uint64_t id, time;
    uint64_t segment; /* the number of the one in which it came, from 1 on */
    uint16_t domain;
    bool repeated; /* it stands in this segment, which is another one */
} cutter_death;

typedef struct cutter_lane {
    memtrace_stream *stream; /* NULL: the domain has none in this segment */
    uint64_t latest;         /* event, microseconds from the start of the recording */
    uint8_t level;           /* how many times its rate is halved */
    /* What its thread and scope are called, in `names` of the cutter, and as this segment has it;
     * 0: nothing was said. */
    uint16_t names[CUTTER_NAMES], told[CUTTER_NAMES];
    uint32_t span, told_span;     /* the same, in `spans` */
    memtrace_span said;           /* in this segment: see span_remark_list */
    uint64_t parts[SPAN_REMARKS]; /* ids of the remarks that say of the next one what it is */
    uint32_t n_parts;
    segment_backtrace codes; /* the latest */
} cutter_lane;

/* Legal when zeroed but for the reader, which segment_writer_read gives. */
typedef struct cutter {
    segment_writer out;       /* into the segment */
    VEC(cutter_block) blocks; /* in the order of the file */
    map64 rows;               /* of ids in `blocks` */
    VEC(cutter_stack) stacks;
    map64 stack_rows;         /* of hashes in `stacks` */
    VEC(cutter_death) deaths; /* in the order of the file */
    VEC(cutter_lane) lanes;   /* by domain */
    VEC(uint64_t) names;      /* codes, from 1 on */
    VEC(cutter_span) spans;   /* in the order in which they were met; empty until one is */

    uint64_t carried_size; /* of the bytes written, those for what was live */
    uint64_t number;       /* of the next segment */
    uint64_t start;        /* of this one, microseconds from that of the recording */
    uint64_t latest;       /* event, likewise */
    uint64_t n_live;       /* blocks that the next segment carries */
    uint8_t level;         /* how many times the segment's rate is halved: at least as often as
                              that of all in it */
    uint8_t first_level;   /* the same of the first segment, where it is known what will come: or
                              that would be of the rate of the head, and empty */
} cutter;

/* Begins a segment in an open file, which is empty, with what is live. On failure `out.os_error`
 * may say why. */
MEMTRACE_NODISCARD memtrace_status cutter_begin(cutter *c, int fd);

/* Takes the event that the reader has read last. */
MEMTRACE_NODISCARD memtrace_status cutter_take(cutter *c, const memtrace_event *event);

/* The rate has become lower than the segment's: what comes next belongs into another one. */
bool cutter_is_due(const cutter *c);

/* The highest level of what is live: while that is there, a higher rate is of no use. */
uint64_t cutter_live_level(const cutter *c);

/* Everything to the file. */
MEMTRACE_NODISCARD memtrace_status cutter_flush(cutter *c);

/* Ends the segment, at the latest event, or as the recording ended: `end` is in its times and may
 * be NULL. The file stays open. */
MEMTRACE_NODISCARD memtrace_status cutter_end(cutter *c, const memtrace_end *end);

/* Frees all; a segment that was not ended stays open. */
void cutter_free(cutter *c);

#endif
