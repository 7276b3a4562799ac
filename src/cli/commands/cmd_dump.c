/* cmd_dump.c: `allotrace dump FILE`: prints every event as text. */
#include <unistd.h>

#include "cli/message.h"
#include "cli/result_room.h"
#include "cli/trace_file.h"
#include "export/dump.h"
#include "render/figures.h"

typedef struct dump_command_options {
    int format;
    bool no_backtraces;
    uint64_t max_depth;
    bool strict;
} dump_command_options;

static const dump_command_options defaults = {.format = DUMP_TEXT};

static const char *const formats[] = {
#define FORMAT_TEXT(name, text) text,
    DUMP_FORMATS(FORMAT_TEXT)
#undef FORMAT_TEXT
        NULL};

static const option options[] = {
    {.name = "format",
     .letter = 'f',
     OPTION_CHOOSES(dump_command_options, format, formats),
     .help = "text (default), the layout of memtrace_dump_trace; plain, without samples and "
             "backtraces; csv; or json, one object per line"},
    {.name = "no-backtraces",
     OPTION_SETS(FLAG, dump_command_options, no_backtraces),
     .help = "omit backtraces, which is much faster"},
    {.name = "max-depth",
     OPTION_TAKES(COUNT, dump_command_options, max_depth, "N"),
     .help = "show the N innermost frames of each backtrace; `...+K` stands for K omitted frames "
             "(default 0: all)"},
    OPTION_STRICT(dump_command_options, strict),
};

/* Warns about a large dump. Its size cannot be predicted from the beginning of a trace, since
 * programs behave differently at startup. */
typedef struct large_dump {
    const trace_file *in;
    bool said;
} large_dump;

static bool say_large(void *context, uint64_t written) {
    large_dump *d = context;
    uint64_t done, total;
    const uint64_t room = d->said ? UINT64_MAX : result_room(STDOUT_FILENO);
    if (room == UINT64_MAX || (written < RESULT_LARGE && written < room))
        return true;
    d->said = true;
    memtrace_reader_progress(d->in->reader, &done, &total);
    message_warning(
        "standard output: wrote %s for %.0f%% of the trace, and only %s of space is left; use "
        "--no-backtraces or --max-depth, or thin the trace first: allotrace subsample",
        figure_bytes((double)written).text, total ? 100.0 * (double)done / (double)total : 0.0,
        figure_bytes((double)room).text);
    return true;
}

static int run(const void *opts_, char **operands) {
    const dump_command_options *opts = opts_;
    trace_file in;
    dump_options how = {.format = (dump_format)opts->format,
                        .backtraces = !opts->no_backtraces,
                        .max_depth = opts->max_depth};
    memtrace_reader_options reading = {.strict = opts->strict,
                                       .skip_backtraces = !dump_shows_backtraces(&how),
                                       .as_written = true};
    int status = trace_file_open(&in, operands[0], &reading);
    if (status != STATUS_OK)
        return status;
    trace_file_printed(&in);
    output out;
    output_start(&out, STDOUT_FILENO);
    large_dump large = {.in = &in};
    const output_watch watch = {.go_on = say_large, .context = &large};
    out.watch = &watch;
    memtrace_status read = dump_events(in.reader, &how, &out);
    int written = message_written(output_finish(&out));
    status = trace_file_report(&in, read);
    trace_file_close(&in);
    return status != STATUS_OK ? status : written;
}

static const option_lack lacks[] = {
    {"filter", "allotrace export --to csv --filter FILTER"},
    {"measure", "allotrace hotspots --measure MEASURE"},
    {"top", "allotrace dump … | head -n N"},
    {"json", "--format json"},
    {"csv", "--format csv"},
    {0},
};

const command command_dump = {
    .name = "dump",
    .group = GROUP_LOOK,
    .minor = true,
    .operand = OPERAND_TRACE,
    .usage = "FILE…",
    .summary = "write every event as text",
    .description = "Writes every event of a trace, one per line, in file order. The layouts are "
                   "stable; allotrace-dump(1) describes them. Times are in microseconds since the "
                   "start of the trace; lengths are in words, without the header.",
    .example = "allotrace dump out.ctf | grep alloc_major\n"
               "allotrace dump --format json out.ctf | jq 'select(.samples > 0).length'\n",
    OPTIONS_OF(options, defaults),
    .lacks = lacks,
    .run = run,
};
