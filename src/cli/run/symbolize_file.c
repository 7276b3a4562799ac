/* symbolize_file.c: if a trace stores names separately from events, they are replaced without
 * reading an event (trace/relabel); otherwise the whole trace is rewritten (trace/rewrite). Several
 * traces can share one symbolizer, so that a module is opened only once. */
#include "cli/run/symbolize_file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/debug_packages.h"
#include "cli/message.h"
#include "cli/origin.h"
#include "cli/progress.h"
#include "cli/trace_file.h"
#include "render/figures.h"
#include "render/output.h"

/* ---- progress ---------------------------------------------------------------------------- */

typedef struct watch {
    const symbolize_file_options *options;
    const char *name;
} watch;

static bool tick(void *context, size_t done, size_t all) {
    const watch *w = context;
    progress_say("%s: symbolizing: %.0f%%", w->name,
                 100.0 * (double)done / (double)(all ? all : 1));
    return !symbolize_file_is_interrupted(w->options);
}

/* ---- what could not be resolved, and why ------------------------------------------------- */

static const char *module_reason(const symbolize_module *m) {
    switch (m->state) {
    case MODULE_MISSING:
        return strerror(m->os_error);
    case MODULE_CHANGED:
        return "it has changed since the recording";
    case MODULE_UNREADABLE:
        return "it is not a program or library";
    case MODULE_READ:
        break;
    }
    if (m->n_unresolved)
        return "it has no symbols there";
    return m->unreadable_debug_info ? "its debug information cannot be read"
                                    : "it has no debug information";
}

static void warn(const symbolizer *s) {
    for (size_t i = 0; i < symbolizer_n_modules(s); i++) {
        const symbolize_module *m = symbolizer_module_at(s, (uint32_t)i);
        if (m->state != MODULE_READ)
            message_warning("%s: %s: its functions keep their addresses", m->path,
                            module_reason(m));
        else if (m->unreadable_debug_info)
            message_warning(
                "%s: cannot read its debug information; lines and inlined functions are missing",
                m->path);
        else if (m->lost_dwo)
            message_warning(
                "%s: .dwo files are missing or unusable, such as %s: inlined functions "
                "are not shown, although their lines may be; restore the files and record again",
                m->path, m->lost_dwo);
    }
}

/* Prints a name that comes from a file. */
static void print_shown(FILE *out, const char *name) {
    while (*name) {
        const output_piece piece = output_shown_next(&name);
        fwrite(piece.bytes, 1, piece.size, out);
    }
}

/* Says which file would have the names. */
static void print_debug_file(FILE *out, const symbolize_module *m, const debug_file_options *o) {
    char path[PATH_MAX];
    const bool has_path = debug_file_path(&m->id, o, path);
    if (!m->lacks_debug_file || (!has_path && !m->debug_link))
        return;
    fprintf(out, "; nor is there %s", has_path ? path : "");
    if (m->debug_link) {
        fprintf(out, "%s", has_path ? ", or " : "");
        print_shown(out, m->debug_link);
        fprintf(out, " beside it");
    }
}

static void print_module(FILE *out, const symbolize_module *m, const debug_file_options *o) {
    const bool has_name = !m->n_unresolved;
    if (has_name && (!m->n_names || m->n_lines))
        return;
    fprintf(out, "  %s without a %s: ", figure_count(has_name ? m->n_names : m->n_unresolved).text,
            has_name ? "line" : "name");
    print_shown(out, m->path);
    fprintf(out, ": %s", module_reason(m));
    print_debug_file(out, m, o);
    fprintf(out, "\n");
}

/* Says which packages or servers have the missing names. */
static void print_packages(FILE *out, const symbolizer *s, const char *trace) {
    debug_packages names;
    const char *paths[DEBUG_PACKAGES_FILES];
    size_t n = 0;
    for (size_t i = 0; i < symbolizer_n_modules(s) && n < DEBUG_PACKAGES_FILES; i++) {
        const symbolize_module *m = symbolizer_module_at(s, (uint32_t)i);
        if (m->state == MODULE_READ && m->n_unresolved)
            paths[n++] = m->path;
    }
    debug_packages_of(paths, n, names);
    if (*names)
        fprintf(out, "  for names, install %s, then: allotrace symbolize %s\n", names,
                origin_command_words(trace));
    else if (n > 0)
        fprintf(out, "  for names, ask servers: allotrace symbolize --debuginfod %s\n",
                origin_command_words(trace));
}

static void print_report(const completion *c, const char *name, const char *to,
                         const symbolize_file_options *options) {
    FILE *out = options->report;
    completion_summary s = completion_result(c);
    if (!s.n_places) {
        fprintf(out, "%s: all places are already symbolized", name);
        if (s.n_lineless)
            fprintf(out, ", %s without a line, which only a new recording can add",
                    figure_count(s.n_lineless).text);
        fprintf(out, "\n");
        return;
    }
    fprintf(out, "%s: %s places: %s with a line, %s with a function's name, %s without a name\n",
            name, figure_count(s.n_places).text, figure_count(s.n_lines).text,
            figure_count(s.n_names).text, figure_count(s.n_places - s.n_lines - s.n_names).text);
    const symbolizer *of = completion_symbolizer(c);
    for (size_t i = 0; i < symbolizer_n_modules(of); i++)
        print_module(out, symbolizer_module_at(of, (uint32_t)i), &options->debug_files);
    print_packages(out, of, to);
}

/* ---- the work ---------------------------------------------------------------------------- */

static int say_error(const char *name, const memtrace_error *error) {
    if (error->status == MEMTRACE_IO && error->os_error)
        message_error("%s: %s", name, strerror(error->os_error));
    else
        message_error("%s: %s", name, error->reason);
    return STATUS_FAILED;
}

/* The trace that was to be replaced is unchanged. */
static int say_unwritten(const char *path, const char *to, const memtrace_error *error,
                         symbolize_unwritten *unwritten) {
    if (to != path || !error->os_error)
        return say_error(to, error);
    if (unwritten && unwritten->n++ == 0) {
        unwritten->first = path;
        unwritten->os_error = error->os_error;
    }
    if (unwritten)
        return STATUS_FAILED;
    return message_error("%s: not symbolized: %s", path, strerror(error->os_error));
}

/* Reports damage that the reader skipped. */
static void report_warnings(const memtrace_reader *reader, const char *path) {
    trace_file in;
    size_t n;
    const memtrace_warning *warnings = memtrace_reader_warnings(reader, &n);
    trace_file_know(&in, path, false, warnings, n);
    (void)trace_file_report(&in, MEMTRACE_OK);
    trace_file_close(&in);
}

/* Writes the completed trace while reading the original. If there are `names`, its events are read
 * for the first time here. */
static int write_completed(completion *c, const char *path, const char *to, const relabel *names,
                           symbolize_unwritten *unwritten) {
    const bool lower = names ? relabel_lowers_version(names) : completion_lowers_version(c);
    memtrace_reader *again;
    memtrace_error error;
    if (memtrace_reader_open(path, NULL, &again, &error) != MEMTRACE_OK)
        return say_error(path, &error);
    memtrace_status status = completion_write(c, again, lower ? 2 : 0, to, &error);
    if (names && status == MEMTRACE_OK)
        report_warnings(again, path);
    memtrace_reader_close(again);
    return status == MEMTRACE_OK ? STATUS_OK : say_unwritten(path, to, &error, unwritten);
}

/* `names` is NULL if the trace was read to its end. */
static int complete(completion *c, relabel *names, const char *path,
                    const symbolize_file_options *options) {
    completion_summary s = completion_result(c);
    const char *to = options->output ? options->output : path;
    memtrace_error error;
    if (s.stopped)
        return STATUS_FAILED;
    if (!options->shared)
        warn(completion_symbolizer(c));
    int status = STATUS_OK;
    progress_say("%s: writing", to);
    const bool lower =
        options->lower && (names ? relabel_lowers_version(names) : completion_lowers_version(c));
    if (s.n_lines + s.n_names || options->output || lower ||
        (names && relabel_wastes_room(names))) {
        if (!names || !completion_keeps_frames(c))
            status = write_completed(c, path, to, names, options->unwritten);
        else if (completion_relabel(c, names, to, &error) != MEMTRACE_OK)
            status = say_unwritten(path, to, &error, options->unwritten);
    }
    progress_end();
    if (status == STATUS_OK && options->report)
        print_report(c, path, to, options);
    return status;
}

static memtrace_status prepare(completion **c, memtrace_reader *reader, const char *path,
                               const symbolize_file_options *options, memtrace_error *error) {
    watch w = {.options = options, .name = path};
    symbolize_options with = {.debug_files = options->debug_files, .progress = tick, .context = &w};
    memtrace_status status = completion_prepare(c, reader, options->shared, &with, error);
    progress_end();
    return status;
}

/* Symbolizes a trace that stores names separately, as those of native programs do, if some are
 * missing, or reserved room is unused. In most cases only names change, and no event is read.
 * Returns false if the whole trace has to be read. */
static bool symbolize_by_names(const char *path, const symbolize_file_options *options,
                               int *status) {
    relabel *names;
    completion *c = NULL;
    progress_say("%s: symbolizing", path);
    if (relabel_open(&names, path, NULL) != MEMTRACE_OK)
        return false;
    bool able = prepare(&c, relabel_names(names), path, options, NULL) == MEMTRACE_OK &&
                (completion_result(c).n_places > 0 || relabel_wastes_room(names));
    if (able)
        *status = complete(c, names, path, options);
    completion_free(c);
    relabel_close(names);
    return able;
}

int symbolize_file(const char *path, const symbolize_file_options *options) {
    trace_file in;
    completion *c;
    memtrace_error error;
    int status;
    if (symbolize_by_names(path, options, &status))
        return status;
    status = trace_file_open(&in, path, NULL);
    if (status != STATUS_OK)
        return status;
    memtrace_status prepared = prepare(&c, in.reader, path, options, &error);
    status = trace_file_report(&in, prepared);
    if (prepared == MEMTRACE_OK)
        status = complete(c, NULL, path, options);
    completion_free(c);
    trace_file_close(&in);
    return status;
}

/* ---- many files -------------------------------------------------------------------------- */

static bool tick_all(void *context, size_t done, size_t all) {
    const symbolize_file_options *options = context;
    progress_say("symbolizing: %.0f%%", 100.0 * (double)done / (double)(all ? all : 1));
    return !symbolize_file_is_interrupted(options);
}

/* Collects the addresses of one trace. A trace that does not store names separately is left for
 * symbolize_file. */
static void ask(symbolizer *shared, const char *path, completion_questions *questions) {
    relabel *names;
    if (relabel_open(&names, path, NULL) != MEMTRACE_OK)
        return;
    const memtrace_status status = completion_ask(relabel_names(names), shared, questions);
    (void)status; /* symbolize_file meets the error again */
    relabel_close(names);
}

/* Returns the start of the oldest trace: files that changed after it are too new. */
static uint64_t oldest(const char *const *paths, size_t n) {
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        memtrace_reader *reader;
        if (memtrace_reader_open(paths[i], NULL, &reader, NULL) != MEMTRACE_OK)
            continue;
        const uint64_t start = memtrace_reader_info(reader)->start_time;
        first = start < first ? start : first;
        memtrace_reader_close(reader);
    }
    return first == UINT64_MAX ? 0 : first;
}

symbolizer *symbolize_files_begin(const char *const *paths, size_t n,
                                  const symbolize_file_options *options) {
    completion_questions questions = {0};
    if (n < 2)
        return NULL;
    symbolizer *shared =
        symbolizer_new(&(symbolize_options){.debug_files = options->debug_files,
                                            .recorded_at = oldest(paths, n),
                                            .progress = tick_all,
                                            .context = (void *)(uintptr_t)options});
    for (size_t i = 0; shared && i < n; i++)
        ask(shared, paths[i], &questions);
    if (shared && !symbolizer_resolve(shared, questions.items, questions.count)) {
        symbolizer_free(shared);
        shared = NULL;
    }
    progress_end();
    vec_free(&questions);
    return shared;
}

void symbolize_files_end(symbolizer *shared) {
    if (shared)
        warn(shared);
    symbolizer_free(shared);
}

bool symbolize_file_is_recording(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool locked = fd >= 0 && file_is_locked(fd);
    file_close(fd);
    return locked;
}
