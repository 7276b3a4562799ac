/* result_file.h: the destination of a result that is a file: standard output, or a file that is
 * replaced atomically. */
#ifndef CLI_RESULT_FILE_H
#define CLI_RESULT_FILE_H

#include "cli/command.h"
#include "render/output.h"
#include "trace/replacement.h"

typedef struct result_file {
    const char *path;  /* NULL: standard output */
    replacement file;  /* unless it is standard output */
    int fd;            /* to write to */
    uint64_t expected; /* approximate size of the result, bytes */
    output_watch watch;
} result_file;

/* Opens the destination. A `path` of NULL or `-` means standard output, which must not be a
 * terminal if the result is `binary`. Returns STATUS_OK, or another status after reporting what is
 * wrong. */
int result_file_begin(result_file *r, const command *cmd, const char *path, bool binary);

/* Returns a watch for large results. Writers announce the size and report their progress to it. It
 * reports and refuses a result for which there is no room. It is valid as long as `*r`. */
const output_watch *result_file_watch(result_file *r);

/* If `status` is STATUS_OK, puts the file into place; otherwise keeps the old file. Returns
 * `status`, or STATUS_FAILED after reporting an error. */
int result_file_end(result_file *r, int status);

/* Reports why writing failed, unless the watch has done so. Returns STATUS_FAILED, or STATUS_OK if
 * the reader of a pipe has gone. */
int result_file_say(const result_file *r, const memtrace_error *error);

/* For commands whose result is a file. `field` of `type` is a text. */
#define OPTION_RESULT(type, field)                                                                 \
    {                                                                                              \
        .name = "output", .letter = 'o', OPTION_TAKES(FILE, type, field, "OUT"),                   \
        .help = "write to OUT, replacing it, instead of standard output"                           \
    }

#endif
