/* cmd_anonymise.c: `allotrace anonymise FILE`: removes names from a trace, so that it can be
 * shared. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/siphash.h"
#include "cli/message.h"
#include "cli/result_file.h"
#include "cli/trace_file.h"
#include "trace/anonymise.h"

typedef struct anonymise_command_options {
    const char *output;
    const char *key;
    anonymise_options how;
    bool strict;
} anonymise_command_options;

static const anonymise_command_options defaults = {0};

static const option options[] = {
    OPTION_RESULT(anonymise_command_options, output),
    {.name = "key",
     OPTION_TAKES(TEXT, anonymise_command_options, key, "SECRET"),
     .help = "derive pseudonyms from SECRET, so that they are the same in all traces made with it; "
             "anyone who knows SECRET can check guesses (default: a random secret, discarded "
             "afterwards)"},
    {.name = "keep-lines",
     OPTION_SETS(FLAG, anonymise_command_options, how.keep_lines),
     .help = "keep lines and columns"},
    {.name = "keep-types",
     OPTION_SETS(FLAG, anonymise_command_options, how.keep_types),
     .help = "keep object types"},
    {.name = "keep-structure",
     OPTION_SETS(FLAG, anonymise_command_options, how.keep_structure),
     .help = "replace each part of names and paths separately; keep separators (Module.function, "
             "folder/file) and file extensions"},
    OPTION_STRICT(anonymise_command_options, strict),
};

static bool choose_key(const char *secret, uint64_t key[2]) {
    if (!secret)
        return getrandom(key, 2 * sizeof *key, 0) == 2 * sizeof *key;
    static const uint64_t halves[2][2] = {{0, 1}, {0, 2}};
    for (int i = 0; i < 2; i++)
        key[i] = siphash(halves[i], secret, strlen(secret));
    return true;
}

static int anonymise_file(trace_file *in, const anonymise_options *how, const char *path) {
    result_file out;
    memtrace_error error;
    int status = result_file_begin(&out, &command_anonymise, path, true);
    if (status != STATUS_OK)
        return status;
    const memtrace_status written =
        anonymise_trace(in->reader, how, out.fd, compression_of(out.path), &error);
    if (written == MEMTRACE_OK || memtrace_reader_error(in->reader)->status != MEMTRACE_OK)
        status = trace_file_report(in, written);
    else
        status = result_file_say(&out, &error);
    return result_file_end(&out, status);
}

static int run(const void *opts_, char **operands) {
    const anonymise_command_options *opts = opts_;
    anonymise_options how = opts->how;
    if (!choose_key(opts->key, how.key))
        return message_error("cannot get random numbers: %s", strerror(errno));
    trace_file in;
    int status =
        trace_file_open(&in, operands[0], &(memtrace_reader_options){.strict = opts->strict});
    if (status != STATUS_OK)
        return status;
    status = anonymise_file(&in, &how, opts->output);
    trace_file_close(&in);
    return status;
}

const command command_anonymise = {
    .name = "anonymise",
    .group = GROUP_CHANGE,
    .minor = true,
    .operand = OPERAND_TRACE,
    .usage = "FILE",
    .summary = "replace the names in a trace with pseudonyms",
    .description =
        "Writes a copy of a trace that can be shared: each name of a function, file, type, mark or "
        "gauge is replaced with a pseudonym, lines with 0, and addresses with numbers. Host, "
        "executable, runtime parameters, context and process id are left empty, "
        "but for the context of an imported trace.\n"
        "\n"
        "Times, sizes and the shape of stacks remain, and may reveal something to people who know "
        "the program.",
    .example = "allotrace anonymise --keep-lines -o public.ctf out.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = command_lacks_of_copies,
    .run = run,
};
