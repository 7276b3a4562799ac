/* export_sqlite.h: a profile as an SQLite database, to be asked in SQL: a table of its blocks, with
 * those of frames, stacks and the trace, and views for the common questions. */
#ifndef EXPORT_EXPORT_SQLITE_H
#define EXPORT_EXPORT_SQLITE_H

#include <stddef.h>

#include "query/lens.h"
#include "render/output.h"

/* Fills the file `path`, which is empty or absent, with the rows of the profile's table of which
 * `kept` is not 0 (NULL: all). `watch` is asked first, and then told of bytes that are guessed;
 * NULL: nobody is. On failure, false and why in `reason`: nothing if the watch did not want it. */
bool export_sqlite(const char *path, const lens *l, const uint8_t *kept, const output_watch *watch,
                   char *reason, size_t size);

#endif
