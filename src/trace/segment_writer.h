/* segment_writer.h: what the cutter, which makes segments, and the join, which makes one trace from
 * segments, share: a writer into a file whose backtraces come from a reader.
 *
 * Codes are passed through unchanged, so the location of a code comes from the reader of the event.
 * Single-threaded. */
#ifndef TRACE_SEGMENT_WRITER_H
#define TRACE_SEGMENT_WRITER_H

#include "allotrace/memtrace.h"
#include "base/map64.h"
#include "base/vec.h"
#include "trace/end.h"
#include "trace/segment.h"

typedef VEC(uint64_t) segment_backtrace; /* codes, outermost caller first */

/* Valid when zeroed. */
typedef struct segment_writer {
    memtrace_reader *reader; /* reader of the events that are written */
    memtrace_writer *writer; /* NULL if none is open */
    int fd, os_error;
    end_trace of;     /* the trace that is written */
    uint64_t size;    /* bytes written so far */
    uint64_t next_id; /* next id for remarks and carried blocks */

    segment_backtrace codes; /* code of each frame index of the reader */
    map64 frames;            /* from a code to its frame index */
} segment_writer;

/* Sets the reader that events come from. */
void segment_writer_read(segment_writer *w, memtrace_reader *reader);

/* Begins a trace in an empty file. On failure, here and below, `os_error` may give the reason. */
MEMTRACE_NODISCARD memtrace_status segment_writer_open(segment_writer *w, const memtrace_info *info,
                                                       int fd);

/* Updates `latest`, the domain's latest backtrace, to that of its next event. Returns false when
 * out of memory. */
MEMTRACE_NODISCARD bool segment_writer_follow(segment_writer *w, segment_backtrace *latest,
                                              const memtrace_event *event);

MEMTRACE_NODISCARD memtrace_status segment_writer_remark(segment_writer *w, memtrace_stream *stream,
                                                         uint64_t time, segment_remark remark,
                                                         uint64_t value);

/* Writes the remarks that a segment begins with. */
MEMTRACE_NODISCARD memtrace_status segment_writer_head(segment_writer *w, memtrace_stream *stream,
                                                       const segment_head *head);

/* Writes that events are missing. */
MEMTRACE_NODISCARD memtrace_status segment_writer_gap(segment_writer *w, const memtrace_gap *gap);

/* Closes the trace; the streams must be closed. `end` is written unless it is
 * MEMTRACE_END_UNSAID. */
MEMTRACE_NODISCARD memtrace_status segment_writer_close(segment_writer *w, const memtrace_end *end);

/* The writer must be closed. */
void segment_writer_free(segment_writer *w);

#endif
