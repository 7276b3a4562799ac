/* profile.h: what a trace says, in memory: the base of every query.
 *
 * Problem. A trace tells of millions of events, each with a stack of a hundred frames; questions
 * about it are asked one after the other, by people who wait.
 *
 * Way. One pass over a reader makes a profile, which owns all that it refers to, so that the reader
 * may be closed. It is a calling-context tree (cct.h), which has each distinct stack once, with
 * totals by node; where a question is about single blocks, a table with a row for each, in columns
 * (blocks.h); names and places of frames; marks, gauges, and how the trace ends. Successive stacks
 * share most of their frames and the trace says how many: the path of the last stack is kept, and
 * an event costs what differs. All of that can be kept in a file beside the trace, from which it is
 * there again at once (index.h).
 *
 * Why not otherwise. Stacks as lists of frames would take a hundred times as much. A database would
 * answer any question, slowly; the questions are known, and are scans of some columns with sums by
 * node.
 *
 * What must hold. A profile is immutable once it is made; threads share it. Nothing depends on
 * where it came from: trace or index, memory or file. Memory follows the distinct stacks and the
 * sampled blocks, never a number that the trace merely claims. Nothing here prints. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "allotrace/memtrace.h"
#include "base/intern.h"
#include "base/map64.h"
#include "profile/blocks.h"
#include "profile/cct.h"

/* A place in the program. Equal strings are the same pointer within a profile. */
typedef struct profile_location {
    const char *file;     /* empty: unknown */
    const char *function; /* empty: unknown; `$CODE` for a frame of which nothing is known */
    uint32_t line;        /* 0: unknown */
} profile_location;

/* Before symbolizing, native frames are `module+0xoffset` in the file `PATH[BUILDID]`. */
bool profile_is_address(const profile_location *l);

/* The locations of a frame: at least one, outermost first. */
typedef struct profile_frame {
    uint32_t first; /* index into `locations` */
    uint32_t n;
    const char *type; /* of what it allocates; NULL: unknown */
} profile_frame;

/* A remark of the recorder: a moment, or the value of a quantity at a moment. */
typedef struct profile_mark {
    uint64_t time; /* microseconds since the start */
    const char *name;
    bool is_gauge;
    uint64_t value; /* of a gauge; 0 for a moment */
} profile_mark;

/* How the recording ended: memtrace_end, with all of the reason in words. */
typedef struct profile_end {
    memtrace_ending how;
    uint64_t time, n_lost;
    const char *reason; /* NULL while `how` is MEMTRACE_END_UNSAID; may be empty */
} profile_end;

/* What is missing before the end: memtrace_gap, summed up. */
typedef struct profile_loss {
    uint64_t places;    /* 0: nothing is known to be missing */
    uint64_t from, to;  /* the first one's; microseconds */
    uint64_t duration;  /* of all */
    uint64_t bytes, of; /* that could not be read, in how many */
} profile_loss;

enum { PROFILE_ADDED = 64, PROFILE_RECENT = 256 };

/* Legal when zeroed: an empty profile. */
typedef struct profile {
    memtrace_info info; /* with strings of the profile's own */
    cct tree;
    VEC(profile_frame) frames; /* by the frame numbers of the tree */
    VEC(profile_location) locations;
    VEC(profile_mark) marks;

    uint64_t samples[CCT_SOURCES]; /* of all blocks; known when all is read */
    uint64_t blocks[CCT_SOURCES];  /* sampled ones; the same */
    uint64_t promoted_samples;     /* of the minor heap's, those in blocks that were promoted */
    uint64_t promoted_blocks;
    uint64_t collected_blocks;
    uint64_t suspect_blocks; /* whose stack may be wrong, since packets were lost */
    uint64_t duration;  /* microseconds from the start to the end (memtrace_reader_duration), or to
                           the latest event of a trace that is cut short */
    profile_end end;    /* unsaid while the trace is read */
    bool lacks_events;  /* some before it could not be read; the same */
    profile_loss loss;  /* of these; the same */
    uint32_t n_domains; /* that reported an event */
    uint64_t n_traces, n_spans; /* of distributed tracing, in which something was sampled */

    block_table table; /* empty unless it was asked for */

    intern_table strings;
    VEC(cct_path) paths; /* by domain; only while reading */
    /* What the tree and the sums above do not know yet; only while reading, without the table. Most
     * blocks have the stack of one that was allocated not long ago. */
    cct_addition recent[PROFILE_RECENT]; /* the last node of each remainder */
    cct_addition added[PROFILE_ADDED];   /* what stood there before */
    size_t n_added;
    VEC(bool) seen; /* by domain */
    map64 ids;      /* of traces and spans, interned; only while reading */
    map64 minor;    /* id → samples of a minor block | PROMOTED; only while reading */
    bool track_promotion, keep_blocks;
} profile;

typedef struct profile_options {
    bool track_promotion; /* fill `promoted_*`: costs a table of all minor blocks, or `table` */
    bool keep_blocks;     /* fill `table` */
    bool keep_order;      /* and the order of events in it: 8 bytes an event */
    unsigned columns; /* of the table, those that are looked at, a set of BLOCKS_HAS; 0: all. There
                         need not be others */

    /* Called for each sampled block, with the node that is its stack; may be NULL. False, there is
     * no memory, ends reading. */
    bool (*block)(void *context, uint32_t node, const memtrace_event *event);
    void *block_context;

    /* Called when all events are read, and sums and the table are to be finished, which takes a
     * while where there are many blocks; may be NULL. */
    void (*all_read)(void *context);
    void *all_read_context;
} profile_options;

/* Reads all that is left in `reader`. MEMTRACE_OK at the end of the trace; MEMTRACE_NOMEM; else the
 * reader's error, and the profile then holds what came before it. */
MEMTRACE_NODISCARD memtrace_status profile_read(profile *p, memtrace_reader *reader,
                                                const profile_options *options);

/* What the trace says as far as it was read, while profile_read is at it: for traces that are still
 * being written. May be called from within the reader's call at the end of the bytes. The copy
 * stands by itself. False when there is no memory. */
bool profile_snapshot(profile *p, const memtrace_reader *reader, profile *copy);

/* For a profile whose tree and table were made elsewhere, once they are finished: what follows from
 * them. False when there is no memory. */
bool profile_sum_up(profile *p);

/* Whether the trace is known to end before what it records: after `end.time`, events are missing.
 */
static inline bool profile_ends_early(const profile *p) {
    return p->end.how == MEMTRACE_END_OPEN || p->end.how == MEMTRACE_END_EARLY;
}

/* Whether the program did more than the trace can say. */
static inline bool profile_is_partial(const profile *p) {
    return p->lacks_events || profile_ends_early(p);
}

/* Whether it was made of another tool's data; and whether it is known when blocks came and went,
 * and not merely how many did. */
bool profile_is_imported(const profile *p);
bool profile_has_times(const profile *p);

/* Has somebody symbolized the trace already, so that what is still an address has no name there? */
bool profile_is_symbolized(const profile *p);

void profile_free(profile *p);

/* The bytes that one sample stands for: a word divided by the rate. */
double profile_bytes_per_sample(const profile *p);

/* What a node allocates; NULL where that is not known. */
const char *profile_type(const profile *p, uint32_t node);

#endif
