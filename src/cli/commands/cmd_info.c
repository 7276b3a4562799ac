/* cmd_info.c: `allotrace info FILE…`: shows the metadata of traces. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/color.h"
#include "cli/message.h"
#include "cli/origin.h"
#include "cli/terminal.h"
#include "cli/trace_profile.h"
#include "cli/traces.h"
#include "render/fields.h"
#include "render/render.h"
#include "reports/info.h"

typedef struct info_options {
    uint64_t last;
    bool json, fields, index, strict;
} info_options;

static const info_options defaults = {0};

static const option options[] = {
    {.name = "json",
     OPTION_SETS(FLAG, info_options, json),
     .help = "write JSON instead of text: an array with one object per trace"},
    {.name = "fields",
     OPTION_SETS(FLAG, info_options, fields),
     .help = "instead of the report, list the fields of its JSON, with what they mean",
     .brief = "list the fields of JSON"},
    OPTION_LAST(info_options, last),
    OPTION_INDEX(info_options, index),
    OPTION_STRICT(info_options, strict),
};

/* Returns the size of the file on the disk, compressed or not; 0: not a regular file. */
static uint64_t size_of(const trace_file *in) {
    struct stat about;
    bool piped = in->path[0] == '-' && !in->path[1];
    bool known = (piped ? fstat(STDIN_FILENO, &about) : stat(in->path, &about)) == 0;
    return known && S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
}

static void write_document(output *out, const document *d, bool json) {
    const text_style style = {.color = color_wanted(COLOR_AUTO), .columns = terminal_columns()};
    if (d->failed)
        out->error = out->error ? out->error : ENOMEM;
    else if (json)
        render_json_object(out, d);
    else
        render_text(out, d, &style);
}

static void write_report(output *out, info_report *r, const info_options *opts) {
    document d = {0}, fields = {0};
    info_document(&d, r);
    if (opts->fields)
        fields_document(&fields, &d);
    write_document(out, opts->fields ? &fields : &d, opts->json);
    document_free(&fields);
    document_free(&d);
    info_free(r);
}

/* `n` is the number of traces shown so far. */
static int show(output *out, const char *path, const info_options *opts, size_t *n) {
    trace_file in;
    profile p = {0};
    const trace_profile_options from = {
        .strict = opts->strict,
        .index = opts->index,
        .keep_warnings = true,
        .how = {.track_promotion = true, .keep_blocks = origin_is_window(path)}};
    int status = trace_profile_read(&in, &p, path, &from);
    if (status == STATUS_OK) {
        info_report r = {.profile = &p,
                         .path = in.name,
                         .size = size_of(&in),
                         .is_window = origin_is_window(path)};
        r.warnings = trace_file_warnings(&in, &r.n_warnings);
        if (*n > 0)
            output_text(out, opts->json ? ",\n" : "\n");
        ++*n;
        write_report(out, &r, opts);
    }
    profile_free(&p);
    trace_file_close(&in);
    return status;
}

static int run(const void *opts_, char **operands) {
    const info_options *opts = opts_;
    output out;
    terminal_start(&out, !opts->json);
    if (opts->json)
        output_char(&out, '[');
    size_t shown = 0;
    int worst = STATUS_OK;
    for (char **path = operands; *path && !out.error; path++) {
        int status = show(&out, *path, opts, &shown);
        worst = status > worst ? status : worst;
    }
    if (opts->json)
        output_text(&out, "]\n");
    int written = message_written(output_finish(&out));
    return worst != STATUS_OK ? worst : written;
}

static const option_lack lacks[] = {
    {"filter", "allotrace hotspots --filter FILTER"},
    {"measure", "allotrace hotspots --measure MEASURE"},
    {"top", "allotrace hotspots --top N"},
    {"csv", "--json"},
    {0},
};

const command command_info = {
    .name = "info",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACES,
    .usage = "FILE…",
    .summary = "show a trace's metadata",
    .description =
        "Shows the program, host, rate and duration of each trace, how much was allocated in which "
        "heap, and any defects of the file. If a trace cannot be read, the others are still shown.",
    .example = "allotrace info *.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = lacks,
    .run = run,
};
