/* cmd_info.c: `allotrace info FILE…`: what a trace is about. */
#include <sys/stat.h>
#include <unistd.h>

#include "cli/color.h"
#include "cli/trace_file.h"
#include "present/info.h"

typedef struct info_options {
    bool json, strict;
} info_options;

static const info_options defaults = {0};

static const option options[] = {
    {.name = "json",
     .kind = OPTION_FLAG,
     .at = offsetof(info_options, json),
     .help = "write JSON instead of text: an array with an object for each trace"},
    OPTION_STRICT(info_options),
};

/* The warnings stand in the result, so that they are not said a second time. */
static int finish_reading(trace_file *in, memtrace_status status) {
    if (status != MEMTRACE_OK)
        return trace_file_report(in, status);
    trace_file_clear_progress(in);
    return STATUS_OK;
}

/* Of a file as it lies on the disk, compressed or not; 0 of what is none. */
static uint64_t size_of(const trace_file *in) {
    struct stat about;
    bool piped = in->path[0] == '-' && !in->path[1];
    bool known = (piped ? fstat(STDIN_FILENO, &about) : stat(in->path, &about)) == 0;
    return known && S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
}

/* `n` counts the traces shown so far. */
static int show(output *out, const char *path, const info_options *opts, size_t *n) {
    trace_file in;
    int status = trace_file_open(&in, path, &(memtrace_reader_options){.strict = opts->strict});
    if (status != STATUS_OK)
        return status;
    profile p = {0};
    profile_options how = {.track_promotion = true, .tick = trace_file_tick, .context = &in};
    status = finish_reading(&in, profile_read(&p, in.reader, &how));
    if (status == STATUS_OK) {
        info_view view = {.path = in.name, .size = size_of(&in), .color = color_wanted()};
        view.warnings = memtrace_reader_warnings(in.reader, &view.n_warnings);
        if (*n > 0)
            output_text(out, opts->json ? ",\n" : "\n");
        ++*n;
        (opts->json ? info_json : info_text)(out, &p, &view);
    }
    profile_free(&p);
    trace_file_close(&in);
    return status;
}

static int run(const void *opts_, char **operands, size_t n_operands) {
    const info_options *opts = opts_;
    output out;
    output_start(&out, STDOUT_FILENO);
    if (opts->json)
        output_char(&out, '[');
    size_t shown = 0;
    int worst = STATUS_OK;
    for (size_t i = 0; i < n_operands && !out.error; i++) {
        int status = show(&out, operands[i], opts, &shown);
        worst = status > worst ? status : worst;
    }
    if (opts->json)
        output_text(&out, "]\n");
    int written = report_output(output_finish(&out));
    return worst != STATUS_OK ? worst : written;
}

const command command_info = {
    .name = "info",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACES,
    .usage = "FILE…",
    .summary = "show what a trace is about",
    .description = "Shows the program, host, rate and duration of each trace, how much was "
                   "allocated where, and what is wrong with the file. A trace that cannot be read "
                   "does not keep the others from being shown.",
    .example = "allotrace info *.ctf\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};
