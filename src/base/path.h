/* path.h: takes file names apart as text; the file system is not consulted. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns the last component: what follows the last slash, or all. */
static inline const char *path_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether `path` ends with the `size` bytes at `end`, beginning at a component. */
bool path_ends(const char *path, const char *end, size_t size);

/* Splits FILE:LINE. Returns the size of FILE and sets the line, which is not 0. Returns 0 if the
 * text is not of this form; neither is a scoped name with two colons, as in `ns::7`. */
size_t path_line(const char *text, size_t size, uint32_t *line);

#endif
