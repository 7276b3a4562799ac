/* anonymise.h: removes the names from a trace.
 *
 * Each function, file and type gets a pseudonym derived from its name and a key, so that equal
 * names stay equal within the trace and across traces anonymised with the same key. Without the
 * key, nobody can verify a guessed name. Host, executable, runtime parameters, context and process
 * id are blanked. Codes, which are mostly addresses, are renumbered. Events stay: times, sizes and
 * the shapes of the stacks are still those of the program. */
#ifndef TRACE_ANONYMISE_H
#define TRACE_ANONYMISE_H

#include "trace/compressor.h"
#include "trace/rewrite.h"

typedef struct anonymise_options {
    uint64_t key[2];
    bool keep_lines;     /* keep lines and columns, which are 0 otherwise */
    bool keep_types;     /* keep the types of objects */
    bool keep_structure; /* keep separators within names and paths, and file extensions */
} anonymise_options;

MEMTRACE_NODISCARD memtrace_status anonymise_trace(memtrace_reader *reader,
                                                   const anonymise_options *options, int fd,
                                                   compression how, memtrace_error *error);

#endif
