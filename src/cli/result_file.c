/* result_file.c: writes a file through trace/replacement, and standard output directly. The watch
 * checks the announced size against the room, and shows progress. */
#include "cli/result_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/progress.h"
#include "cli/result_room.h"
#include "render/figures.h"

static const char *name_of(const result_file *r) {
    return r->path ? r->path : "standard output";
}

static bool expect(void *context, uint64_t bytes) {
    result_file *r = context;
    r->expected = bytes;
    return result_room_suffices(r->fd, name_of(r), bytes);
}

/* Shows progress, unless more was written than was estimated. */
static bool tell(void *context, uint64_t bytes) {
    const result_file *r = context;
    if (bytes < r->expected && !isatty(r->fd))
        progress_say("%s: writing, %.0f%% of %s", name_of(r),
                     100.0 * (double)bytes / (double)r->expected,
                     figure_bytes((double)r->expected).text);
    return true;
}

static void say_doing(void *context, const char *what) {
    progress_say("%s: %s", name_of(context), what);
}

const output_watch *result_file_watch(result_file *r) {
    r->watch = (output_watch){.expect = expect, .go_on = tell, .doing = say_doing, .context = r};
    return &r->watch;
}

int result_file_begin(result_file *r, const command *cmd, const char *path, bool binary) {
    memtrace_error error;
    *r = (result_file){.fd = STDOUT_FILENO};
    if (!path || strcmp(path, "-") == 0) {
        if (binary && isatty(STDOUT_FILENO))
            return message_usage(cmd,
                                 "the result is binary: redirect it, or name a file with --output");
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
    if (error->status == MEMTRACE_IO && error->os_error == ECANCELED)
        return STATUS_FAILED;
    return message_error("%s: %s", name_of(r),
                         error->status == MEMTRACE_IO && error->os_error ? strerror(error->os_error)
                                                                         : error->reason);
}
