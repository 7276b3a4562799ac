/* segment.h: what a segment of a ring says of itself.
 *
 * A ring is a recording in pieces, each a trace by itself. A segment begins with what is live:
 * these blocks stand in it as allocations, with their stacks, at its start, or at their true times
 * where these are in it. Remarks, which other readers take for objects without samples, say what is
 * more: which segment it is, and in front of each block that was carried over, which one that is
 * and how old. See FORMAT.md, section 6. */
#ifndef TRACE_SEGMENT_H
#define TRACE_SEGMENT_H

#include "allotrace/memtrace.h"

/* X(identifier, name): in the order in which a segment has them. */
#define SEGMENT_REMARKS(X)                                                                         \
    X(RECORDING, "recording") /* when it began, us since the epoch: the same in all segments */    \
    X(NUMBER, "number")       /* of the segment, from 0 on */                                      \
    X(LEVEL, "level")         /* its rate is that of the recording, halved so many times */        \
    X(CARRIES, "carries")     /* so many blocks from before */                                     \
    X(BLOCK, "block")         /* the next allocation of this domain is the one with this id */     \
    X(AGE, "age")             /* and was then so old, in microseconds */                           \
    /* What a recorder says to whoever makes segments: */                                          \
    X(LEFT, "left")       /* the next such remark of this domain is not of the one so called */    \
    X(WRITTEN, "written") /* all events up to its time are written, but those of so many           \
                             domains that were left out */

typedef enum segment_remark {
#define SEGMENT_REMARK_ID(id, name) SEGMENT_##id,
    SEGMENT_REMARKS(SEGMENT_REMARK_ID)
#undef SEGMENT_REMARK_ID
        SEGMENT_N_REMARKS,
    SEGMENT_NO_REMARK = SEGMENT_N_REMARKS
} segment_remark;

/* Codes and ids that no recorder gives. Blocks that are carried over, and remarks, have ids from
 * there on; all others are called as in the whole recording. */
#define SEGMENT_CODES (UINT64_C(1) << 61)
#define SEGMENT_IDS   (UINT64_C(1) << 60)

static inline uint64_t segment_code(segment_remark remark) {
    return SEGMENT_CODES + remark;
}

/* The same of the remarks of a span (span_remark.h). */
static inline uint64_t segment_span_code(unsigned which) {
    return SEGMENT_CODES + SEGMENT_N_REMARKS + which;
}

/* For hooks that say where a code is: whether it is that of such a remark. */
bool segment_locate(uint64_t code, memtrace_location *location);

/* What an event of a segment says; SEGMENT_NO_REMARK: it is of the program. The value is its
 * `length`. */
segment_remark segment_remark_of(const memtrace_reader *reader, const memtrace_event *event);

/* Of `n` samples of the block that has this id in the recording, those that go on when the rate is
 * halved from one level to another; `recording` is when that began. Whoever asks gets the same,
 * also in several steps. */
uint64_t segment_thin(uint64_t recording, uint64_t id, uint64_t n, uint64_t from, uint64_t to);

#define SEGMENT_MAX_LEVEL 63

/* Why a segment ends that has all events of its time, and no others. */
#define SEGMENT_GOES_ON "the recording continues in the next segment"

/* What is known of a trace from its beginning. */
typedef struct segment_head {
    bool is_segment;
    uint64_t recording; /* when that began, us since the epoch */
    uint64_t number, level, n_carried;
} segment_head;

/* Reads on from the head of the trace: as many events as say it. MEMTRACE_OK: it is known. */
MEMTRACE_NODISCARD memtrace_status segment_read_head(memtrace_reader *reader, segment_head *head);

/* What becomes of a block: it has no backtrace. */
static inline bool segment_is_fate(const memtrace_event *e) {
    return e->kind == MEMTRACE_COLLECT || e->kind == MEMTRACE_PROMOTE;
}

#endif
