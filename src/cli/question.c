/* question.c: question_answer executes all steps: reads the profile, checks the filter, runs the
 * query, and lets the command show the result. */
#include "cli/question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/color.h"
#include "cli/debug_packages.h"
#include "cli/message.h"
#include "cli/origin.h"
#include "cli/similar.h"
#include "cli/terminal.h"
#include "import/import.h"
#include "languages/language.h"
#include "query/libraries.h"
#include "render/fields.h"
#include "render/render.h"

const char *const question_block_measures[] = {
#define MEASURE_TEXT(name, text, unit, title) text,
    MEASURES_OF_BLOCKS(MEASURE_TEXT)
#undef MEASURE_TEXT
        NULL};

const char *const question_sites[] = {
    [QUESTION_BY_LINE] = "line", [QUESTION_BY_FUNCTION] = "function", NULL};

const char *const question_colors[] = {
    [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL};

enum { WRAPPERS_SKIP, WRAPPERS_SHOW };
const char *const question_wrappers[] = {[WRAPPERS_SKIP] = "skip", [WRAPPERS_SHOW] = "show", NULL};

/* Shows the text with a mark below the column of the error. */
int question_refuse(const command *cmd, const char *name, const char *text,
                    const filter_error *error) {
    if (error->column == 0)
        return message_error("%s", error->reason);
    return message_usage(cmd, "%s: column %zu: %s\n  %s\n  %*s", name, error->column, error->reason,
                         text, (int)error->column, "^");
}

int question_parse_filter(const command *cmd, const char *text, filter **f) {
    filter_error error;
    *f = NULL;
    return !text || filter_parse(text, f, &error) ? STATUS_OK
                                                  : question_refuse(cmd, "--filter", text, &error);
}

int question_check_filter(const command *cmd, const char *text, const filter *f, const profile *p) {
    filter_error error;
    return filter_fits(f, p, &error) ? STATUS_OK : question_refuse(cmd, "--filter", text, &error);
}

/* Blocks from before the window do count for measures of live memory or lifetimes. */
static bool counts_births(measure m, const char *path) {
    return origin_is_window(path) &&
           (m == MEASURE_ALLOCATED || m == MEASURE_BLOCKS || m == MEASURE_PROMOTED ||
            m == MEASURE_TEMPORARY || m == MEASURE_REQUESTED);
}

/* Parses the user's filter alone first, so that the columns in errors are right. */
int question_parse_births(const command *cmd, const char *text, measure m, const char *path,
                          char **whole, filter **f) {
    int status = question_parse_filter(cmd, text, f);
    *whole = NULL;
    if (status != STATUS_OK || !counts_births(m, path))
        return status;
    filter_free(*f);
    *f = NULL;
    *whole = text_format("%s%salloc:1us..", text ? text : "", text ? " " : "");
    return *whole ? question_parse_filter(cmd, *whole, f) : message_no_memory();
}

static int parse_filter(question *q, const command *cmd, const question_options *o,
                        const char *path) {
    if (!o->births)
        return question_parse_filter(cmd, o->filter, &q->filter);
    const int status = question_parse_births(cmd, o->filter, (measure)o->measure, path,
                                             &q->filter_text, &q->filter);
    if (q->filter_text) {
        q->report.filter = q->filter_text;
        q->report.asked = o->filter ? o->filter : "";
    }
    return status;
}

static int parse_spec(question *q, const command *cmd, const question_options *o, const char *path,
                      query_spec *spec) {
    filter_error error;
    *spec = (query_spec){.measure = (measure)o->measure,
                         .moment = QUERY_END,
                         .show_wrappers = o->wrappers == WRAPPERS_SHOW,
                         .keep_rows = o->keep_rows,
                         .finds_peak = o->finds_peak,
                         .keep_counted = o->counts};
    int status = question_check_form(cmd, o);
    if (status != STATUS_OK)
        return status;
    if (o->at && spec->measure != MEASURE_LIVE)
        return message_usage(cmd, "%s: --at requires --measure live", cmd->name);
    if (o->at && !filter_parse_time(o->at, &spec->moment, &error))
        return question_refuse(cmd, "--at", o->at, &error);
    status = parse_filter(q, cmd, o, path);
    spec->filter = q->filter;
    return status;
}

bool question_is_text(const question_options *o) {
    return !o->json && !o->csv && !o->markdown;
}

static int read_profile(question *q, const question_options *o, const char *path,
                        const query_spec *spec) {
    const trace_profile_options options = {.strict = o->strict,
                                           .index = o->index,
                                           .says_end = question_is_text(o),
                                           .how = {.keep_blocks = query_needs_blocks(spec),
                                                   .keep_order = o->keep_order,
                                                   .columns = query_columns(spec)}};
    return trace_profile_read(&q->in, &q->profile, path, &options);
}

/* Refuses commands about times for imported profiles that lack them. */
static int check_times(const command *cmd, const profile *p) {
    const char *context = p->info.context;
    const bool needs_times = cmd == &command_leaks || cmd == &command_lifetimes ||
                             cmd == &command_timeline || cmd == &command_peak ||
                             cmd == &command_advise;
    if (!needs_times || profile_has_times(p) ||
        (cmd == &command_peak && strstr(context, IMPORT_PEAK)))
        return STATUS_OK;
    return message_error("%s needs times of allocations and frees; this trace was %s", cmd->name,
                         context);
}

int question_ask(question *q, const command *cmd, const question_options *o, const char *path) {
    query_spec spec;
    *q = (question){.report = {.query = &q->query,
                               .filter = o->filter,
                               .figures = calloc(1, sizeof(figure_cache))}};
    int status = parse_spec(q, cmd, o, path, &spec);
    if (status == STATUS_OK)
        status = read_profile(q, o, path, &spec);
    if (status == STATUS_OK)
        status = check_times(cmd, &q->profile);
    if (status == STATUS_OK)
        status = question_check_filter(cmd, q->report.filter, q->filter, &q->profile);
    if (status == STATUS_OK)
        trace_file_doing(&q->in, "adding up");
    if (status == STATUS_OK && !query_run(&q->query, &q->profile, &spec)) {
        status = message_no_memory();
    }
    return status;
}

int question_ask_again(const question *q, const command *cmd, const question_options *o,
                       const char *only, measure m, query_result *result) {
    query_spec spec = {
        .measure = m, .moment = QUERY_END, .show_wrappers = o->wrappers == WRAPPERS_SHOW};
    filter *f = NULL;
    char *both = text_format("%s%s%s", only, o->filter ? " " : "", o->filter ? o->filter : "");
    int status = both ? question_parse_filter(cmd, both, &f) : STATUS_FAILED;
    spec.filter = f;
    if (!both || (status == STATUS_OK && !query_run(result, &q->profile, &spec))) {
        status = message_no_memory();
    }
    filter_free(f);
    free(both);
    return status;
}

bool question_has_nothing(const question *q) {
    return q->query.selection.n_of && q->query.selection.n_kept == 0;
}

void question_warn_nothing(const selection *s, const char *text, const filter *f,
                           const profile *p) {
    if (s->n_kept > 0 || s->n_of == 0)
        return;
    message_warning("the filter kept 0 of %zu blocks: `%.*s` removed the last %zu", s->n_of,
                    (int)s->term_size, text + s->term_at, s->n_removed);
    similar_hint_filter(p, f);
}

void question_close(question *q) {
    if (question_has_nothing(q))
        similar_hint_filter(&q->profile, q->filter);
    question_close_quietly(q);
}

void question_close_quietly(question *q) {
    filter_free(q->filter);
    free(q->filter_text);
    free(q->report.figures);
    query_free(&q->query);
    profile_free(&q->profile);
    trace_file_close(&q->in);
}

/* Adds the module of an address, whose location has the form "PATH[BUILD-ID]", unless it is already
 * in the list. */
static size_t add_module(char *paths[DEBUG_PACKAGES_FILES], size_t n, const char *file) {
    const size_t size = (size_t)(strrchr(file, '[') - file);
    for (size_t i = 0; i < n; i++)
        if (strncmp(paths[i], file, size) == 0 && !paths[i][size])
            return n;
    paths[n] = strndup(file, size);
    return paths[n] ? n + 1 : n;
}

/* Hints at modules whose addresses have no names. */
static void hint_modules(const question *q) {
    char *paths[DEBUG_PACKAGES_FILES];
    size_t n = 0;
    for (size_t i = 0; i < q->profile.locations.count && n < DEBUG_PACKAGES_FILES; i++) {
        const profile_location *l = &q->profile.locations.items[i];
        if (profile_is_address(l))
            n = add_module(paths, n, l->file);
    }
    debug_packages_hint((const char *const *)paths, n, origin_command_words(q->in.path));
    while (n > 0)
        free(paths[--n]);
}

void question_hint_libraries_of(const query_result *q, const question_options *o) {
    if (!o->filter && question_is_text(o) && libraries_hold_most(q))
        message_hint("most of it is allocated in libraries; --filter " LIBRARIES_HIDDEN
                     " shows the code that calls them");
}

/* Prints a language's hint if much is allocated in functions that are known only approximately. */
static void hint_rough(const hotspots *sites, const language *l) {
    double rough = 0;
    for (size_t i = 0; i < sites->sites.count; i++) {
        const hotspots_entry *e = &sites->sites.items[i].entry;
        if (e->place && text_ends_with(e->place->function, l->rough))
            rough += e->cost.weight;
    }
    if (rough > sites->total.weight / 5)
        message_hint("%s", l->rough_hint);
}

static void hint_all_rough(const question_options *o, const hotspots *sites) {
    for (size_t i = 0; question_is_text(o) && i < N_LANGUAGES; i++)
        if (languages[i]->rough)
            hint_rough(sites, languages[i]);
}

void question_hint_sites(const question *q, const question_options *o,
                         const hotspots_report *sites) {
    const hotspots_by by = sites->hotspots->by;
    if (hotspots_unsymbolized(sites))
        question_hint_symbolize(q);
    if (by == HOTSPOTS_BY_LINE || by == HOTSPOTS_BY_FUNCTION)
        question_hint_libraries_of(&q->query, o);
    hint_all_rough(o, sites->hotspots);
}

int question_answer(const command *cmd, const question_options *options, const char *path,
                    int (*show)(const question *q, const void *opts), const void *opts) {
    question q;
    int status = question_ask(&q, cmd, options, path);
    if (status == STATUS_OK)
        status = show(&q, opts);
    question_close(&q);
    return status;
}

void question_hint_growth(const question *q) {
    if (origin_is_memory(q->in.path) && !origin_is_window(q->in.path))
        message_hint(
            "this combines several traces, and what a process holds counts as freed when "
            "its trace ends; to see whether one grows, look at each: allotrace leaks FILE");
}

void question_hint_symbolize(const question *q) {
    if (profile_is_symbolized(&q->profile))
        hint_modules(q);
    else
        message_hint("places shown as module+0x… are not symbolized yet; to resolve them: "
                     "allotrace symbolize %s",
                     origin_command_words(q->in.path));
}

int question_check_form(const command *cmd, const question_options *o) {
    return o->json + o->csv + o->markdown <= 1 ? STATUS_OK
           : o->markdown ? message_usage(cmd, "%s: --json, --csv and --markdown exclude each other",
                                         cmd->name)
                         : message_usage(cmd, "%s: --json and --csv exclude each other", cmd->name);
}

static int show(const question_options *options, const document *d) {
    output out;
    const text_style style = {.color = color_wanted((color_when)options->color),
                              .full_names = options->full_names,
                              .columns = terminal_columns()};
    if (d->failed)
        return message_no_memory();
    terminal_start(&out,
                   !options->json && !options->csv && !options->markdown && !options->full_names);
    if (options->json)
        render_json(&out, d);
    else if (options->markdown)
        render_markdown(&out, d);
    else if (options->csv)
        render_csv(&out, d);
    else
        render_text(&out, d, &style);
    return message_written(output_finish(&out));
}

int question_show(const question_options *options, const document *d) {
    document fields = {0};
    if (!options->fields)
        return show(options, d);
    fields_document(&fields, d);
    const int status = show(options, &fields);
    document_free(&fields);
    return status;
}
