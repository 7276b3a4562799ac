/* completion.h: replaces the addresses in a trace by names.
 *
 * A recorder that runs inside a program only knows the module and the offset of a frame. It writes
 * them as a location: file `PATH[BUILD-ID]`, function `NAME+0xOFFSET`. Completion replaces these
 * locations by real ones, including inlined functions, and attributes allocations to callers of the
 * allocator's own functions (allocator_frames.h). Locations that cannot be resolved stay as they
 * are, and can be completed later. */
#ifndef SYMBOLIZE_COMPLETION_H
#define SYMBOLIZE_COMPLETION_H

#include "base/vec.h"
#include "symbolize/symbolize.h"
#include "trace/relabel.h"

typedef struct completion completion;

/* The result. A place is a code of the trace that was not resolved before. */
typedef struct completion_summary {
    size_t n_places;
    size_t n_lines;    /* those that now have a line */
    size_t n_names;    /* those that only have a function's name */
    size_t n_lineless; /* places of native code that had names before, but no lines */
    bool stopped;      /* stopped by the progress function; the other places were not looked up */
} completion_summary;

/* Reads `reader` to its end and looks up the addresses in it. `reader` must stay open until the
 * completion is freed. `shared` may be a symbolizer that others use as well, which must outlive the
 * completion; its own options about files then apply instead of those in `options`. NULL: create
 * one. On failure, `*c` is NULL and `error` (may be NULL) has the reason. */
MEMTRACE_NODISCARD memtrace_status completion_prepare(completion **c, memtrace_reader *reader,
                                                      symbolizer *shared,
                                                      const symbolize_options *options,
                                                      memtrace_error *error);

/* Adds the questions that a trace has for the symbolizer to `*questions`. */
typedef VEC(symbolize_request) completion_questions;
MEMTRACE_NODISCARD memtrace_status completion_ask(memtrace_reader *reader, symbolizer *shared,
                                                  completion_questions *questions);

/* Makes the question about a location, if its name is an address. `*is_address` tells whether there
 * is a question. Returns false when out of memory. */
MEMTRACE_NODISCARD bool completion_question(symbolizer *s, const char *file, const char *function,
                                            symbolize_request *question, bool *is_address);

void completion_free(completion *c); /* NULL is allowed */

completion_summary completion_result(const completion *c);

/* Returns what knows the modules of the places, and the results for each. */
const symbolizer *completion_symbolizer(const completion *c);

/* Whether the trace is of version 3 but has only one domain, in the events read: it can then be
 * written as version 2, which memtrace 0.2.3 can read. */
bool completion_lowers_version(const completion *c);

/* Writes the completed trace to `path`, which is replaced as a whole or not at all. `reader` must
 * read the same trace as before, from its start. `version`: see rewrite.h. */
MEMTRACE_NODISCARD memtrace_status completion_write(completion *c, memtrace_reader *reader,
                                                    uint16_t version, const char *path,
                                                    memtrace_error *error);

/* Whether no frame belongs to the allocator, as far as is known. Completion then only changes
 * names, and completion_relabel can write the trace if the reader was relabel_names(names). */
bool completion_keeps_frames(const completion *c);
MEMTRACE_NODISCARD memtrace_status completion_relabel(completion *c, relabel *names,
                                                      const char *path, memtrace_error *error);

#endif
