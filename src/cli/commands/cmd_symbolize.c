/* cmd_symbolize.c: `allotrace symbolize FILE`: names for the addresses in a trace. */
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
     .kind = OPTION_FILE,
     .at = offsetof(symbolize_command_options, output),
     .argument = "OUT",
     .help = "write the completed trace to OUT instead of replacing FILE"},
    OPTIONS_SYMBOLIZE(symbolize_command_options),
};

/* A trace that is replaced, by its owner. */
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
                             "symbolize reads its trace twice: it needs a file");
    if (!opts->output && symbolize_file_is_recording(path)) {
        message_error("%s: is still being recorded; use --output for what is there so far", path);
        return STATUS_FAILED;
    }
    symbolize_file_options with = {
        .output = opts->output, .debug_files = opts->debug_files, .report = stdout};
    replacing r = {.path = path, .with = &with};
    rights theirs;
    if (opts->output || !path_is_others(path, &theirs))
        return replace(&r);
    const int status = rights_lend(&theirs, replace, &r);
    if (status >= 0 && status != RIGHTS_REFUSED)
        return status;
    message_error("%s: stays as it is: the rights of its owner cannot be taken on", path);
    return STATUS_FAILED;
}

/* Each by itself; what is still being written gets its names later. */
static int run_folder(const symbolize_command_options *opts, const char *folder) {
    ring_files files;
    int status = STATUS_OK;
    if (opts->output)
        return message_usage(&command_symbolize, "--output is for one trace, not for a folder");
    if (!ring_folder_list(folder, true, &files)) {
        message_error("%s: %s", folder, strerror(errno));
        status = STATUS_FAILED;
    }
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

static int run(const void *opts, char **operands, size_t n_operands) {
    (void)n_operands;
    return ring_is_folder(operands[0]) ? run_folder(opts, operands[0])
                                       : run_file(opts, operands[0]);
}

const command command_symbolize = {
    .name = "symbolize",
    .group = GROUP_MEND,
    .operand = OPERAND_TRACE,
    .usage = "FILE",
    .summary = "resolve the addresses in a trace to names",
    .description =
        "Replaces the addresses that the recorder wrote by functions, files and lines, functions "
        "that the compiler inlined included, and moves the place of an allocation out of the "
        "allocator's own functions. `allotrace run` does this by itself.\n\n"
        "The programs and libraries must be those that were recorded: their build ids are "
        "compared. Lines need debug information, in the program or in a separate file; without, "
        "functions get the names of the symbol table. What is not found is counted with its "
        "reason and stays as it is; it is no failure, and can be completed later, when the missing "
        "file is there.\n\n"
        "Of a folder, each trace in it is completed, but for those that are still recorded.",
    .example = "allotrace symbolize out.ctf\n"
               "allotrace symbolize -o named.ctf out.ctf\n"
               "allotrace symbolize server.ring/\n",
    OPTIONS_OF(options, defaults),
    .lacks = command_lacks_of_copies,
    .run = run,
};
