/* result_file.c: see result_file.h. */
#include "cli/result_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/progress.h"

int result_file_begin(result_file *r, const command *cmd, const char *path, bool binary) {
    memtrace_error error;
    *r = (result_file){.fd = STDOUT_FILENO};
    if (!path || strcmp(path, "-") == 0) {
        if (binary && isatty(STDOUT_FILENO))
            return message_usage(cmd, "the result is not for a terminal: redirect it, or name a "
                                      "file with --output");
        if (isatty(STDOUT_FILENO))
            progress_end();
        else
            progress_say("standard output: writing");
        return STATUS_OK;
    }
    r->path = path;
    progress_say("%s: writing", path);
    if (replacement_begin(&r->file, path, &error) != MEMTRACE_OK)
        return result_file_say(r, &error);
    r->fd = r->file.fd;
    return STATUS_OK;
}

int result_file_end(result_file *r, int status) {
    memtrace_error error;
    progress_end();
    if (!r->path)
        return status;
    if (status != STATUS_OK) {
        replacement_abort(&r->file);
        return status;
    }
    if (replacement_commit(&r->file, &error) != MEMTRACE_OK)
        return result_file_say(r, &error);
    return STATUS_OK;
}

int result_file_say(const result_file *r, const memtrace_error *error) {
    if (error->status == MEMTRACE_IO && error->os_error == EPIPE && !r->path)
        return STATUS_OK;
    message_error("%s: %s", r->path ? r->path : "standard output",
                  error->status == MEMTRACE_IO && error->os_error ? strerror(error->os_error)
                                                                  : error->reason);
    return STATUS_FAILED;
}
