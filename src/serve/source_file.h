/* source_file.h: the text of a source file that a trace names, if it is on this machine. */
#ifndef SERVE_SOURCE_FILE_H
#define SERVE_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#define SOURCE_FILE_MAX ((size_t)8 << 20) /* bytes */

typedef struct source_file {
    char *text; /* with a NUL behind it */
    size_t size;
    char *path;         /* from the root of the file system; NULL: unknown */
    const char *reason; /* static; why there is none */
} source_file;

/* `name` is as the trace has it: an absolute path is taken as it is, another one below `folder`,
 * unless it has `..` in it. False, with a reason, if it is no regular file of text. */
bool source_file_read(source_file *f, const char *folder, const char *name);
void source_file_free(source_file *f);

#endif
