/* cmd_export.c: `allotrace export FILE --to FORMAT`: a trace for other tools. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analyse/cost.h"
#include "cli/message.h"
#include "cli/result_file.h"
#include "cli/trace_file.h"
#include "present/export_rows.h"
#include "present/export_sqlite.h"
#include "present/export_stacks.h"
#include "present/pprof.h"

/* X(name, text, whether it takes the table of blocks, whether it is for no terminal) */
#define EXPORT_FORMATS(X)                                                                          \
    X(COLLAPSED, "collapsed", false, false)                                                        \
    X(SPEEDSCOPE, "speedscope", false, false)                                                      \
    X(PPROF, "pprof", true, true)                                                                  \
    X(CSV, "csv", true, false)                                                                     \
    X(JSON, "json", true, false)                                                                   \
    X(SQLITE, "sqlite", true, true)

typedef enum export_format {
#define EXPORT_NAME(name, text, blocks, binary) EXPORT_##name,
    EXPORT_FORMATS(EXPORT_NAME)
#undef EXPORT_NAME
        N_EXPORT_FORMATS
} export_format;

static const char *const formats[] = {
#define EXPORT_TEXT(name, text, blocks, binary) text,
    EXPORT_FORMATS(EXPORT_TEXT)
#undef EXPORT_TEXT
        NULL};

static const struct {
    bool blocks, binary;
} needs[] = {
#define EXPORT_NEEDS(name, text, blocks, binary) {blocks, binary},
    EXPORT_FORMATS(EXPORT_NEEDS)
#undef EXPORT_NEEDS
};

typedef struct export_options {
    const char *output;
    int to;
    bool strict;
} export_options;

static const export_options defaults = {.to = N_EXPORT_FORMATS};

static const option options[] = {
    {.name = "to",
     .letter = 't',
     .kind = OPTION_CHOICE,
     .at = offsetof(export_options, to),
     .choices = formats,
     .help = "the format: stacks for flame graphs, speedscope's JSON, pprof's profile.proto, or "
             "all sampled blocks as CSV, JSON (an object a line) or an SQLite database"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .at = offsetof(export_options, output),
     .argument = "OUT",
     .help = "write to OUT, which is replaced as a whole, instead of standard output; sqlite needs "
             "it"},
    OPTION_STRICT(export_options),
};

static bool write_stacks(output *o, const profile *p, const export_options *opts,
                         const char *title) {
    cost_list costs = {0};
    const bool ok = cost_of_tree(p, &costs) &&
                    (opts->to == EXPORT_COLLAPSED ? export_collapsed(o, p, &costs)
                                                  : export_speedscope(o, p, &costs, title));
    vec_free(&costs);
    return ok;
}

static bool write_text(output *o, const profile *p, const export_options *opts, const char *title) {
    switch ((export_format)opts->to) {
    case EXPORT_PPROF:
        return export_pprof(o, p, NULL);
    case EXPORT_CSV:
        return export_csv(o, p, NULL);
    case EXPORT_JSON:
        return export_json(o, p, NULL);
    default:
        return write_stacks(o, p, opts, title);
    }
}

static int write_database(const profile *p, const result_file *out) {
    char reason[256];
    if (export_sqlite(out->file.temporary, p, NULL, reason, sizeof reason))
        return STATUS_OK;
    message_error("%s: %s", out->path, reason);
    return STATUS_FAILED;
}

static int write_result(const profile *p, const result_file *out, const export_options *opts,
                        const char *title) {
    if (opts->to == EXPORT_SQLITE)
        return write_database(p, out);
    output o;
    output_start(&o, out->fd);
    const bool ok = write_text(&o, p, opts, title);
    const memtrace_error error = {.status = MEMTRACE_IO, .os_error = output_finish(&o)};
    if (ok)
        return error.os_error ? result_file_say(out, &error) : STATUS_OK;
    message_error("not enough memory");
    return STATUS_FAILED;
}

/* The profile is complete before the result is begun. */
static int export_profile(const profile *p, const export_options *opts, const char *title) {
    result_file out;
    int status = result_file_begin(&out, &command_export, opts->output, needs[opts->to].binary);
    if (status != STATUS_OK)
        return status;
    if (opts->to == EXPORT_SQLITE && !out.file.temporary) {
        message_error("%s: a database must be a regular file", opts->output);
        return result_file_end(&out, STATUS_FAILED);
    }
    return result_file_end(&out, write_result(p, &out, opts, title));
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int run(const void *opts_, char **operands, size_t n_operands) {
    const export_options *opts = opts_;
    (void)n_operands;
    if (opts->to == N_EXPORT_FORMATS)
        return message_usage(&command_export, "export: --to says what to write");
    if (opts->to == EXPORT_SQLITE && (!opts->output || strcmp(opts->output, "-") == 0))
        return message_usage(&command_export, "export: --to sqlite needs --output");
    trace_file in;
    int status =
        trace_file_open(&in, operands[0], &(memtrace_reader_options){.strict = opts->strict});
    if (status != STATUS_OK)
        return status;
    profile p = {0};
    const profile_options how = {
        .keep_blocks = needs[opts->to].blocks, .tick = trace_file_tick, .context = &in};
    status = trace_file_report(&in, profile_read(&p, in.reader, &how));
    if (status == STATUS_OK)
        status = export_profile(&p, opts, base_name(in.name));
    profile_free(&p);
    trace_file_close(&in);
    return status;
}

const command command_export = {
    .name = "export",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACE,
    .usage = "--to FORMAT FILE",
    .summary = "write a trace for other tools",
    .description =
        "Writes what a trace says in the format of another tool. Weights are estimated bytes, as "
        "hotspots shows them.\n\n"
        "collapsed: a line a stack, for flame graph scripts. speedscope: for "
        "https://speedscope.app. pprof: objects and bytes allocated, and in use at the end of the "
        "trace, with labels. csv, json: a row a sampled block. sqlite: tables of blocks, frames "
        "and stacks, and views for the common questions. allotrace-export(1) describes them.",
    .example = "allotrace export --to collapsed out.ctf | flamegraph.pl >out.svg\n"
               "allotrace export --to pprof -o out.pb.gz out.ctf\n"
               "allotrace export --to sqlite -o out.db out.ctf\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};
