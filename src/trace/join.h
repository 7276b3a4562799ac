/* join.h: makes one trace from consecutive segments of a ring (segment.h).
 *
 * The result is what a single segment of the whole time would be. It begins with the blocks live at
 * the start of the first segment, and contains each block once, under one id, with its own death.
 * If segments in between are missing or incomplete, a block that the next segment does not carry is
 * freed at that segment's start, and a block that is new in it is allocated there.
 *
 * An event of a carried block may come in the file before the block itself, because packets of
 * different domains are in no particular order. Such events wait until all carried blocks are
 * known.
 *
 * If rates differ, by powers of two, samples are thinned to the lowest rate, by the same coins as
 * the cutter's: a block that the join keeps is one that later segments carry. Single-threaded. */
#ifndef TRACE_JOIN_H
#define TRACE_JOIN_H

#include "allotrace/memtrace.h"
#include "base/map64.h"
#include "base/vec.h"
#include "trace/segment_writer.h"

typedef struct join_block {
    uint64_t out;    /* its id in the result */
    uint32_t round;  /* last segment, counted from 1, that has or carries it */
    uint16_t domain; /* domain of its allocation */
    bool live;       /* allocated and not freed */
    bool dead;       /* its death was written, perhaps before its allocation */
    bool thinned;    /* none of its samples is kept */
} join_block;

typedef struct join_lane {
    memtrace_stream *stream; /* NULL: the domain has no events yet */
    segment_backtrace codes; /* latest backtrace */
    uint64_t block, age;     /* of the next carried block, if `carries` */
    bool carries;
    bool waits; /* its events are held from now on */
} join_lane;

/* A held event of a domain that waits. */
typedef struct join_held {
    memtrace_event event; /* without its frames */
    size_t first, n;      /* its backtrace, in `held_codes` */
} join_held;

typedef struct join {
    segment_writer out; /* writes the result, from the segment that is read */
    double rate;        /* rate of the result */
    uint64_t halvings;  /* halvings from the segment's rate to the result's */
    uint64_t start;     /* start of the result, us since the epoch */
    uint64_t shift;     /* from the result's start to the segment's, microseconds */
    uint64_t end;       /* latest moment of all segments, like `shift` */
    bool is_recording;  /* still being recorded: `end` is its end so far */
    uint32_t round;
    uint64_t n_carried; /* carried blocks that the segment has yet to list */
    segment_head head;
    uint64_t n_missing; /* segments missing between those added */
    uint64_t n_freed;   /* blocks freed only because a segment did not carry them */
    VEC(join_block) blocks;
    map64 rows;           /* from ids in the recording to `blocks` */
    map64 carried;        /* from ids in the segment to `blocks` */
    VEC(join_lane) lanes; /* by domain */
    VEC(join_held) held;  /* in file order */
    VEC(uint64_t) held_codes;
    VEC(memtrace_gap) gaps; /* of all segments so far, in the result's times */
    uint64_t n_bytes;       /* total size of these segments */
} join;

/* Begins the result in an empty file. `rate` is the lowest rate of all segments. */
MEMTRACE_NODISCARD memtrace_status join_begin(join *j, const memtrace_info *first, double rate,
                                              int fd);

/* Adds the next segment. Its reader must be at the first event, and stay open until join_end.
 * MEMTRACE_OK: the segment was read to its end, or to damage that ended the reading. */
MEMTRACE_NODISCARD memtrace_status join_add(join *j, memtrace_reader *reader);

/* Says that the recording continues, and that nothing more happened before `until` (us since the
 * epoch). */
void join_extend(join *j, uint64_t until);

/* Ends the result in the way the last segment ended. */
MEMTRACE_NODISCARD memtrace_status join_end(join *j);

void join_free(join *j);

#endif
