/* libc_files.h: sources of glibc, as its debug information names them: "stdio-common/printf.c",
 * "./malloc/../malloc/malloc.c". Distributions leave no more of the folder where they built it. */
#ifndef QUERY_LIBC_FILES_H
#define QUERY_LIBC_FILES_H

#include <stdbool.h>

bool libc_has_file(const char *file);

/* Behind "./" and "../" at the start of a path. */
const char *libc_skip_dots(const char *path);

#endif
