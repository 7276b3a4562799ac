/* rewrite.h: makes a trace from one or several others.
 *
 * Events keep their times, ids, domains and backtraces unless the caller changes them; the
 * locations of their call sites can be changed as well. Whatever the input is like (damaged,
 * unordered, compressed, version 1), the output is clean, with its packets in the order of their
 * begin times. The work is proportional to the frames that differ from one backtrace to the next.
 * Single-threaded. */
#ifndef TRACE_REWRITE_H
#define TRACE_REWRITE_H

#include "allotrace/memtrace.h"
#include "trace/compressor.h"

typedef struct rewrite_options {
    uint16_t version;    /* 2 (one domain only) or 3; 0: the input's, or 2 for version 1 */
    double sample_rate;  /* 0: the input's */
    const char *context; /* NULL: the input's */

    /* Like the hook of memtrace_writer_options. `frame` is the input's description of the code, or
     * NULL if the code comes from `edit`. Strings must stay valid until the rewriting ends. NULL:
     * the locations of the input. */
    size_t (*locate)(void *user, uint64_t code, const memtrace_frame *frame,
                     memtrace_location *locations, size_t max);

    /* Called for each event before it is written. Returns whether to write the event. May change
     * its time (keeping the order within the domain), its id and its samples. NULL: write all
     * events unchanged. */
    bool (*select)(void *user, memtrace_event *event);

    /* Returns the code to write for a frame of the input. Called once for each frame; no two frames
     * of an input may get the same code. NULL: the frame's own code. */
    uint64_t (*recode)(void *user, const memtrace_frame *frame);

    /* Called after the input was read, until it returns false. Fills `*event` with an additional
     * promotion or collection, not earlier than other events of its domain. May be NULL. */
    bool (*add)(void *user, memtrace_event *event);

    /* Returns when the input ends, in microseconds from the start of the result, given its own
     * duration. NULL: after that duration. */
    uint64_t (*end)(void *user, uint64_t duration);

    uint16_t first_domain; /* added to the domains of the input */

    /* May change the innermost end of an allocation's `n` codes (outermost caller first) before
     * they are written, by replacing and removing codes. Returns how many remain. `*same` is
     * initially n, and must be set to the number of leading codes that are unchanged. May be
     * NULL. */
    size_t (*edit)(void *user, const memtrace_event *event, uint64_t *codes, size_t n,
                   size_t *same);

    void *user; /* passed to all of the hooks */
} rewrite_options;

/* One of several traces that are combined. */
typedef struct rewrite_input {
    memtrace_reader *reader;
    rewrite_options options; /* without `version`, `sample_rate` and `context` */
} rewrite_input;

/* Reads `reader` to its end and writes its events to `fd`, which remains open. The result has the
 * input's duration. `options` may be NULL. After a failure, the content of `fd` is useless. `error`
 * may be NULL. */
MEMTRACE_NODISCARD memtrace_status rewrite_trace(memtrace_reader *reader,
                                                 const rewrite_options *options, int fd,
                                                 compression how, memtrace_error *error);

/* Like rewrite_trace, but writes to a file, which is replaced as a whole or, on failure, not at
 * all. It may be the file being read. Its name decides on compression. */
MEMTRACE_NODISCARD memtrace_status rewrite_to_file(memtrace_reader *reader,
                                                   const rewrite_options *options, const char *path,
                                                   memtrace_error *error);

/* Makes one trace with the head `info` from several, which are read to their ends one after the
 * other. Their options must make domains and ids distinct, equal codes mean equal places, and times
 * count from the start in `info`. */
MEMTRACE_NODISCARD memtrace_status rewrite_traces(const memtrace_info *info,
                                                  const rewrite_input *inputs, size_t n_inputs,
                                                  int fd, compression how, memtrace_error *error);

/* The default of `locate`: the frame's type, if any, and its locations. */
size_t rewrite_frame_locations(const memtrace_frame *frame, memtrace_location *locations,
                               size_t max);

#endif
