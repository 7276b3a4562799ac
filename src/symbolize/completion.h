/* completion.h: gives the addresses in a trace their names.
 *
 * A recorder that runs inside a program knows of a frame only its module and offset; it writes them
 * as a location: file `PATH[BUILD-ID]`, function `NAME+0xOFFSET`. Completing replaces these
 * locations by real ones, inlined functions included, and moves the place of allocation out of the
 * allocator's own functions (allocator_frames.h). What cannot be resolved stays as it is and can be
 * completed later. */
#ifndef SYMBOLIZE_COMPLETION_H
#define SYMBOLIZE_COMPLETION_H

#include "base/vec.h"
#include "symbolize/symbolize.h"
#include "trace/relabel.h"

typedef struct completion completion;

/* What was found. A place is a code of the trace that was not resolved before. */
typedef struct completion_summary {
    size_t n_places;
    size_t n_lines;    /* of these, how many have a line now */
    size_t n_names;    /* … a function's name alone */
    size_t n_lineless; /* places of native code that were named before, but have no line */
    bool stopped;      /* by the progress function; the rest was not looked up */
} completion_summary;

/* Reads all of `reader`, which must stay open until the completion is freed, and looks up what it
 * names by address. `shared`, unless it is NULL, is a symbolizer that others use as well, which
 * must outlive the completion; of the options, those about files are then the symbolizer's. On
 * failure
 * `*c` is NULL and `error` (may be NULL) says why. */
MEMTRACE_NODISCARD memtrace_status completion_prepare(completion **c, memtrace_reader *reader,
                                                      symbolizer *shared,
                                                      const symbolize_options *options,
                                                      memtrace_error *error);

/* What a trace asks of the symbolizer, added to `*questions`. */
typedef VEC(symbolize_request) completion_questions;
MEMTRACE_NODISCARD memtrace_status completion_ask(memtrace_reader *reader, symbolizer *shared,
                                                  completion_questions *questions);

/* What a place that is named by its address asks of the symbolizer: `*is_address` says whether it
 * is one, and so whether there is a question. False when there is no memory. */
MEMTRACE_NODISCARD bool completion_question(symbolizer *s, const char *file, const char *function,
                                            symbolize_request *question, bool *is_address);

void completion_free(completion *c); /* NULL is allowed */

completion_summary completion_result(const completion *c);

const symbolizer *completion_symbolizer(const completion *c);

/* The modules that the places lie in, and what became of them. */
size_t completion_n_modules(const completion *c);
const symbolize_module *completion_module(const completion *c, size_t i);

/* Whether the trace is of version 3 and, as far as events were read, has one domain: it can be of
 * version 2, which memtrace 0.2.3 reads. */
bool completion_lowers_version(const completion *c);

/* Writes the completed trace to `path`, which is replaced as a whole or not at all. `reader` reads
 * the same trace as before, from its start. `version` as in rewrite.h. */
MEMTRACE_NODISCARD memtrace_status completion_write(completion *c, memtrace_reader *reader,
                                                    uint16_t version, const char *path,
                                                    memtrace_error *error);

/* Whether no frame is the allocator's own, as far as is known: then completing changes names alone,
 * and if the reader was relabel_names(names), the trace can be written so. */
bool completion_keeps_frames(const completion *c);
MEMTRACE_NODISCARD memtrace_status completion_relabel(completion *c, relabel *names,
                                                      const char *path, memtrace_error *error);

#endif
