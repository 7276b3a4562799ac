/* libc_files.h: recognizes source files of glibc by the names in its debug information, such as
 * "stdio-common/printf.c" and "./malloc/../malloc/malloc.c". Distributions remove the folder in
 * which glibc was built. */
#ifndef LANGUAGES_LIBC_FILES_H
#define LANGUAGES_LIBC_FILES_H

#include <stdbool.h>

bool libc_has_file(const char *file);

/* Returns the path after any leading "./" and "../". */
const char *libc_skip_dots(const char *path);

#endif
