/* run_traces.c: the recorder, within the program, could report a missing folder only on standard
 * error, so that is checked before. Finds traces by the pattern of their names, and resolves the
 * addresses of all of them at once. The trace of another user is rewritten with that user's rights.
 */
#include "cli/run/run_traces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/path_rights.h"
#include "base/shell.h"
#include "cli/message.h"
#include "cli/run/run_rescue.h"
#include "cli/run/symbolize_file.h"
#include "contract/trace_name.h"
#include "platform/clock.h"
#include "trace/compressor.h"
#include "trace/relabel.h"

/* maximum size, in bytes, of an exact trace that is read for a summary */
#define SUMMED_UP (UINT64_C(32) << 20)

/* ---- before the program starts --------------------------------------------------------------- */

static int writable(const char *path, int how) {
    return faccessat(AT_FDCWD, path, how, AT_EACCESS) == 0 ? 0 : errno;
}

static int check_folder(char path[PATH_MAX]) {
    struct stat st;
    const size_t size = (size_t)(path_base(path) - path);
    if (lstat(path, &st) == 0) /* a link to a file that does not exist yet */
        return 0;
    path[size] = '\0';
    if (stat(size ? path : ".", &st) != 0)
        return errno;
    return S_ISDIR(st.st_mode) ? writable(size ? path : ".", W_OK | X_OK) : ENOTDIR;
}

int run_traces_check_output(const char *pattern, pid_t pid) {
    char path[PATH_MAX];
    struct stat st;
    if (!trace_name_for(pattern, (uint64_t)pid, path, sizeof path))
        return ENAMETOOLONG;
    if (stat(path, &st) == 0)
        return S_ISDIR(st.st_mode) ? EISDIR : writable(path, W_OK);
    return errno == ENOENT ? check_folder(path) : errno;
}

/* In microseconds since the epoch. */
static uint64_t changed_at(const struct stat *st) {
    return (uint64_t)st->st_mtim.tv_sec * 1000000 + (uint64_t)st->st_mtim.tv_nsec / 1000;
}

uint64_t run_traces_replaces(const char *pattern) {
    char path[PATH_MAX];
    struct stat st;
    if (trace_name_is_per_process(pattern) || !trace_name_for(pattern, 0, path, sizeof path) ||
        stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return 0;
    return changed_at(&st);
}

/* ---- finding ----------------------------------------------------------------------------- */

/* Counts the allocations of a large exact trace without reading its events, which would take as
 * long as the recording. */
static void count_unread(run_trace *t, int rescue) {
    struct stat status;
    relabel *names;
    uint64_t n_remarks;
    if (stat(t->path, &status) != 0 || (uint64_t)status.st_size <= SUMMED_UP ||
        relabel_open(&names, t->path, NULL) != MEMTRACE_OK)
        return;
    const memtrace_info *info = memtrace_reader_info(relabel_names(names));
    if (info->sample_rate == 1) {
        t->end = *relabel_end(names);
        t->n_allocations = relabel_n_allocations(names);
        t->counts_remarks =
            !run_rescue_count_remarks(rescue, info->pid, info->start_time, &n_remarks) ||
            n_remarks >= t->n_allocations;
        if (!t->counts_remarks)
            t->n_allocations -= n_remarks;
    }
    relabel_close(names);
}

bool run_traces_add(run_traces *t, const char *path, int rescue) {
    run_trace new = {.path = strdup(path)};
    if (new.path)
        count_unread(&new, rescue);
    if (new.path && vec_push(&t->all, new))
        return true;
    free(new.path);
    return false;
}

/* Returns whether a trace begins after the run, or does not say when. */
static bool begins_in_run(const char *path, const run_began *began) {
    memtrace_reader *reader;
    if (memtrace_reader_open(path, NULL, &reader, NULL) != MEMTRACE_OK)
        return true;
    const bool begins = memtrace_reader_info(reader)->start_time >= began->us;
    memtrace_reader_close(reader);
    return begins;
}

/* A file that was written in the tick in which the run began may be of an earlier run. */
static bool is_new(const char *path, const run_began *began) {
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0 ||
        clock_is_before(status.st_mtim, began->tick))
        return false;
    return changed_at(&status) > began->us || begins_in_run(path, began);
}

/* Adds a trace, and the traces of programs that the same process ran before an exec. */
static void add_if_new(run_traces *t, const char *path, const run_began *began, int rescue) {
    char earlier[PATH_MAX];
    if (!is_new(path, began))
        return;
    for (unsigned n = 1;
         n <= TRACE_NAME_EARLIER_MAX && trace_name_earlier(path, n, earlier, sizeof earlier) &&
         access(earlier, F_OK) == 0;
         n++)
        if (is_new(earlier, began) && run_traces_add(t, earlier, rescue))
            t->all.items[t->all.count - 1].earlier = true;
    if (run_rescue_is_recording(path, t->patience)) {
        t->n_locked++;
        if (!t->locked)
            t->locked = strdup(path);
    } else {
        run_rescue_note_silent(rescue, path);
        run_traces_add(t, path, rescue);
    }
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(((const run_trace *)a)->path, ((const run_trace *)b)->path);
}

/* Only the last part of the name may differ between processes. A pattern with %p in a folder's name
 * is not supported, as it is hardly ever used. */
static void find_in_folder(run_traces *t, const char *pattern, const run_began *began, int rescue) {
    char before[PATH_MAX], path[PATH_MAX];
    const char *name = path_base(pattern);
    snprintf(path, sizeof path, "%.*s", (int)(name - pattern), pattern);
    if (!trace_name_for(path, 0, before, sizeof before))
        return;
    DIR *folder = opendir(*before ? before : ".");
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (trace_name_matches(name, entry->d_name, NULL) &&
            snprintf(path, sizeof path, "%s%s", before, entry->d_name) < (int)sizeof path)
            add_if_new(t, path, began, rescue);
    if (folder)
        closedir(folder);
}

/* Makes a shell pattern, with `*` for the process id, or else for the number of an earlier program.
 * Returns NULL if the name contains special characters of shells. */
static char *glob_of(const char *pattern) {
    char name[PATH_MAX], *glob = NULL;
    if (strpbrk(pattern, "*?[\\") || !trace_name_with(pattern, "*", name, sizeof name))
        return NULL;
    if (trace_name_is_per_process(pattern))
        return strdup(name);
    const size_t end = trace_name_stem(name);
    return name[end] && asprintf(&glob, "%.*s.*%s", (int)end, name, name + end + 1) > 0 ? glob
                                                                                        : NULL;
}

void run_traces_find(run_traces *t, const char *pattern, const run_began *began, int rescue,
                     unsigned *patience) {
    char path[PATH_MAX];
    *t = (run_traces){.patience = patience};
    if (trace_name_is_per_process(pattern))
        find_in_folder(t, pattern, began, rescue);
    else if (trace_name_for(pattern, 0, path, sizeof path))
        add_if_new(t, path, began, rescue);
    if (t->all.count)
        qsort(t->all.items, t->all.count, sizeof *t->all.items, compare_paths);
    if (t->all.count > 1)
        t->glob = glob_of(pattern);
}

void run_traces_free(run_traces *t) {
    for (size_t i = 0; i < t->all.count; i++)
        free(t->all.items[i].path);
    vec_free(&t->all);
    free(t->locked);
    free(t->glob);
}

/* A trace to be completed, and how. */
typedef struct completing {
    const char *path;
    symbolize_file_options options;
    bool named;
} completing;

static int complete_one(void *context) {
    const completing *c = context;
    const symbolize_file_options *o = &c->options;
    memtrace_error error;
    if (c->named)
        symbolize_file(c->path, o);
    if (!symbolize_file_is_interrupted(o) && compressor_by_name(c->path, &error) != MEMTRACE_OK)
        message_warning("%s: not compressed: %s", c->path, strerror(error.os_error));
    return 0;
}

/* Resolves the addresses of all traces at once, except those of other users, which are completed
 * with the rights of their owners. */
static symbolizer *begin_names(const run_traces *t, const symbolize_file_options *options) {
    const char **paths = calloc(t->all.count + 1, sizeof *paths);
    size_t n = 0;
    rights theirs;
    for (size_t i = 0; paths && i < t->all.count; i++)
        if (!path_is_others(t->all.items[i].path, &theirs))
            paths[n++] = t->all.items[i].path;
    symbolizer *shared = paths ? symbolize_files_begin(paths, n, options) : NULL;
    free(paths);
    return shared;
}

static void say_unwritten(const symbolize_unwritten *u) {
    if (u->n == 1)
        message_error("%s: not symbolized: %s", u->first, strerror(u->os_error));
    else if (u->n > 1)
        message_error("%zu traces are not symbolized: %s; once there is room, for each: allotrace "
                      "symbolize %s",
                      u->n, strerror(u->os_error), u->first);
}

void run_traces_complete(const run_traces *t, const debug_file_options *debug_files,
                         bool (*interrupted)(void *context), void *context) {
    symbolize_unwritten unwritten = {0};
    completing c = {.options = {.lower = true,
                                .unwritten = &unwritten,
                                .interrupted = interrupted,
                                .context = context},
                    .named = debug_files};
    completing lent;
    rights theirs;
    if (debug_files) {
        c.options.debug_files = *debug_files;
        c.options.shared = begin_names(t, &c.options);
    }
    for (size_t i = 0; i < t->all.count && !symbolize_file_is_interrupted(&c.options); i++) {
        c.path = t->all.items[i].path;
        if (!path_is_others(c.path, &theirs)) {
            complete_one(&c);
            continue;
        }
        lent = c;
        lent.options.unwritten = NULL; /* nobody hears what a child counts */
        if (rights_lend(&theirs, complete_one, &lent) != 0)
            message_warning("%s: not symbolized, because the rights of its owner cannot be assumed",
                            c.path);
    }
    say_unwritten(&unwritten);
    symbolize_files_end(c.options.shared);
}

void run_traces_warn_unfinished(const run_traces *t, const char *pattern) {
    if (t->n_locked == 1 && t->locked)
        message_warning("a process of this run is still recording; when it has ended, run: "
                        "allotrace symbolize %s",
                        t->locked);
    else
        message_warning("processes of this run are still recording; when one has ended, run this "
                        "with its id instead of %%p: allotrace symbolize %s",
                        pattern);
}

void run_traces_warn_refused(uint64_t n, const char *pattern) {
    char folder[PATH_MAX];
    const int size = (int)(path_base(pattern) - pattern);
    snprintf(folder, sizeof folder, "%.*s", size ? size : 1, size ? pattern : ".");
    char *word = shell_word(folder);
    if (n)
        message_warning("%llu process%s could not be recorded, not being allowed to write to %s, "
                        "perhaps after changing user; before the next run: chmod 1777 %s",
                        (unsigned long long)n, n == 1 ? "" : "es", folder, word ? word : folder);
    free(word);
}
