/* cutter.h: cuts a recording, event by event as it comes, into segments (segment.h).
 *
 * Knows what is live, with stacks: that is what a segment begins with. The cut is at one time for
 * all domains, so that a segment alone has all events of its time and no others, and what it
 * carries is what was live then. Domains are written as they fill, up to a tenth of a second late,
 * so the time is that of the latest event when a cut is planned. From then on, what is later is
 * held in memory, and what is not goes on into the segment, until all of that has come: the
 * recorder says at each sweep up to when everything is written, and which domains it left out as
 * their threads were busy. These show by a later event of their own that they are that far. The
 * recorder alone can tell: what the file has of a domain does not say whether its thread rests, or
 * has an event that waits for its packet to fill.
 *
 * What is held can be given up, which puts the cut off. A cut that does not wait (a lower rate, a
 * thread that stays inside the recorder, recordings that do not say what is written) is where the
 * caller is in the file. Some events behind it are then older than others before it: the next
 * segment starts as much earlier than the latest event as domains were late, at most CUTTER_LATE,
 * and only what was later still is moved to its start. A death may stand before its allocation
 * there: where the cut is between them, the next segment repeats it.
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
    uint64_t latest;         /* event that was read, microseconds from the start of the recording */
    uint64_t written;        /* up to before then, a sweep has written its events; as `latest` */
    bool left;               /* the sweep that comes next in the file has left it out */
    bool waits;              /* its events are held */
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

/* An event behind a planned cut. */
typedef struct cutter_held {
    uint64_t time, id, length, samples;
    uint32_t n_frames, common; /* of its backtrace, which has the rest in `held_words` */
    uint16_t domain;
    uint8_t kind, source, remark;
    bool has_name; /* which stands behind the backtrace */
} cutter_held;

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

    bool plans;      /* a cut, at the time `until`, microseconds from the start of the recording */
    bool is_at_time; /* the last cut was one */
    uint64_t until;
    uint64_t written;             /* up to before then, all is written of domains that were not left
                                     out; likewise */
    uint64_t n_left;              /* domains that the sweep that comes next has left out */
    uint64_t n_behind;            /* domains of which events up to the cut may come */
    VEC(cutter_held) held;        /* in the order of the file */
    VEC(uint64_t) held_words;     /* of each: new codes of its backtrace, and its name */
    segment_backtrace held_codes; /* of the event that is being held */

    uint64_t carried_size; /* of the bytes written, those for what was live */
    uint64_t number;       /* of the next segment */
    uint64_t start;        /* of this one, microseconds from that of the recording */
    uint64_t latest;       /* event that is not held, likewise */
    uint64_t n_live;       /* blocks that the next segment carries */
    uint8_t level;         /* how many times the segment's rate is halved: at least as often as
                              that of all in it */
    uint8_t first_level;   /* the same of the first segment, where it is known what will come: or
                              that would be of the rate of the head, and empty */
} cutter;

/* Begins a segment in an open file, which is empty, with what is live, and takes what was held. On
 * failure `out.os_error` may say why. */
MEMTRACE_NODISCARD memtrace_status cutter_begin(cutter *c, int fd);

/* Takes the event that the reader has read last. */
MEMTRACE_NODISCARD memtrace_status cutter_take(cutter *c, const memtrace_event *event);

/* Plans a cut at the latest event, if none is planned. When it is ripe, all has come that belongs
 * before it: the segment is to be ended then. */
void cutter_plan(cutter *c);
static inline bool cutter_is_ripe(const cutter *c) {
    return c->plans && c->n_behind == 0 && c->written > c->until;
}

/* Bytes that wait in memory for that. */
static inline uint64_t cutter_held_bytes(const cutter *c) {
    return c->held.count * sizeof *c->held.items +
           c->held_words.count * sizeof *c->held_words.items;
}

/* Takes what is held into this segment, and plans the cut behind it. */
MEMTRACE_NODISCARD memtrace_status cutter_put_off(cutter *c);

/* The rate has become lower than the segment's: what comes next belongs into another one. */
bool cutter_is_due(const cutter *c);

/* The highest level of what is live: while that is there, a higher rate is of no use. */
uint64_t cutter_live_level(const cutter *c);

/* Nothing that has not come is older, in the recording's times, unless it is very late. */
uint64_t cutter_whole_until(const cutter *c);

/* Everything to the file. */
MEMTRACE_NODISCARD memtrace_status cutter_flush(cutter *c);

/* Ends the segment as the recording ended, or at a cut (`end` is NULL): the planned one if that is
 * ripe, or where the caller is in the file. `end` is in the recording's times. The file stays open.
 */
MEMTRACE_NODISCARD memtrace_status cutter_end(cutter *c, const memtrace_end *end);

/* Frees all; a segment that was not ended stays open. */
void cutter_free(cutter *c);

#endif
