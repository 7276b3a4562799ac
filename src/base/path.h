/* path.h: parts of the names of files, as texts: nothing is looked up. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The last part: behind the last slash, if there is one. */
static inline const char *path_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether `path` ends with the `size` bytes at `end`, which begin where a part of it does. */
bool path_ends(const char *path, const char *end, size_t size);

/* Takes FILE:LINE apart: the size of FILE, and the line, which is not 0. 0: the text is no such
 * thing. A name of a scope, as in `ns::7`, has two colons and is none. */
size_t path_line(const char *text, size_t size, uint32_t *line);

#endif
