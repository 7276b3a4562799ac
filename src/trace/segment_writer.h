/* segment_writer.h: what the cutter, which makes segments, and the join, which makes one trace of
 * them, share: a writer into a file, whose backtraces are the reader's.
 *
 * Codes stay what they are on the way, so where a code is comes from the reader that the event came
 * from. Single-threaded. */
#ifndef TRACE_SEGMENT_WRITER_H
#define TRACE_SEGMENT_WRITER_H

#include "allotrace/memtrace.h"
#include "base/map64.h"
#include "base/vec.h"
#include "trace/end.h"
#include "trace/segment.h"

typedef VEC(uint64_t) segment_backtrace; /* codes, outermost caller first */

/* Legal when zeroed. */
typedef struct segment_writer {
    memtrace_reader *reader; /* of the events that are written */
    memtrace_writer *writer; /* NULL: none is open */
    int fd, os_error;
    end_trace of;     /* the trace that is written */
    uint64_t size;    /* bytes of it so far */
    uint64_t next_id; /* of remarks and carried blocks */

    segment_backtrace codes; /* by frame index of the reader */
    map64 frames;            /* from a code to that */
} segment_writer;

/* Events come from this reader from now on. */
void segment_writer_read(segment_writer *w, memtrace_reader *reader);

/* Begins in an empty file. On failure, here as below, `os_error` may say why. */
MEMTRACE_NODISCARD memtrace_status segment_writer_open(segment_writer *w, const memtrace_info *info,
                                                       int fd);

/* Makes a domain's latest backtrace that of its next event; false when there is no memory. */
MEMTRACE_NODISCARD bool segment_writer_follow(segment_writer *w, segment_backtrace *latest,
                                              const memtrace_event *event);

MEMTRACE_NODISCARD memtrace_status segment_writer_remark(segment_writer *w, memtrace_stream *stream,
                                                         uint64_t time, segment_remark remark,
                                                         uint64_t value);

/* What a segment begins with. */
MEMTRACE_NODISCARD memtrace_status segment_writer_head(segment_writer *w, memtrace_stream *stream,
                                                       const segment_head *head);

/* Says that events are missing. */
MEMTRACE_NODISCARD memtrace_status segment_writer_gap(segment_writer *w, const memtrace_gap *gap);

/* The streams are closed. `end` is written unless it says nothing. */
MEMTRACE_NODISCARD memtrace_status segment_writer_close(segment_writer *w, const memtrace_end *end);

/* The writer must be closed. */
void segment_writer_free(segment_writer *w);

#endif
