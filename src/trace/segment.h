/* segment.h: what a segment of a ring says about itself.
 *
 * A ring is a recording in several pieces, called segments, each of which is a complete trace. A
 * segment begins with the live blocks, written as allocations with their stacks, at the segment's
 * start, or at their true times where these lie in the segment. Additional facts are in remarks,
 * which other readers take for objects without samples: which segment it is and, before each
 * carried block, the block's id in the recording and its age. See FORMAT.md, section 6. */
#ifndef TRACE_SEGMENT_H
#define TRACE_SEGMENT_H

#include "allotrace/memtrace.h"

/* X(identifier, name), in the order in which they appear in a segment. */
#define SEGMENT_REMARKS(X)                                                                         \
    X(RECORDING, "recording") /* when it began, us since the epoch; equal in all segments */       \
    X(NUMBER, "number")       /* number of the segment, from 0 */                                  \
    X(LEVEL, "level")         /* how many times its rate was halved */                             \
    X(CARRIES, "carries")     /* number of blocks carried over */                                  \
    X(BLOCK, "block")         /* recording's id of the domain's next allocation */                 \
    X(AGE, "age")             /* age of that block at that time, us */                             \
    /* What a recorder says to the code that cuts segments: */                                     \
    X(LEFT, "left")       /* domain that the next WRITTEN leaves out */                            \
    X(WRITTEN, "written") /* events up to its time are written, except in that many domains */

typedef enum segment_remark {
#define SEGMENT_REMARK_ID(id, name) SEGMENT_##id,
    SEGMENT_REMARKS(SEGMENT_REMARK_ID)
#undef SEGMENT_REMARK_ID
        SEGMENT_N_REMARKS,
    SEGMENT_NO_REMARK = SEGMENT_N_REMARKS
} segment_remark;

/* Codes and ids that no recorder uses. Carried blocks and remarks get ids from SEGMENT_IDS on; all
 * other blocks keep the ids that they have in the whole recording. */
#define SEGMENT_CODES (UINT64_C(1) << 61)
#define SEGMENT_IDS   (UINT64_C(1) << 60)

static inline uint64_t segment_code(segment_remark remark) {
    return SEGMENT_CODES + remark;
}

/* The code of a remark of a span (span_remark.h). */
static inline uint64_t segment_span_code(unsigned which) {
    return SEGMENT_CODES + SEGMENT_N_REMARKS + which;
}

/* Sets the location of `code` and returns true if it is the code of a remark. For hooks that locate
 * codes. */
bool segment_locate(uint64_t code, memtrace_location *location);

/* Returns which remark an event of a segment is, or SEGMENT_NO_REMARK if it is an event of the
 * program. The remark's value is the event's `length`. */
segment_remark segment_remark_of(const memtrace_reader *reader, const memtrace_event *event);

/* Returns how many of the block's `n` samples remain when the rate is halved from level `from` to
 * level `to`. `id` is the block's id in the recording, `recording` the start of the recording. The
 * result depends on these alone: all callers get the same samples, also when they thin in several
 * steps. */
uint64_t segment_thin(uint64_t recording, uint64_t id, uint64_t n, uint64_t from, uint64_t to);

#define SEGMENT_MAX_LEVEL 63

/* The end reason of a segment that has exactly the events of its time range. */
#define SEGMENT_GOES_ON "the recording continues in the next segment"

/* What the beginning of a trace says about its segment. */
typedef struct segment_head {
    bool is_segment;
    uint64_t recording; /* start of the recording, us since the epoch */
    uint64_t number, level, n_carried;
} segment_head;

/* Reads as many events from the head of the trace as describe the segment. MEMTRACE_OK: `*head` is
 * valid. */
MEMTRACE_NODISCARD memtrace_status segment_read_head(memtrace_reader *reader, segment_head *head);

/* Whether an event ends or promotes a block. Such events have no backtrace. */
static inline bool segment_is_fate(const memtrace_event *e) {
    return e->kind == MEMTRACE_COLLECT || e->kind == MEMTRACE_PROMOTE;
}

#endif
