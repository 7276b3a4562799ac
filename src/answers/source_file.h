/* source_file.h: the text of a source file that a trace names, if it is on this machine. */
#ifndef ANSWERS_SOURCE_FILE_H
#define ANSWERS_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#define SOURCE_FILE_MAX ((size_t)8 << 20) /* bytes */

typedef struct source_file {
    char *text;         /* NUL-terminated */
    char *path;         /* absolute; NULL: unknown */
    const char *reason; /* why there is no text; a static string */
} source_file;

/* Reads the file `name`, as the trace spells it. An absolute path is used as it is; a relative one
 * is looked up in `folder` and must not contain `..`. Returns false, with a reason, if that is no
 * regular text file. */
bool source_file_read(source_file *f, const char *folder, const char *name);
void source_file_free(source_file *f);

#endif
