/* join.h: one trace from segments of a ring that follow each other (segment.h).
 *
 * The result is what one segment of that whole time would be: it begins with what was live at the
 * start of the first, each block stands in it once, under one id, and with its own end. Where
 * segments between are missing or broken off, a block that the next one no longer carries is freed
 * when that begins, and one that came to be meanwhile is allocated then.
 *
 * What a domain does with a carried block may stand in the file before that one, as packets of
 * several domains are in any order: it waits until all carried blocks are known.
 *
 * Where rates differ, by powers of two, samples are thinned to the lowest, by the same coins as
 * those of the cutter: a block that goes on is one that later segments carry. Single-threaded. */
#ifndef TRACE_JOIN_H
#define TRACE_JOIN_H

#include "allotrace/memtrace.h"
#include "base/map64.h"
#include "base/vec.h"
#include "trace/segment_writer.h"

typedef struct join_block {
    uint64_t out;    /* its id in the result */
    uint32_t round;  /* the last segment, counted from 1, that has or carries it */
    uint16_t domain; /* of its allocation */
    bool live;       /* allocated, and not freed */
    bool dead;       /* its death was written, maybe before its allocation */
    bool thinned;    /* none of its samples goes on */
} join_block;

typedef struct join_lane {
    memtrace_stream *stream; /* NULL: the domain has no events */
    segment_backtrace codes; /* the latest */
    uint64_t block, age;     /* of what is carried over next, if `carries` */
    bool carries;
    bool waits; /* its events are held from here on */
} join_lane;

/* An event of a domain that waits. */
typedef struct join_held {
    memtrace_event event; /* but for its frames */
    size_t first, n;      /* in `held_codes`: the backtrace */
} join_held;

typedef struct join {
    segment_writer out; /* into the result, from the segment that is read */
    double rate;        /* of the result */
    uint64_t halvings;  /* of the segment's rate to that */
    uint64_t start;     /* of the result, us since the epoch */
    uint64_t shift;     /* of the segment's start from that, microseconds */
    uint64_t end;       /* the latest moment of all segments, likewise */
    bool goes_on;       /* it is still recorded, and that is its end for now */
    uint32_t round;
    uint64_t n_carried; /* that the segment has still to come */
    segment_head head;
    uint64_t n_missing; /* segments between others */
    uint64_t n_freed;   /* blocks whose end is not known but for that */
    VEC(join_block) blocks;
    map64 rows;           /* of their ids in the recording, in `blocks` */
    map64 carried;        /* of their ids in the segment, likewise */
    VEC(join_lane) lanes; /* by domain */
    VEC(join_held) held;  /* in the order of the file */
    VEC(uint64_t) held_codes;
    VEC(memtrace_gap) gaps; /* of the segments so far, in the result's times */
    uint64_t n_bytes;       /* that these segments have */
} join;

/* Begins the result in an empty file. `rate` is the lowest of all segments. */
MEMTRACE_NODISCARD memtrace_status join_begin(join *j, const memtrace_info *first, double rate,
                                              int fd);

/* Adds the next segment, whose reader is at its first event and must stay open until join_end.
 * MEMTRACE_OK: it was read to its end, or up to damage that ended the reading. */
MEMTRACE_NODISCARD memtrace_status join_add(join *j, memtrace_reader *reader);

/* The recording goes on: nothing else has happened until then (us since the epoch). */
void join_extend(join *j, uint64_t until);

/* Ends the result: as the last segment did. */
MEMTRACE_NODISCARD memtrace_status join_end(join *j);

void join_free(join *j);

#endif
