/* anonymise.h: a trace without the names in it.
 *
 * Each function, file and type gets a pseudonym that follows from its name and a key, so that equal
 * names stay equal: within the trace, and across traces that are made anonymous with the same key.
 * Whoever lacks the key cannot check a guessed name. Host, executable, runtime parameters, context
 * and process id are blanked, and codes, which are mostly addresses, numbered anew. Events stay:
 * times, sizes and the shape of the stacks are still those of the program. */
#ifndef TRACE_ANONYMISE_H
#define TRACE_ANONYMISE_H

#include "trace/compressor.h"
#include "trace/rewrite.h"

typedef struct anonymise_options {
    uint64_t key[2];
    bool keep_lines;     /* lines and columns; else 0 */
    bool keep_types;     /* types of objects */
    bool keep_structure; /* what separates the parts of names and paths, and file extensions */
} anonymise_options;

MEMTRACE_NODISCARD memtrace_status anonymise_trace(memtrace_reader *reader,
                                                   const anonymise_options *options, int fd,
                                                   compression how, memtrace_error *error);

#endif
