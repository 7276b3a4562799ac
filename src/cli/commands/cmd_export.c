/* cmd_export.c: `allotrace export FILE --to FORMAT`: a trace for other tools. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/question.h"
#include "cli/result_file.h"
#include "cli/similar.h"
#include "cli/trace_profile.h"
#include "export/export_html.h"
#include "export/export_rows.h"
#include "export/export_sqlite.h"
#include "export/export_stacks.h"
#include "export/pprof.h"
#include "query/lens.h"

/* X(name, text, whether it takes the table of blocks, whether it is for no terminal) */
#define EXPORT_FORMATS(X)                                                                          \
    X(COLLAPSED, "collapsed", false, false)                                                        \
    X(SPEEDSCOPE, "speedscope", false, false)                                                      \
    X(PPROF, "pprof", true, true)                                                                  \
    X(CSV, "csv", true, false)                                                                     \
    X(JSON, "json", true, false)                                                                   \
    X(SQLITE, "sqlite", true, true)                                                                \
    X(HTML, "html", true, true)

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
    const char *output, *filter, *at;
    int to, measure;
    bool index, strict;
} export_options;

static const export_options defaults = {.to = N_EXPORT_FORMATS};

static const option options[] = {
    {.name = "to",
     .letter = 't',
     .kind = OPTION_CHOICE,
     .at = offsetof(export_options, to),
     .choices = formats,
     .help = "the format: stacks for flame graphs, speedscope's JSON, pprof's profile.proto, or "
             "all sampled blocks as CSV, JSON (one object per line) or an SQLite database, or the "
             "viewer's page in one HTML file"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .at = offsetof(export_options, output),
     .argument = "OUT",
     .help = "write to OUT, which is replaced as a whole, instead of standard output; sqlite needs "
             "it"},
    OPTION_FILTER(export_options, filter),
    {.name = "measure",
     .letter = 'm',
     .kind = OPTION_CHOICE,
     .at = offsetof(export_options, measure),
     .choices = question_measures,
     .help = "what the weights of stacks are (collapsed and speedscope): bytes allocated "
             "(default), numbers of blocks, bytes live --at a time or at the peak, bytes promoted, "
             "bytes never freed, bytes times seconds of life, or bytes requested",
     .brief = "what stacks weigh: see `help measures`"},
    OPTION_AT(export_options, at),
    OPTION_INDEX(export_options, index),
    OPTION_STRICT(export_options, strict),
};

/* What is exported. */
typedef struct subject {
    const char *title;
    profile profile;
    lens lens;
    selection selected;   /* without rows if there is no table, which means all */
    measure measure;      /* of stacks */
    blocks_moment moment; /* of MEASURE_LIVE and MEASURE_PEAK */
    viewer *page;         /* of HTML, which filters by itself */
    const char *filter;
} subject;

static bool write_stacks(output *o, const subject *s, export_format to) {
    const profile *p = &s->profile;
    measure m = s->measure;
    cost_list costs = {0};
    bool ok = s->selected.kept ? cost_of_blocks(p, &s->selected, m, s->moment, &costs)
                               : cost_of_tree(p, &costs);
    ok = ok && (to == EXPORT_COLLAPSED ? export_collapsed(o, &s->lens, m, &costs)
                                       : export_speedscope(o, &s->lens, m, &costs, s->title));
    vec_free(&costs);
    return ok;
}

static bool write_text(output *o, const subject *s, export_format to) {
    switch (to) {
    case EXPORT_PPROF:
        return export_pprof(o, &s->lens, s->selected.kept);
    case EXPORT_CSV:
        return export_csv(o, &s->lens, s->selected.kept);
    case EXPORT_JSON:
        return export_json(o, &s->lens, s->selected.kept);
    default:
        return write_stacks(o, s, to);
    }
}

static int write_database(const subject *s, result_file *out) {
    char reason[256];
    if (export_sqlite(out->file.temporary, &s->lens, s->selected.kept, result_file_watch(out),
                      reason, sizeof reason))
        return STATUS_OK;
    if (*reason)
        message_error("%s: %s", out->path, reason);
    return STATUS_FAILED;
}

static int refuse_memory(void) {
    message_error("not enough memory");
    return STATUS_FAILED;
}

static int write_result(const subject *s, result_file *out, export_format to) {
    if (to == EXPORT_SQLITE)
        return write_database(s, out);
    output o;
    output_start(&o, out->fd);
    o.watch = result_file_watch(out);
    const bool ok = to == EXPORT_HTML ? export_html(&o, s->page, s->filter) : write_text(&o, s, to);
    const memtrace_error error = {.status = MEMTRACE_IO, .os_error = output_finish(&o)};
    if (!ok)
        return refuse_memory();
    return error.os_error ? result_file_say(out, &error) : STATUS_OK;
}

static int write_file(const subject *s, const export_options *opts) {
    result_file out;
    int status = result_file_begin(&out, &command_export, opts->output, needs[opts->to].binary);
    if (status != STATUS_OK)
        return status;
    if (opts->to == EXPORT_SQLITE && !out.file.temporary) {
        message_error("%s: a database must be a regular file", opts->output);
        return result_file_end(&out, STATUS_FAILED);
    }
    return result_file_end(&out, write_result(s, &out, (export_format)opts->to));
}

static bool select_blocks(subject *s, const filter *f, const char *text) {
    selection *kept = &s->selected;
    if (!lens_init(&s->lens, &s->profile, true, f))
        return false;
    if (!filter_selects(f) && s->measure == MEASURE_ALLOCATED)
        return true;
    blocks_most most;
    if (s->measure == MEASURE_PEAK && !blocks_peak(&s->profile.table, &most))
        return false;
    if (s->measure == MEASURE_PEAK)
        s->moment = most.at;
    if (s->moment.time > s->profile.duration)
        s->moment.time = s->profile.duration;
    if (!filter_select(f, &s->profile, kept))
        return false;
    if (kept->n_kept == 0 && kept->n_of > 0) {
        message_warning("the filter kept 0 of %zu blocks: `%.*s` removed the last %zu", kept->n_of,
                        (int)kept->term_size, text + kept->term_at, kept->n_removed);
        similar_hint_filter(&s->profile, f);
    }
    return true;
}

/* The viewer takes the profile over. */
static int write_page(subject *s, trace_file *in, const export_options *opts) {
    viewer v;
    char *paths[] = {(char *)(uintptr_t)in->name};
    size_t n;
    const memtrace_warning *warnings = trace_file_warnings(in, &n);
    int status = STATUS_FAILED;
    if (!viewer_init(&v, paths, 1))
        return refuse_memory();
    v.version = ALLOTRACE_VERSION;
    v.sources = ".";
    s->page = &v;
    s->filter = opts->filter;
    if (viewer_publish(&v, 0, &s->profile, warnings, n, READING_WHOLE))
        status = write_file(s, opts);
    else
        refuse_memory();
    viewer_free(&v);
    return status;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The profile is complete before the result is begun. */
static int export_trace(subject *s, const char *path, const filter *f, const export_options *opts) {
    trace_file in;
    const trace_profile_options from = {.strict = opts->strict,
                                        .index = opts->index,
                                        .how = {.keep_blocks = needs[opts->to].blocks ||
                                                               filter_selects(f) ||
                                                               s->measure != MEASURE_ALLOCATED,
                                                .track_promotion = opts->to == EXPORT_HTML}};
    int status = trace_profile_read(&in, &s->profile, path, &from);
    s->title = base_name(in.name);
    if (status == STATUS_OK)
        trace_file_doing(&in, "adding up");
    if (status == STATUS_OK)
        status = question_check_filter(&command_export, opts->filter, f, &s->profile);
    if (status == STATUS_OK && !select_blocks(s, f, opts->filter))
        status = refuse_memory();
    if (status == STATUS_OK)
        status = opts->to == EXPORT_HTML ? write_page(s, &in, opts) : write_file(s, opts);
    selection_free(&s->selected);
    lens_free(&s->lens);
    profile_free(&s->profile);
    trace_file_close(&in);
    return status;
}

/* Which formats have one; and the moment that it is about. */
static int check_measure(const export_options *opts, uint64_t *moment) {
    filter_error error;
    bool of_stacks = opts->to == EXPORT_COLLAPSED || opts->to == EXPORT_SPEEDSCOPE;
    if (opts->measure != MEASURE_ALLOCATED && !of_stacks)
        return message_usage(&command_export, "export: --measure is for collapsed and speedscope; "
                                              "the others hold what all measures are made of");
    if (opts->at && opts->measure != MEASURE_LIVE)
        return message_usage(&command_export, "export: --at is for --measure live");
    return !opts->at || filter_parse_time(opts->at, moment, &error)
               ? STATUS_OK
               : question_refuse(&command_export, "--at", opts->at, &error);
}

static int run(const void *opts_, char **operands, size_t n_operands) {
    const export_options *opts = opts_;
    (void)n_operands;
    if (opts->to == N_EXPORT_FORMATS)
        return message_usage(&command_export, "export: --to says what to write");
    if (opts->to == EXPORT_SQLITE && (!opts->output || strcmp(opts->output, "-") == 0))
        return message_usage(&command_export, "export: --to sqlite needs --output");
    filter *f;
    uint64_t moment = QUERY_END;
    int status = check_measure(opts, &moment);
    if (status == STATUS_OK)
        status = question_parse_filter(&command_export, opts->filter, &f);
    if (status != STATUS_OK)
        return status;
    subject s = {.measure = (measure)opts->measure, .moment = blocks_end_of(moment)};
    status = export_trace(&s, operands[0], f, opts);
    filter_free(f);
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
        "Writes what a trace says in the format of another tool. Weights are estimates, as "
        "hotspots "
        "shows them.\n\n"
        "collapsed: a line a stack, for flame graph scripts. speedscope: for "
        "https://speedscope.app. pprof: objects and bytes allocated, and in use at the end of the "
        "trace, with labels. csv, json: a row a sampled block. sqlite: tables of blocks, frames "
        "and stacks, and views for the common questions. html: the page of `allotrace view` with "
        "summaries of the trace, for a browser without a server. allotrace-export(1) describes "
        "them.",
    .example = "allotrace export --to collapsed out.ctf | flamegraph.pl >out.svg\n"
               "allotrace export --to pprof -o out.pb.gz out.ctf\n"
               "allotrace export --to sqlite -o out.db out.ctf\n"
               "allotrace export --to html -o out.html out.ctf\n",
    OPTIONS_OF(options, defaults),
    .lacks = lacks,
    .run = run,
};
