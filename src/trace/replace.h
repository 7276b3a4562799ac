/* replace.h: a file is replaced as a whole or not at all.
 *
 * The new content goes to a temporary file beside the old one and takes its place by a rename. A
 * path that names something else than a regular file (a pipe, /dev/stdout) is written directly. */
#ifndef TRACE_REPLACE_H
#define TRACE_REPLACE_H

#include "allotrace/memtrace.h"

typedef struct replacement {
    int fd;          /* to write to */
    char *path;      /* what is replaced, symbolic links resolved */
    char *temporary; /* NULL: `fd` is the file itself */
} replacement;

/* Begins to replace a file, or to make a new one. Ends with replacement_commit or
 * replacement_abort if it succeeds. */
MEMTRACE_NODISCARD memtrace_status replacement_begin(replacement *r, const char *path,
                                                     memtrace_error *error);

/* Puts the new file, with the mode of the old one, into its place. If that fails, the old file is
 * as it was and the new one is gone. */
MEMTRACE_NODISCARD memtrace_status replacement_commit(replacement *r, memtrace_error *error);

/* Leaves the old file as it was. */
void replacement_abort(replacement *r);

#endif
