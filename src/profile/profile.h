/* profile.h: what a trace says, in memory; every query works on a profile.
 *
 * Problem. A trace has millions of events, each with a stack of a hundred frames. People ask one
 * question about it after another, and wait for the answers.
 *
 * Solution. One pass over a reader makes a profile, which owns all that it refers to, so the reader
 * can be closed. A profile has: a calling-context tree (cct.h) with each distinct stack once, and
 * totals by node; if a query needs single blocks, a table with a row for each, in columns
 * (blocks.h); the names and places of frames; marks, gauges, and how the trace ends. Successive
 * stacks share most of their frames, and the trace says how many. So the path of the last stack is
 * kept, and an event costs only what differs from it. A profile can be stored beside its trace and
 * loaded at once (index.h).
 *
 * Alternatives. Stacks as lists of frames would take a hundred times as much memory. A database
 * would answer any question, but slowly; here the questions are known, and are scans of a few
 * columns with sums by node.
 *
 * Invariants. A finished profile is immutable, and threads share it. Nothing depends on its origin:
 * trace or index, memory or file. Memory follows the number of distinct stacks and sampled blocks,
 * never a number that the trace merely claims. Nothing here prints. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "allotrace/memtrace.h"
#include "base/intern.h"
#include "base/map64.h"
#include "profile/blocks.h"
#include "profile/cct.h"

/* Names of heaps, by memtrace_source; NULL at the end. */
extern const char *const profile_heap_names[CCT_SOURCES + 1];

/* A place in the program. Equal strings are the same pointer within a profile. */
typedef struct profile_location {
    const char *file;     /* empty: unknown */
    const char *function; /* empty: unknown; `$CODE` for a frame of which nothing is known */
    uint32_t line;        /* 0: unknown */
} profile_location;

/* Whether a location is a native address that was not symbolized: `module+0xoffset` in the file
 * `PATH[BUILDID]`. NULL is none. */
bool profile_is_address(const profile_location *l);

/* The locations of a frame: at least one, outermost first. */
typedef struct profile_frame {
    uint32_t first; /* index into `locations` */
    uint32_t n;
    const char *type; /* of what it allocates; NULL: unknown */
} profile_frame;

/* A remark of the recorder: a moment, or the value of a gauge at a moment. */
typedef struct profile_mark {
    uint64_t time; /* microseconds since the start */
    const char *name;
    bool is_gauge;
    uint64_t value; /* of a gauge; 0 for a moment */
} profile_mark;

/* How the recording ended: as memtrace_end, with the full reason in words. */
typedef struct profile_end {
    memtrace_ending how;
    uint64_t time, n_lost;
    const char *reason; /* NULL while `how` is MEMTRACE_END_UNSAID; may be empty */
} profile_end;

/* What is missing before the end: the sum of all memtrace_gap. */
typedef struct profile_loss {
    uint64_t places;    /* 0: nothing is known to be missing */
    uint64_t from, to;  /* of the first gap; microseconds */
    uint64_t duration;  /* of all gaps */
    uint64_t bytes, of; /* that could not be read, of how many */
} profile_loss;

enum { PROFILE_ADDED = 64, PROFILE_RECENT = 256 };

/* All zeros is an empty profile. */
typedef struct profile {
    memtrace_info info; /* its strings belong to the profile */
    cct tree;
    VEC(profile_frame) frames; /* by frame number of the tree */
    VEC(profile_location) locations;
    VEC(profile_mark) marks;

    uint64_t samples[CCT_SOURCES]; /* of all blocks; valid when all is read */
    uint64_t blocks[CCT_SOURCES];  /* sampled blocks; valid when all is read */
    uint64_t promoted_samples;     /* samples of the minor heap's blocks that were promoted */
    uint64_t promoted_blocks;
    uint64_t collected_blocks;
    uint64_t suspect_blocks; /* blocks whose stack may be wrong, because packets were lost */
    uint64_t duration;  /* microseconds from the start to the end (memtrace_reader_duration), or to
                           the latest event of a trace that is cut short */
    profile_end end;    /* unsaid while the trace is read */
    bool lacks_events;  /* some events before the end could not be read; valid when all is read */
    profile_loss loss;  /* of these events; valid when all is read */
    uint32_t n_domains; /* that reported an event */
    uint64_t n_traces, n_spans; /* of distributed tracing, in which something was sampled */

    block_table table; /* empty unless it was asked for */

    intern_table strings;
    VEC(cct_path) paths; /* by domain; only while reading */
    /* Additions that the tree and the sums above do not have yet; only while reading without the
     * table. Most blocks have the stack of a recent one. */
    cct_addition recent[PROFILE_RECENT]; /* the last node of each remainder modulo PROFILE_RECENT */
    cct_addition added[PROFILE_ADDED];   /* moved from `recent`, for the tree */
    size_t n_added;
    VEC(bool) seen; /* by domain */
    map64 ids;      /* of traces and spans, interned; only while reading */
    map64 minor;    /* id → samples of a minor block | PROMOTED; only while reading */
    bool track_promotion, keep_blocks;
} profile;

typedef struct profile_options {
    bool track_promotion; /* fill `promoted_*`: costs a table of all minor blocks, unless
                             `keep_blocks` */
    bool keep_blocks;     /* fill `table` */
    bool keep_order;      /* fill `table.order`: 8 bytes per event */
    unsigned columns; /* columns of the table that are needed, a set of BLOCKS_HAS; 0: all. Others
                         may be missing */

    /* Called for each sampled block with the node of its stack; may be NULL. It returns false when
     * there is no memory, which ends reading. */
    bool (*block)(void *context, uint32_t node, const memtrace_event *event);
    void *block_context;

    /* Called when all events are read, before sums and the table are finished, which takes a while
     * if there are many blocks; may be NULL. */
    void (*all_read)(void *context);
    void *all_read_context;
} profile_options;

/* Reads all that is left in `reader`. Returns MEMTRACE_OK at the end of the trace, MEMTRACE_NOMEM,
 * or the reader's error; in that last case the profile holds what came before the error. */
MEMTRACE_NODISCARD memtrace_status profile_read(profile *p, memtrace_reader *reader,
                                                const profile_options *options);

/* Copies what has been read so far while profile_read is running, for traces that are still being
 * written. May be called from within the reader's call at the end of the bytes. The copy is
 * independent. False when there is no memory. */
bool profile_snapshot(profile *p, const memtrace_reader *reader, profile *copy);

/* Computes the sums of a profile whose tree and table were made elsewhere and are finished. False
 * when there is no memory. */
bool profile_sum_up(profile *p);

/* Whether the trace is known to end before the program that it records: events after `end.time` are
 * missing. */
static inline bool profile_ends_early(const profile *p) {
    return p->end.how == MEMTRACE_END_OPEN || p->end.how == MEMTRACE_END_EARLY;
}

/* Whether the trace lacks events of the program. */
static inline bool profile_is_partial(const profile *p) {
    return p->lacks_events || profile_ends_early(p);
}

/* Whether the profile was made from another tool's data; and whether it has the times of births and
 * deaths, not only their numbers. */
bool profile_is_imported(const profile *p);
bool profile_has_times(const profile *p);

/* Whether the trace was symbolized already, so that remaining addresses have no name. */
bool profile_is_symbolized(const profile *p);

void profile_free(profile *p);

/* Returns the bytes that one sample stands for: a word divided by the sampling rate. */
double profile_bytes_per_sample(const profile *p);

/* Returns the type of what a node allocates; NULL if unknown. */
const char *profile_type(const profile *p, uint32_t node);

#endif
