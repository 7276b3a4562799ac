/* preload_file.h: finds the recorder's library. */
#ifndef CLI_RUN_PRELOAD_FILE_H
#define CLI_RUN_PRELOAD_FILE_H

#include <limits.h>
#include <stdbool.h>

#define PRELOAD_NAME "liballotrace-preload.so"

/* Finds the recorder's library. Returns false if it is not where it was installed. */
bool preload_file_find(char path[PATH_MAX]);

/* The recorder's library for statically linked programs. It is in the same folder as the library at
 * `preload`. */
#define STATIC_NAME "liballotrace-static.so"
bool preload_file_find_static(const char *preload, char path[PATH_MAX]);

/* LD_PRELOAD cannot quote blanks, colons and `$`. If `path` contains one of these, replaces it by
 * the path of a symbolic link below $XDG_RUNTIME_DIR, $TMPDIR or /tmp. The link is never removed:
 * child processes need it, however late they start. Returns false with errno set if no link can be
 * made. */
bool preload_file_make_nameable(char path[PATH_MAX]);

#endif
