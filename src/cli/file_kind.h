/* file_kind.h: what a file is that is no trace, where that is cheap to tell. */
#ifndef CLI_FILE_KIND_H
#define CLI_FILE_KIND_H

#include <stdbool.h>

/* Says that the file is of another kind, and what can be done with it. False, and nothing said, if
 * it may be a trace, or anything. */
bool file_kind_say(const char *path);

#endif
