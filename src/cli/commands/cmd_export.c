/* cmd_export.c: `allotrace export FILE --to FORMAT`: converts a trace for other tools. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "cli/message.h"
#include "cli/question.h"
#include "cli/result_file.h"
#include "cli/trace_profile.h"
#include "cli/traces.h"
#include "export/exports.h"

enum {
#define EXPORT_NUMBER(name, set) FORMAT_##name,
    EXPORT_FORMATS(EXPORT_NUMBER)
#undef EXPORT_NUMBER
        N_FORMATS
};

static const char *const formats[] = {
#define EXPORT_TEXT(name, set) #name,
    EXPORT_FORMATS(EXPORT_TEXT)
#undef EXPORT_TEXT
        NULL};

static const struct {
    unsigned set;
    export_function *write;
} exports[] = {
#define EXPORT_ROW(name, set) {set, export_##name},
    EXPORT_FORMATS(EXPORT_ROW)
#undef EXPORT_ROW
};

/* A flame graph is drawn from collapsed stacks. */
static const option_synonym synonyms[] = {{"folded", "collapsed"},
                                          {"flamegraph", "collapsed"},
                                          {"flame", "collapsed"},
                                          {"stacks", "collapsed"},
                                          {"txt", "collapsed"},
                                          {"proto", "pprof"},
                                          {"profile", "pprof"},
                                          {"pb.gz", "pprof"},
                                          {"gperftools", "pprof"},
                                          {"graphviz", "dot"},
                                          {"svg", "dot"},
                                          {"callgraph", "dot"},
                                          {"jsonl", "json"},
                                          {"ndjson", "json"},
                                          {"sqlite3", "sqlite"},
                                          {"db", "sqlite"},
                                          {"sql", "sqlite"},
                                          {"duckdb", "parquet"},
                                          {"arrow", "parquet"},
                                          {"page", "html"},
                                          {"web", "html"},
                                          {"chrome", "perfetto"},
                                          {"pftrace", "perfetto"},
                                          {"heapprofd", "perfetto"},
                                          {0}};

typedef struct export_options {
    const char *output, *filter, *at;
    int to, measure;
    uint64_t last;
    bool index, strict;
    option_texts labels;
} export_options;

static const export_options defaults = {.to = N_FORMATS};

static const option options[] = {
    {
        .name = "to",
        .letter = 't',
        OPTION_CHOOSES(export_options, to, formats),
        .synonyms = synonyms,
        .help = "the format: collapsed stacks for flame graphs, speedscope JSON, a graph of "
                "callers for Graphviz (dot), pprof's profile.proto, Perfetto's heap profile; all "
                "sampled blocks as CSV, "
                "JSON (one object per line), an SQLite database or Parquet files; or the viewer's "
                "page as one HTML file",
    },
    {.name = "output",
     .letter = 'o',
     OPTION_TAKES(FILE, export_options, output, "OUT"),
     .help = "write to OUT, replacing it, instead of standard output; required for sqlite, and for "
             "parquet, which adds files to the folder OUT"},
    {.name = "label",
     OPTION_TAKES(TEXTS, export_options, labels, "KEY=VALUE"),
     .help = "parquet: store a label with the trace, such as service=shop or version=1.2; may be "
             "repeated"},
    OPTION_FILTER(export_options, filter),
    {.name = "measure",
     .letter = 'm',
     OPTION_CHOOSES(export_options, measure, measure_names),
     .help = "weight of stacks (collapsed, speedscope and dot): bytes allocated (default), blocks, "
             "bytes live --at a time or at the peak, bytes promoted, bytes never freed, bytes "
             "times lifetime in seconds, or bytes requested",
     .brief = "weight of stacks: see `help measures`"},
    OPTION_AT(export_options, at),
    OPTION_LAST(export_options, last),
    OPTION_INDEX(export_options, index),
    OPTION_STRICT(export_options, strict),
};

typedef struct work {
    const export_options *options;
    const char *filter; /* NULL: none */
    profile profile;
    lens lens;
    selection selected;   /* has no rows if there is no table; then all blocks are selected */
    blocks_moment moment; /* for MEASURE_LIVE and MEASURE_PEAK */
    export_subject subject;
} work;

static bool takes(const export_options *o, unsigned what) {
    return exports[o->to].set & what;
}

static bool sum_stacks(const work *w, cost_list *costs) {
    const measure m = w->subject.measure;
    return w->selected.kept ? cost_of_blocks(&w->profile, &w->selected, m, w->moment, false, costs)
                            : cost_of_tree(&w->profile, costs);
}

/* Writes the result, after summing the costs of stacks if the format needs them. */
static bool write_format(work *w, output *o) {
    cost_list costs = {0};
    w->subject.lens = &w->lens;
    w->subject.kept = w->selected.kept;
    w->subject.costs = &costs;
    const bool ok = (!takes(w->options, EXPORT_STACKS) || sum_stacks(w, &costs)) &&
                    exports[w->options->to].write(o, &w->subject);
    cost_list_free(&costs);
    return ok;
}

static int refuse(const work *w, const result_file *out) {
    if (w->subject.is_unwanted)
        return STATUS_FAILED;
    if (!w->subject.reason[0])
        return message_no_memory();
    return message_error("%s: %s", out->path, w->subject.reason);
}

static int write_result(work *w, result_file *out) {
    output o;
    output_start(&o, out->fd);
    o.watch = result_file_watch(out);
    w->subject.path = out->file.temporary;
    const bool ok = write_format(w, &o);
    const memtrace_error error = {.status = MEMTRACE_IO, .os_error = output_finish(&o)};
    if (!ok)
        return refuse(w, out);
    return error.os_error ? result_file_say(out, &error) : STATUS_OK;
}

static int write_file(work *w) {
    const export_options *opts = w->options;
    result_file out;
    int status = result_file_begin(&out, &command_export, opts->output, takes(opts, EXPORT_BINARY));
    if (status != STATUS_OK)
        return status;
    if (takes(opts, EXPORT_FILE) && !out.file.temporary) {
        message_error("%s: --to %s requires a regular file", opts->output, formats[opts->to]);
        return result_file_end(&out, STATUS_FAILED);
    }
    return result_file_end(&out, write_result(w, &out));
}

/* Writes to a folder that may also contain other traces. */
static int write_folder(work *w) {
    w->subject.path = w->options->output;
    if (write_format(w, NULL))
        return STATUS_OK;
    return message_error("%s", w->subject.reason);
}

static bool select_blocks(work *w, const filter *f) {
    selection *kept = &w->selected;
    const measure m = w->subject.measure;
    if (!lens_init(&w->lens, &w->profile, true, f))
        return false;
    if (!filter_selects(f) && m == MEASURE_ALLOCATED)
        return true;
    blocks_most most;
    if (m == MEASURE_PEAK && !blocks_peak(&w->profile.table, &most))
        return false;
    if (m == MEASURE_PEAK)
        w->moment = most.at;
    if (w->moment.time > w->profile.duration)
        w->moment.time = w->profile.duration;
    if (!filter_select(f, &w->profile, kept))
        return false;
    question_warn_nothing(kept, w->filter, f, &w->profile);
    return true;
}

/* The viewer takes ownership of the profile. */
static int write_page(work *w, trace_file *in) {
    viewer v;
    char *paths[] = {(char *)(uintptr_t)in->name};
    size_t n;
    const memtrace_warning *warnings = trace_file_warnings(in, &n);
    int status = STATUS_FAILED;
    if (!viewer_init(&v, paths, 1))
        return message_no_memory();
    v.version = ALLOTRACE_VERSION;
    v.sources = ".";
    w->subject.viewer = &v;
    if (viewer_publish(&v, 0, &w->profile, warnings, n, READING_WHOLE))
        status = write_file(w);
    else
        message_no_memory();
    viewer_free(&v);
    return status;
}

static int export_profile(work *w, trace_file *in, const filter *f) {
    const export_options *opts = w->options;
    trace_file_doing(in, "adding up");
    int status = question_check_filter(&command_export, w->filter, f, &w->profile);
    if (status != STATUS_OK)
        return status;
    if (!select_blocks(w, f))
        return message_no_memory();
    return takes(opts, EXPORT_PAGE)     ? write_page(w, in)
           : takes(opts, EXPORT_FOLDER) ? write_folder(w)
                                        : write_file(w);
}

/* Reads the whole profile before creating the result. */
static int export_trace(work *w, const char *path, const filter *f) {
    const export_options *opts = w->options;
    trace_file in;
    const trace_profile_options from = {
        .strict = opts->strict,
        .index = opts->index,
        .how = {.keep_blocks = takes(opts, EXPORT_BLOCKS) || filter_selects(f) ||
                               w->subject.measure != MEASURE_ALLOCATED,
                .track_promotion = takes(opts, EXPORT_PAGE)}};
    int status = trace_profile_read(&in, &w->profile, path, &from);
    w->subject.title = path_base(in.name);
    if (status == STATUS_OK)
        status = export_profile(w, &in, f);
    selection_free(&w->selected);
    lens_free(&w->lens);
    profile_free(&w->profile);
    trace_file_close(&in);
    return status;
}

static int refuse_measure(void) {
    char names[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof exports / sizeof *exports; i++)
        if (exports[i].set & EXPORT_STACKS && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     formats[i]);
    return message_usage(&command_export,
                         "export: --measure works only with %s; the other formats contain the data "
                         "for all measures",
                         names);
}

/* Checks that the format supports the measure, and parses the moment given by --at. */
static int find_measure(const export_options *opts, uint64_t *moment) {
    filter_error error;
    const bool shows_first = opts->to == FORMAT_pprof && opts->measure == MEASURE_LIVE && !opts->at;
    if (opts->measure != MEASURE_ALLOCATED && !takes(opts, EXPORT_STACKS) && !shows_first)
        return refuse_measure();
    if (opts->at && opts->measure != MEASURE_LIVE)
        return message_usage(&command_export, "export: --at requires --measure live");
    return !opts->at || filter_parse_time(opts->at, moment, &error)
               ? STATUS_OK
               : question_refuse(&command_export, "--at", opts->at, &error);
}

static int check_labels(const export_options *opts) {
    if (opts->labels.n && !takes(opts, EXPORT_FOLDER))
        return message_usage(&command_export, "export: --label requires --to parquet");
    for (size_t i = 0; i < opts->labels.n; i++)
        if (!export_is_label(opts->labels.items[i]))
            return message_usage(&command_export, "export: --label: `%s` is not KEY=VALUE",
                                 opts->labels.items[i]);
    return STATUS_OK;
}

/* Stacks weigh what the reports show for the same part of a trace. */
static int parse_filter(const export_options *opts, const char *path, char **whole, filter **f) {
    if (!takes(opts, EXPORT_STACKS))
        return question_parse_filter(&command_export, opts->filter, f);
    return question_parse_births(&command_export, opts->filter, (measure)opts->measure, path, whole,
                                 f);
}

static int run(const void *opts_, char **operands) {
    const export_options *opts = opts_;
    if (opts->to == N_FORMATS)
        return message_usage(&command_export, "export needs --to FORMAT");
    if (takes(opts, EXPORT_FILE | EXPORT_FOLDER) &&
        (!opts->output || strcmp(opts->output, "-") == 0))
        return message_usage(&command_export, "export: --to %s requires --output",
                             formats[opts->to]);
    filter *f = NULL;
    char *whole = NULL;
    uint64_t moment = QUERY_END;
    int status = find_measure(opts, &moment);
    if (status == STATUS_OK)
        status = check_labels(opts);
    if (status == STATUS_OK)
        status = parse_filter(opts, operands[0], &whole, &f);
    if (status != STATUS_OK)
        return status;
    work w = {.options = opts,
              .filter = whole ? whole : opts->filter,
              .moment = blocks_end_of(moment),
              .subject = {.measure = (measure)opts->measure,
                          .filter = whole ? whole : opts->filter,
                          .labels = opts->labels.items,
                          .n_labels = opts->labels.n}};
    status = export_trace(&w, operands[0], f);
    filter_free(f);
    free(whole);
    return status;
}

static const option_lack lacks[] = {
    {"json", "--to json"},
    {"csv", "--to csv"},
    {"top", "allotrace hotspots --top N --csv"},
    {0},
};

const command command_export = {
    .name = "export",
    .group = GROUP_LOOK,
    .operand = OPERAND_TRACE,
    .usage = "--to FORMAT FILE",
    .summary = "convert a trace for other tools",
    .description =
        "Converts a trace to the format of another tool. Weights are the same estimates that "
        "hotspots shows.\n"
        "\n"
        "collapsed: one line per stack, for flame graph scripts. speedscope: for "
        "https://speedscope.app. pprof: objects and bytes, allocated and in use at the end, with "
        "labels. perfetto: snapshots for https://ui.perfetto.dev. csv, json: one "
        "row per sampled block. sqlite: tables of blocks, frames and "
        "stacks, with views for common questions. parquet: the same tables in a folder that can "
        "hold many traces, for DuckDB, Spark and other engines. html: the page of `allotrace "
        "view`, without a server. allotrace-export(1) describes them.",
    .example = "allotrace export --to collapsed out.ctf | flamegraph.pl >out.svg\n"
               "allotrace export --to parquet -o fleet --label service=shop out.ctf\n"
               "allotrace export --to html -o out.html out.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = lacks,
    .run = run,
};
