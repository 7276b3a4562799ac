/* cutter.h: cuts a recording into segments (segment.h), event by event as they arrive.
 *
 * The cutter keeps all live blocks with their stacks, because each segment begins with them. A cut
 * is at one time for all domains, so that a segment has exactly the events of its time range, and
 * the blocks it carries are those that were live at its start. The recorder writes the packets of a
 * domain as they fill, up to a tenth of a second late, so a planned cut waits for the slower
 * domains:
 *
 *     1. cutter_plan: the cut is at the time of the latest event.
 *     2. Later events are held in memory; earlier ones still go into the current segment.
 *     3. When everything before the cut has arrived, the cut is ripe: the segment ends.
 *     4. The next segment begins with the live blocks and the held events.
 *
 * The recorder tells when everything has arrived. At each sweep it says up to which time all events
 * are written, and which domains the sweep left out because their threads were busy. A domain that
 * was left out is complete up to its own next event. Nobody but the recorder can know: the file
 * alone does not show whether a thread is idle or has an event waiting for its packet to fill.
 *
 * Instead of waiting on, the cutter can write the held events into the current segment, which
 * postpones the cut. A cut that cannot wait (for a lower rate, for a thread that stays inside the
 * recorder, or in recordings that do not say what is written) is at the current position in the
 * file. Some events after that position are then older than others before it. So the next segment
 * starts earlier than the latest event, by as much as the domains lagged, at most CUTTER_LATE; only
 * events that are later still are moved to its start. In such a cut, a death may come before its
 * allocation in the file; if the cut is between them, the next segment repeats the death.
 *
 * The recorder may change its rate by powers of two, and states the new level in each domain. A
 * segment has a single rate, the lowest of all its blocks, carried ones included; blocks with a
 * higher rate are thinned to it. So all weights stay right and the samples independent.
 * Single-threaded. */
#ifndef TRACE_CUTTER_H
#define TRACE_CUTTER_H

#include "allotrace/memtrace.h"
#include "base/map64.h"
#include "base/vec.h"
#include "trace/segment_writer.h"
#include "trace/span_remark.h"

#define CUTTER_LATE 1000000 /* microseconds */

/* Kinds of names that a remark sets for a domain until the next such remark. */
enum { CUTTER_THREAD, CUTTER_SCOPE, CUTTER_NAMES };

typedef struct cutter_block {
    uint64_t id, out; /* its ids in the recording and in this segment */
    uint64_t time;    /* time of allocation, microseconds from the start of the recording */
    uint64_t length, samples;
    uint32_t stack;               /* index in `stacks` */
    uint32_t span;                /* index in `spans` */
    uint16_t names[CUTTER_NAMES]; /* of the allocating thread and its scope; see cutter_lane */
    uint16_t domain;
    uint8_t source;
    uint8_t level; /* how many times its rate was halved */
    bool thinned;  /* no sample was kept: in no segment from now on */
    bool promoted, dead;
} cutter_block;

typedef struct cutter_stack {
    uint64_t *codes; /* outermost caller first */
    uint32_t n, n_users;
    uint64_t hash;
} cutter_stack;

/* The span that a thread was in; the first one stands for no span. */
typedef struct cutter_span {
    memtrace_span ids;
    uint32_t n_users;
} cutter_span;

/* The death of a block whose allocation has not come yet. */
typedef struct cutter_death {
    uint64_t id, time;
    uint64_t segment; /* number of the segment in which the death came, from 1 */
    uint16_t domain;
    bool repeated; /* written to this segment, which is a later one */
} cutter_death;

typedef struct cutter_lane {
    memtrace_stream *stream; /* NULL: the domain has no stream in this segment */
    uint64_t latest;         /* latest event read, microseconds from the start of the recording */
    uint64_t written;        /* a sweep wrote all events before this time; like `latest` */
    bool left;               /* left out by the sweep whose WRITTEN remark comes next in the file */
    bool waits;              /* its events are being held */
    uint8_t level;           /* how many times its rate has been halved */
    /* Its thread's and scope's names, as indices into the cutter's `names`: the current ones, and
     * those written to this segment. 0: none. */
    uint16_t names[CUTTER_NAMES], written_names[CUTTER_NAMES];
    uint32_t span, written_span;  /* current span and that written to this segment, in `spans` */
    memtrace_span last_span;      /* last span in this segment; see span_remark_list */
    uint64_t parts[SPAN_REMARKS]; /* ids of the remarks read so far of the next span */
    uint32_t n_parts;
    segment_backtrace codes; /* latest backtrace */
} cutter_lane;

/* A held event, later than a planned cut. */
typedef struct cutter_held {
    uint64_t time, id, length, samples;
    /* Of its backtrace: all frames, and those shared with the event before; the rest is in
     * `held_words`. */
    uint32_t n_frames, common;
    uint16_t domain;
    uint8_t kind, source, remark;
    bool has_name; /* the name follows the backtrace */
} cutter_held;

/* Valid when zeroed, apart from the reader, which segment_writer_read sets. */
typedef struct cutter {
    segment_writer out;       /* writes the segment */
    VEC(cutter_block) blocks; /* in file order */
    map64 rows;               /* from ids to `blocks` */
    VEC(cutter_stack) stacks;
    map64 stack_rows;         /* from hashes to `stacks` */
    VEC(cutter_death) deaths; /* in file order */
    VEC(cutter_lane) lanes;   /* by domain */
    VEC(uint64_t) names;      /* their codes; numbered from 1 */
    VEC(cutter_span) spans;   /* in order of first use; empty until the first span */

    bool plans;      /* a cut is planned, at the time `until` */
    bool is_at_time; /* the last cut was at one time for all domains */
    uint64_t until;  /* microseconds from the start of the recording */
    /* All events before this time are written, except in domains that were left out; like
     * `until`. */
    uint64_t written;
    /* Domains left out so far by the sweep whose WRITTEN remark is next. */
    uint64_t n_left;
    uint64_t n_lagging;           /* domains that may still have events up to the planned cut */
    VEC(cutter_held) held;        /* in file order */
    VEC(uint64_t) held_words;     /* for each: the new codes of its backtrace, and its name */
    segment_backtrace held_codes; /* backtrace of the event being held */

    uint64_t carried_size; /* bytes of this segment written for live blocks */
    uint64_t number;       /* number of segments begun */
    uint64_t start;        /* start of this segment, microseconds from the start of the recording */
    uint64_t latest;       /* latest event that is not held, like `start` */
    uint64_t n_live;       /* live blocks that the next segment carries */
    /* How many times the segment's rate is halved: the highest level of anything in it. */
    uint8_t level;
    /* Least level of the first segment. Set if it is known which rate follows: the segment would
     * otherwise get the rate of the head, and stay empty. */
    uint8_t first_level;
} cutter;

/* Begins a segment in an open, empty file: writes the live blocks, then the held events. On
 * failure, `out.os_error` may give the reason. */
MEMTRACE_NODISCARD memtrace_status cutter_begin(cutter *c, int fd);

/* Processes the event that the reader has just returned. */
MEMTRACE_NODISCARD memtrace_status cutter_take(cutter *c, const memtrace_event *event);

/* Plans a cut at the latest event, if none is planned. Once the cut is ripe, all events before it
 * have arrived, and the segment should be ended. */
void cutter_plan(cutter *c);
static inline bool cutter_is_ripe(const cutter *c) {
    return c->plans && c->n_lagging == 0 && c->written > c->until;
}

/* Bytes of the events held in memory for the planned cut. */
static inline uint64_t cutter_held_bytes(const cutter *c) {
    return c->held.count * sizeof *c->held.items +
           c->held_words.count * sizeof *c->held_words.items;
}

/* Writes the held events into this segment, and plans a new cut after them. */
MEMTRACE_NODISCARD memtrace_status cutter_put_off(cutter *c);

/* Whether the rate has become lower than the segment's, so that the next events belong to another
 * segment. */
bool cutter_is_due(const cutter *c);

/* Returns the highest level of the live blocks. While they live, a higher rate is of no use. */
uint64_t cutter_live_level(const cutter *c);

/* Returns a time, from the start of the recording, such that no event still to come is older,
 * unless it is very late (CUTTER_LATE). */
uint64_t cutter_whole_until(const cutter *c);

/* Flushes all streams to the file. */
MEMTRACE_NODISCARD memtrace_status cutter_flush(cutter *c);

/* Ends the segment. With `end`, in the recording's times, the segment ends as the recording did.
 * With NULL it ends at a cut: the planned one if that is ripe, otherwise the current position in
 * the file. The file stays open. */
MEMTRACE_NODISCARD memtrace_status cutter_end(cutter *c, const memtrace_end *end);

/* Frees everything; closes a segment that was not ended. */
void cutter_free(cutter *c);

#endif
