/* ring_read.c: groups segments into recordings by their headers, joins the segments of each
 * recording (trace/join), and merges several recordings (trace/merge). The end of a trace is read
 * as an excerpt of it. */
#include "cli/ring/ring_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/ring/ring_folder.h"
#include "cli/run/symbolize_file.h"
#include "cli/trace_file.h"
#include "cli/trace_merge.h"
#include "trace/excerpt.h"
#include "trace/join.h"
#include "trace/rewrite.h"

enum { CLOCKS_US = 2000000 }; /* by how much segments may overlap, microseconds */

/* A trace in the folder. */
typedef struct member {
    const char *path;
    uint64_t start;   /* us since the epoch */
    uint64_t process; /* hash that all segments of a recording share */
    double rate;
    segment_head head;
} member;

typedef VEC(member) members;

/* The traces of one recording. */
typedef struct group {
    size_t first, n;   /* range of the members */
    bool is_recording; /* it is still being recorded */
    int fd;            /* the joined trace; -1: the group is a single file, used as it is */
    file_path path;
} group;

bool ring_is_folder(const char *path) {
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int open_memory(void) {
    const int fd = memfd_create("allotrace-ring", MFD_CLOEXEC);
    if (fd < 0)
        message_no_memory();
    return fd;
}

/* ---- which traces -------------------------------------------------------------------------- */

static uint64_t process_of(const memtrace_info *info, const segment_head *head) {
    const uint64_t host = hash_bytes(info->host_name, strlen(info->host_name));
    return hash_u64(hash_u64(host ^ info->pid) ^ head->recording);
}

/* Returns whether a segment is still empty. */
static bool is_new(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && st.st_size == 0 && symbolize_file_is_recording(path);
}

/* Reads the header of a trace. A trace that cannot be read is skipped with a warning. Returns false
 * if there is no memory. */
static bool look(members *all, const char *path) {
    memtrace_reader *reader;
    memtrace_error error;
    member m = {.path = path};
    if (is_new(path))
        return true;
    if (memtrace_reader_open(path, NULL, &reader, &error) != MEMTRACE_OK) {
        message_warning("%s: skipped: %s", path,
                        error.os_error ? strerror(error.os_error) : error.reason);
        return true;
    }
    const memtrace_status status = segment_read_head(reader, &m.head);
    const memtrace_info *info = memtrace_reader_info(reader);
    m.start = info->start_time;
    m.rate = info->sample_rate;
    m.process = m.head.is_segment ? process_of(info, &m.head)
                                  : hash_bytes(path, strlen(path)); /* a recording of its own */
    memtrace_reader_close(reader);
    if (status != MEMTRACE_OK)
        message_warning("%s: skipped: cannot read it", path);
    return status != MEMTRACE_OK || vec_push(all, m);
}

static int compare_members(const void *a, const void *b) {
    const member *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->head.number != y->head.number)
        return x->head.number < y->head.number ? -1 : 1;
    return strcmp(x->path, y->path);
}

static bool is_next(const members *all, size_t i) {
    return i + 1 < all->count && all->items[i + 1].process == all->items[i].process;
}

/* Leaves out segments that certainly ended before the window of the last `last` microseconds. */
static void choose(members *all, uint64_t last) {
    uint64_t newest = 0;
    size_t n = 0;
    for (size_t i = 0; i < all->count; i++)
        newest = all->items[i].start > newest ? all->items[i].start : newest;
    for (size_t i = 0; i < all->count; i++)
        if (!last || !is_next(all, i) || all->items[i + 1].start + last + CLOCKS_US >= newest)
            all->items[n++] = all->items[i];
    all->count = n;
}

/* ---- one recording ------------------------------------------------------------------------- */

static double lowest_rate(const member *m, size_t n) {
    double rate = 1;
    for (size_t i = 0; i < n; i++)
        rate = m[i].rate < rate ? m[i].rate : rate;
    return rate;
}

static int say_join(const join *j, memtrace_status status) {
    if (status == MEMTRACE_IO && j->out.os_error)
        message_error("combining the segments: %s", strerror(j->out.os_error));
    else
        message_no_memory();
    return STATUS_FAILED;
}

static void say_missing(const join *j, const char *folder) {
    if (j->n_missing == 0 && j->n_freed > 0)
        message_warning(
            "%s: %" PRIu64
            " blocks of a segment are not in the next one; they appear to be freed at its "
            "start",
            folder, j->n_freed);
    else if (j->n_missing > 0)
        message_warning(
            "%s: %" PRIu64
            " segments are missing; their allocations and frees are not included, and %" PRIu64
            " blocks appear to be freed at the start of the next segment",
            folder, j->n_missing, j->n_freed);
}

void ring_say_cut(const char *path, memtrace_ending how, const char *reason) {
    const bool is_at_time = how == MEMTRACE_END_WHOLE && strcmp(reason, SEGMENT_GOES_ON) == 0;
    if (!is_at_time && ring_segment_goes_on(path))
        message_warning("%s: the recording continues after this segment, and some frees from "
                        "before its end are in the next one, so live memory at the end may be "
                        "too high",
                        path);
}

/* Joins the traces. Readers stay open to the end, since they own the names. */
static int add_all(join *j, trace_file *files, const member *m, size_t n, bool strict, int fd) {
    int result = STATUS_OK;
    for (size_t i = 0; i < n && result == STATUS_OK; i++) {
        memtrace_status status = MEMTRACE_OK;
        result =
            trace_file_open(&files[i], m[i].path, &(memtrace_reader_options){.strict = strict});
        if (result != STATUS_OK)
            break;
        if (!j->out.writer)
            status = join_begin(j, memtrace_reader_info(files[i].reader), lowest_rate(m, n), fd);
        if (status == MEMTRACE_OK)
            status = join_add(j, files[i].reader);
        progress_end();
        const memtrace_status read = memtrace_reader_error(files[i].reader)->status;
        files[i].is_part = i + 1 == n;
        if (status != MEMTRACE_OK)
            result = say_join(j, status);
        else if (trace_file_report(&files[i], read) != STATUS_OK)
            result = strict ? STATUS_FAILED : STATUS_OK;
    }
    return result;
}

/* `until`: when the recordings that continue were last written to; 0: there is only this
 * recording. */
static int join_group(const char *folder, group *g, const member *m, uint64_t until, bool strict) {
    trace_file *files = calloc(g->n, sizeof *files);
    join j = {0};
    g->fd = open_memory();
    if (!files || g->fd < 0) {
        free(files);
        return STATUS_FAILED;
    }
    int result = add_all(&j, files, m, g->n, strict, g->fd);
    if (result == STATUS_OK) {
        if (g->is_recording && until)
            join_extend(&j, until);
        const memtrace_status status = join_end(&j);
        if (status != MEMTRACE_OK)
            result = say_join(&j, status);
        say_missing(&j, folder);
        const memtrace_end end = memtrace_reader_end(files[g->n - 1].reader);
        if (j.lanes.count > 1 && !ring_is_folder(folder))
            ring_say_cut(m[g->n - 1].path, end.how, end.reason);
    }
    join_free(&j);
    for (size_t i = 0; i < g->n; i++)
        memtrace_reader_close(files[i].reader);
    free(files);
    file_path_of(g->fd, g->path);
    return result;
}

/* ---- all of them --------------------------------------------------------------------------- */

/* Problems of a recording concern its end, so they are reported for its last segment. */
static int merge_groups(const members *all, const group *groups, size_t n, bool strict, int *fd) {
    char **paths = calloc(2 * n + 1, sizeof *paths), **const names = paths ? paths + n : NULL;
    bool *still_recorded = calloc(n + 1, sizeof *still_recorded);
    *fd = paths && still_recorded ? open_memory() : -1;
    for (size_t i = 0; *fd >= 0 && i < n; i++) {
        still_recorded[i] = groups[i].is_recording;
        names[i] = (char *)all->items[groups[i].first + groups[i].n - 1].path;
        paths[i] = groups[i].fd >= 0 ? (char *)groups[i].path : names[i];
    }
    const int status =
        *fd >= 0 ? trace_merge_into(paths, names, still_recorded, n, strict, *fd) : STATUS_FAILED;
    free(paths);
    free(still_recorded);
    return status;
}

/* Finds out which recordings continue, and returns when these were last written to, us since the
 * epoch. Other recordings end with their last event. */
static uint64_t find_going_on(const members *all, group *groups, size_t n) {
    uint64_t until = 0;
    struct stat st;
    for (size_t i = 0; i < n; i++) {
        const char *last = all->items[groups[i].first + groups[i].n - 1].path;
        groups[i].is_recording = ring_segment_goes_on(last) && stat(last, &st) == 0;
        const uint64_t at = groups[i].is_recording ? (uint64_t)st.st_mtim.tv_sec * 1000000 +
                                                         (uint64_t)st.st_mtim.tv_nsec / 1000
                                                   : 0;
        until = at > until ? at : until;
    }
    return until;
}

/* Copies the only trace in a folder. */
static int copy_trace(const char *path, bool strict, int *fd) {
    trace_file in;
    memtrace_error error;
    int status = trace_file_open(&in, path, &(memtrace_reader_options){.strict = strict});
    if (status != STATUS_OK)
        return status;
    *fd = open_memory();
    const memtrace_status written =
        *fd >= 0 ? rewrite_trace(in.reader, NULL, *fd, COMPRESSION_NONE, &error) : MEMTRACE_NOMEM;
    status = trace_file_report(&in, written);
    trace_file_close(&in);
    return status;
}

static int combine_groups(const char *folder, const members *all, group *groups, size_t n,
                          bool strict, int *fd) {
    const uint64_t until = n > 1 ? find_going_on(all, groups, n) : 0;
    int status = STATUS_OK;
    for (size_t i = 0; i < n && status == STATUS_OK; i++)
        if (all->items[groups[i].first].head.is_segment)
            status = join_group(folder, &groups[i], &all->items[groups[i].first], until, strict);
    if (status != STATUS_OK)
        return status;
    if (n > 1)
        return merge_groups(all, groups, n, strict, fd);
    if (groups[0].fd < 0)
        return copy_trace(all->items[0].path, strict, fd);
    *fd = groups[0].fd;
    groups[0].fd = -1;
    return STATUS_OK;
}

static int combine(const char *folder, const members *all, bool strict, int *fd) {
    group *groups = calloc(all->count + 1, sizeof *groups);
    size_t n = 0;
    for (size_t i = 0; groups && i < all->count; i++) {
        if (i == 0 || !is_next(all, i - 1))
            groups[n++] = (group){.first = i, .fd = -1};
        groups[n - 1].n++;
    }
    enum { OTHERS = 64 };
    file_allow(2 * n + all->count + OTHERS); /* each recording is a file, and is read */
    const int status =
        groups ? combine_groups(folder, all, groups, n, strict, fd) : message_no_memory();
    for (size_t i = 0; groups && i < n; i++)
        file_close(groups[i].fd);
    free(groups);
    return status;
}

static int combine_members(const char *name, members *all, uint64_t last, bool strict, int *fd) {
    qsort(all->items, all->count, sizeof *all->items, compare_members);
    choose(all, last);
    return combine(name, all, strict, fd);
}

int ring_read_folder(const char *folder, uint64_t last, bool strict, int *fd) {
    ring_files files;
    members all = {0};
    int status = STATUS_FAILED;
    bool ok = ring_folder_list(folder, true, &files);
    const int error = errno;
    for (size_t i = 0; ok && i < files.count; i++)
        ok = look(&all, files.items[i].path);
    if (!ok)
        message_error("%s: %s", folder, strerror(error ? error : ENOMEM));
    else if (all.count == 0)
        message_error("%s: this folder contains no trace", folder);
    else
        status = combine_members(folder, &all, last, strict, fd);
    vec_free(&all);
    ring_files_free(&files);
    return status;
}

bool ring_has_segments(char *const *paths, size_t n) {
    bool has = false;
    for (size_t i = 0; i < n && !has; i++) {
        memtrace_reader *reader;
        segment_head head = {0};
        if (ring_is_folder(paths[i]) ||
            memtrace_reader_open(paths[i], NULL, &reader, NULL) != MEMTRACE_OK)
            continue;
        has = segment_read_head(reader, &head) == MEMTRACE_OK && head.is_segment;
        memtrace_reader_close(reader);
    }
    return has;
}

int ring_read_traces(char *const *paths, size_t n, uint64_t last, bool strict, int *fd) {
    members all = {0};
    int status = STATUS_FAILED;
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        ok = look(&all, paths[i]);
    if (!ok)
        status = message_no_memory();
    else if (all.count == 0)
        message_error("none of these files can be read");
    else
        status = combine_members(paths[0], &all, last, strict, fd);
    vec_free(&all);
    return status;
}

/* ---- the end of a trace -------------------------------------------------------------------- */

static int find_end(const char *path, const char *name, bool strict, uint64_t *end) {
    trace_file in;
    memtrace_event event;
    memtrace_status status;
    const memtrace_reader_options quick = {.skip_backtraces = true, .strict = strict};
    if (trace_file_open(&in, path, &quick) != STATUS_OK)
        return STATUS_FAILED;
    while ((status = memtrace_reader_next(in.reader, &event)) == MEMTRACE_OK)
        continue;
    *end = memtrace_reader_duration(in.reader);
    in.name = name;
    progress_end();
    const int result = status == MEMTRACE_END ? STATUS_OK : trace_file_report(&in, status);
    trace_file_close(&in);
    return result;
}

static memtrace_status plan_end(excerpt *e, const char *path, uint64_t from) {
    const excerpt_options part = {.from = from, .to = EXCERPT_END, .live = true, .keep = 1};
    memtrace_reader *reader;
    memtrace_status status = memtrace_reader_open(
        path, &(memtrace_reader_options){.skip_backtraces = true}, &reader, NULL);
    if (status != MEMTRACE_OK)
        return status;
    status = excerpt_plan(e, reader, &part);
    memtrace_reader_close(reader);
    return status;
}

static memtrace_status write_end(excerpt *e, const char *path, int fd, memtrace_error *error) {
    rewrite_input input = {.options = {.select = excerpt_select, .end = excerpt_end, .user = e}};
    memtrace_status status = memtrace_reader_open(path, NULL, &input.reader, error);
    if (status != MEMTRACE_OK)
        return status;
    memtrace_info info = *memtrace_reader_info(input.reader);
    info.version = info.version < 2 ? 2 : info.version;
    excerpt_head(e, &info);
    status = rewrite_traces(&info, &input, 1, fd, COMPRESSION_NONE, error);
    memtrace_reader_close(input.reader);
    return status;
}

int ring_read_end(const char *path, const char *name, uint64_t last, bool strict, int *fd) {
    excerpt e = {0};
    memtrace_error error = {.status = MEMTRACE_NOMEM, .reason = "not enough memory"};
    uint64_t end;
    int status = find_end(path, name, strict, &end);
    if (status != STATUS_OK)
        return status;
    *fd = open_memory();
    if (*fd < 0 || plan_end(&e, path, end > last ? end - last : 0) != MEMTRACE_OK ||
        write_end(&e, path, *fd, &error) != MEMTRACE_OK)
        status = message_error("%s: --last: %s%s%s", name, error.reason, error.os_error ? ": " : "",
                               error.os_error ? strerror(error.os_error) : "");
    excerpt_free(&e);
    return status;
}
