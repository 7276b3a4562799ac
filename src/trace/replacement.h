/* replacement.h: a file is replaced as a whole or not at all.
 *
 * The new content goes to a temporary file beside the old one and takes its place by a rename. A
 * path that names something else than a regular file (a pipe, /dev/stdout) is written directly. */
#ifndef TRACE_REPLACEMENT_H
#define TRACE_REPLACEMENT_H

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

/* For those who replace a file otherwise. Opens a new file beside `path`, which nobody else writes,
 * with these permissions as far as the umask has them; returns its descriptor, or -1 with errno
 * set.
 * `*name` is its name; once it was renamed or removed, replacement_close_beside frees that. */
int replacement_open_beside(const char *path, unsigned mode, char **name);
void replacement_close_beside(char *name);

/* Removes the temporary file that was begun last, if it is not in its place yet. For a process that
 * a signal ends: may be called by its handler. */
void replacement_interrupted(void);

#endif
