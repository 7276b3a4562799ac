/* result_file.h: where a command writes a result that is a file: standard output, or a file that is
 * replaced as a whole or not at all. */
#ifndef CLI_RESULT_FILE_H
#define CLI_RESULT_FILE_H

#include "cli/command.h"
#include "render/output.h"
#include "trace/replacement.h"

typedef struct result_file {
    const char *path;  /* NULL: standard output */
    replacement file;  /* unless it is */
    int fd;            /* to write to */
    uint64_t expected; /* bytes, about */
    output_watch watch;
} result_file;

/* `path` NULL or `-` is standard output, which must not be a terminal if the result is `binary`.
 * Returns STATUS_OK, or another status after having said what is wrong. */
int result_file_begin(result_file *r, const command *cmd, const char *path, bool binary);

/* Those who write much ask this first, and tell it how far they are: it refuses what there is no
 * room for, and says so. It stays as long as `*r`. */
const output_watch *result_file_watch(result_file *r);

/* Puts the file into its place if `status` is STATUS_OK, else leaves what was there. Returns
 * `status`, or STATUS_FAILED after having said why. */
int result_file_end(result_file *r, int status);

/* Says why writing failed, unless the watch has. Returns STATUS_FAILED, or STATUS_OK if the reader
 * of a pipe went away. */
int result_file_say(const result_file *r, const memtrace_error *error);

/* For commands whose result is a file; `field` of `type` is a text. */
#define OPTION_RESULT(type, field)                                                                 \
    {                                                                                              \
        .name = "output", .letter = 'o', .kind = OPTION_FILE, .at = offsetof(type, field),         \
        .argument = "OUT", .help = "write to OUT, replacing it, instead of standard output"        \
    }

#endif
