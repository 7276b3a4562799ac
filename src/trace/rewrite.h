/* rewrite.h: a trace from a trace, or from several.
 *
 * Events keep their times, ids, domains and backtraces where the caller does not choose otherwise;
 * what they say of their call sites can be changed on the way. Whatever the input was like
 * (damaged, unordered, compressed, version 1), the output is clean: its packets follow each other
 * by their begin times. The work is proportional to the frames that differ from one backtrace to
 * the next. Single-threaded. */
#ifndef TRACE_REWRITE_H
#define TRACE_REWRITE_H

#include "allotrace/memtrace.h"
#include "trace/compressor.h"

typedef struct rewrite_options {
    uint16_t version;    /* 2 (one domain only) or 3; 0: the input's, or 2 for version 1 */
    double sample_rate;  /* 0: the input's */
    const char *context; /* NULL: the input's */

    /* Like the hook of memtrace_writer_options; `frame` is what the input says of the code, NULL if
     * the code comes from `edit`. Strings must stay valid until the rewriting ends. NULL: the
     * locations of the input. */
    size_t (*locate)(void *user, uint64_t code, const memtrace_frame *frame,
                     memtrace_location *locations, size_t max);

    /* Called for each event before it is written: whether to write it at all. May change its time
     * (within a domain, the order must stay), its id and its samples. NULL: all, as they are. */
    bool (*select)(void *user, memtrace_event *event);

    /* The code to write for a frame of the input, called once for each; no two frames of an input
     * may get the same. NULL: the frame's own. */
    uint64_t (*recode)(void *user, const memtrace_frame *frame);

    /* Called when the input was read, until it returns false: fills `*event` with another promotion
     * or collection to write, which is not before others of its domain. May be NULL. */
    bool (*add)(void *user, memtrace_event *event);

    /* When the input ends, in microseconds from the start of the result, if it lasts for `duration`
     * itself. NULL: just then. */
    uint64_t (*end)(void *user, uint64_t duration);

    uint16_t first_domain; /* is added to the domains of the input */

    /* May change the end of an allocation's `n` codes (outermost caller first) before they are
     * written, replacing some and removing some. Returns how many remain; `*same`, n before,
     * becomes how many of these are as they were, up to the first that is not. May be NULL. */
    size_t (*edit)(void *user, const memtrace_event *event, uint64_t *codes, size_t n,
                   size_t *same);

    void *user; /* handed to all of them */
} rewrite_options;

/* One of several traces that become one. */
typedef struct rewrite_input {
    memtrace_reader *reader;
    rewrite_options options; /* without `version`, `sample_rate` and `context` */
} rewrite_input;

/* Reads `reader` to its end and writes its events to `fd`, which remains open; the result lasts as
 * long. `options` may be NULL. After a failure what `fd` got is useless; `error` may be NULL. */
MEMTRACE_NODISCARD memtrace_status rewrite_trace(memtrace_reader *reader,
                                                 const rewrite_options *options, int fd,
                                                 compression how, memtrace_error *error);

/* The same to a file, which is replaced as a whole or, on failure, not at all; it may be the one
 * that is read. The name says whether it is compressed. */
MEMTRACE_NODISCARD memtrace_status rewrite_to_file(memtrace_reader *reader,
                                                   const rewrite_options *options, const char *path,
                                                   memtrace_error *error);

/* Makes one trace with the head `info` from several: reads them to their ends, one after the other.
 * Their options see to it that domains and ids differ, that equal codes mean the same place, and
 * that times count from the start that `info` says. */
MEMTRACE_NODISCARD memtrace_status rewrite_traces(const memtrace_info *info,
                                                  const rewrite_input *inputs, size_t n_inputs,
                                                  int fd, compression how, memtrace_error *error);

/* What the default of `locate` does: the frame's type, if any, and its locations. */
size_t rewrite_frame_locations(const memtrace_frame *frame, memtrace_location *locations,
                               size_t max);

#endif
