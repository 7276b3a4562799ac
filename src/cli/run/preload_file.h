/* preload_file.h: where the recorder's library is. */
#ifndef CLI_RUN_PRELOAD_FILE_H
#define CLI_RUN_PRELOAD_FILE_H

#include <limits.h>
#include <stdbool.h>

#define PRELOAD_NAME "liballotrace-preload.so"

/* False: it is not where it was installed. */
bool preload_file_find(char path[PATH_MAX]);

#endif
