/* preload_file.h: where the recorder's library is. */
#ifndef CLI_RUN_PRELOAD_FILE_H
#define CLI_RUN_PRELOAD_FILE_H

#include <limits.h>
#include <stdbool.h>

#define PRELOAD_NAME "liballotrace-preload.so"

/* False: it is not where it was installed. */
bool preload_file_find(char path[PATH_MAX]);

/* The library for programs that are linked statically, which is beside that one. */
#define STATIC_NAME "liballotrace-static.so"
bool preload_file_find_static(const char *preload, char path[PATH_MAX]);

/* LD_PRELOAD has no way to quote blanks, colons and `$`. A path with one of these is replaced by
 * that of a link to it, below $XDG_RUNTIME_DIR, $TMPDIR or /tmp. The link stays: what the program
 * starts needs it, however late. False, with errno: there can be no link. */
bool preload_file_make_nameable(char path[PATH_MAX]);

#endif
