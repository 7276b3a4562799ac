/* file_kind.h: recognizes files that are not traces, if that is cheap. */
#ifndef CLI_FILE_KIND_H
#define CLI_FILE_KIND_H

#include <stdbool.h>

/* If the file is of another known kind, reports that, and what can be done with it. Returns false
 * without a message if it may be a trace, or is unknown. */
bool file_kind_say(const char *path);

#endif
