/* replacement.h: replaces a file as a whole or not at all.
 *
 * The new content is written to a temporary file next to the old one, and renamed over it. A path
 * that is not a regular file (a pipe, /dev/stdout) is written directly. */
#ifndef TRACE_REPLACEMENT_H
#define TRACE_REPLACEMENT_H

#include "allotrace/memtrace.h"

typedef struct replacement {
    int fd;          /* where to write the new content */
    char *path;      /* the file to replace, symbolic links resolved */
    char *temporary; /* NULL: `fd` is the file itself */
} replacement;

/* Begins to replace a file, or to create a new one. After success, the caller must call
 * replacement_commit or replacement_abort. */
MEMTRACE_NODISCARD memtrace_status replacement_begin(replacement *r, const char *path,
                                                     memtrace_error *error);

/* Moves the new file into place, with the mode of the old one. On failure, the old file is
 * unchanged and the new one is removed. */
MEMTRACE_NODISCARD memtrace_status replacement_commit(replacement *r, memtrace_error *error);

/* Leaves the old file unchanged. */
void replacement_abort(replacement *r);

/* For code that replaces a file by its own means: opens a new temporary file next to `path`, with
 * the permissions `mode` as far as the umask allows. Returns its descriptor, or -1 with errno set.
 * `*name` is its name; after renaming or removing the file, free it with
 * replacement_close_beside. */
int replacement_open_beside(const char *path, unsigned mode, char **name);
void replacement_close_beside(char *name);

/* Removes the temporary file that was begun last, unless it is in place already. For a process that
 * is terminated by a signal: may be called in the signal's handler. */
void replacement_interrupted(void);

#endif
