/* cmd_symbolize.c: `allotrace symbolize FILE`: resolves the addresses in a trace. */
#include <errno.h>
#include <string.h>

#include "base/path_rights.h"
#include "cli/message.h"
#include "cli/ring/ring_folder.h"
#include "cli/ring/ring_read.h"
#include "cli/run/symbolize_file.h"

typedef struct symbolize_command_options {
    const char *output;
    debug_file_options debug_files;
} symbolize_command_options;

static const symbolize_command_options defaults = {0};

static const option options[] = {
    {.name = "output",
     .letter = 'o',
     OPTION_TAKES(FILE, symbolize_command_options, output, "OUT"),
     .help = "write the completed trace to OUT instead of replacing FILE"},
    OPTIONS_SYMBOLIZE(symbolize_command_options),
};

/* A trace to be replaced with the rights of its owner. */
typedef struct replacing {
    const char *path;
    const symbolize_file_options *with;
} replacing;

static int replace(void *context) {
    const replacing *r = context;
    return symbolize_file(r->path, r->with);
}

static int run_file(const symbolize_command_options *opts, const char *path) {
    if (strcmp(path, "-") == 0)
        return message_usage(&command_symbolize,
                             "symbolize reads its trace twice, so standard input cannot be used");
    if (!opts->output && symbolize_file_is_recording(path))
        return message_error(
            "%s: still being recorded; use --output to symbolize what is there so far", path);
    symbolize_file_options with = {
        .output = opts->output, .debug_files = opts->debug_files, .report = stdout};
    replacing r = {.path = path, .with = &with};
    rights theirs;
    if (opts->output || !path_is_others(path, &theirs))
        return replace(&r);
    const int status = rights_lend(&theirs, replace, &r);
    if (status >= 0 && status != RIGHTS_REFUSED)
        return status;
    return message_error("%s: not symbolized, because the rights of its owner cannot be assumed",
                         path);
}

/* Symbolizes each trace in a folder by itself. Traces that are still being written are skipped. */
static int run_folder(const symbolize_command_options *opts, const char *folder) {
    ring_files files;
    int status = STATUS_OK;
    if (opts->output)
        return message_usage(&command_symbolize,
                             "--output works with one trace, not with a folder");
    if (!ring_folder_list(folder, true, &files))
        status = message_error("%s: %s", folder, strerror(errno));
    for (size_t i = 0; status != STATUS_FAILED && i < files.count; i++) {
        if (symbolize_file_is_recording(files.items[i].path))
            continue;
        const int one = run_file(opts, files.items[i].path);
        status = one == STATUS_OK ? status : one;
        ring_file_keep_time(&files.items[i]);
    }
    ring_files_free(&files);
    return status;
}

static int run(const void *opts, char **operands) {
    return ring_is_folder(operands[0]) ? run_folder(opts, operands[0])
                                       : run_file(opts, operands[0]);
}

const command command_symbolize = {
    .name = "symbolize",
    .group = GROUP_CHANGE,
    .operand = OPERAND_TRACE,
    .usage = "FILE",
    .summary = "resolve the addresses in a trace to names",
    .description = "Replaces the recorded addresses with functions, files and lines, including "
                   "inlined functions, and skips the allocator's own functions. `allotrace run` "
                   "does this automatically.\n"
                   "\n"
                   "The programs and libraries must be the ones that were recorded; build ids are "
                   "compared. Lines require debug information, in the program or in a separate "
                   "file; otherwise functions are named from the symbol table. Addresses that "
                   "cannot be resolved are counted, with the reason, and kept. This is not an "
                   "error: run symbolize again when the missing file is there.\n"
                   "\n"
                   "For a folder, symbolizes each trace in it, except those still being recorded.",
    .example = "allotrace symbolize out.ctf\n"
               "allotrace symbolize -o named.ctf out.ctf\n"
               "allotrace symbolize server.ring/\n",
    OPTIONS_OF(options, defaults),
    .lacks = command_lacks_of_copies,
    .run = run,
};
