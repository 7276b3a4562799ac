/* ring_folder.c: a file is a segment if its name has the form of one, so nothing else in the folder
 * is ever removed. Sorting by name sorts the segments of a recording by time. */
#include "cli/ring/ring_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "cli/run/symbolize_file.h"

enum { DIGITS = 6, UNIT = 512 /* bytes per unit of st_blocks */ };

#define NS UINT64_C(1000000000)

bool ring_segment_path(const char *folder, const memtrace_info *info, uint64_t number, char *path,
                       size_t size) {
    const time_t began = (time_t)(info->start_time / 1000000);
    char when[32];
    struct tm utc;
    if (!gmtime_r(&began, &utc) || strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &utc) == 0)
        return false;
    const int n = snprintf(path, size, "%s/%s-%.64s.%llu-%0*llu.ctf", folder, when,
                           path_base(info->executable_name), (unsigned long long)info->pid, DIGITS,
                           (unsigned long long)number);
    return n > 0 && (size_t)n < size;
}

bool ring_segment_goes_on(const char *path) {
    const char *dash = strrchr(path, '-');
    char next[PATH_MAX];
    if (symbolize_file_is_recording(path))
        return true;
    const int n = dash ? snprintf(next, sizeof next, "%.*s-%0*llu.ctf", (int)(dash - path), path,
                                  DIGITS, strtoull(dash + 1, NULL, 10) + 1)
                       : 0;
    return n > 0 && n < (int)sizeof next && access(next, F_OK) == 0;
}

/* The program's name may contain dots and dashes, too. */
uint64_t ring_segment_process(const char *path) {
    const char *dash = strrchr(path, '-'), *first = dash;
    while (first && first > path && isdigit((unsigned char)first[-1]))
        first--;
    return first && first > path && first[-1] == '.' ? strtoull(first, NULL, 10) : 0;
}

/* Returns whether a file name has the form of a segment's. */
static bool is_segment_name(const char *name) {
    const char *dash = strrchr(name, '-');
    const size_t digits = dash ? strspn(dash + 1, "0123456789") : 0;
    return isdigit((unsigned char)name[0]) && digits >= DIGITS &&
           strcmp(dash + 1 + digits, ".ctf") == 0;
}

static bool is_trace_name(const char *name) {
    return name[0] != '.' && (text_ends_with(name, ".ctf") || text_ends_with(name, ".ctf.gz") ||
                              text_ends_with(name, ".ctf.zst"));
}

static bool add_file(ring_files *files, const char *folder, const char *name) {
    struct stat st;
    char *path = text_format("%s%s%s", folder, text_ends_with(folder, "/") ? "" : "/", name);
    if (!path)
        return false;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) { /* it was removed meanwhile */
        free(path);
        return true;
    }
    const ring_file file = {.path = path,
                            .size = (uint64_t)st.st_blocks * UNIT,
                            .changed =
                                (uint64_t)st.st_mtim.tv_sec * NS + (uint64_t)st.st_mtim.tv_nsec};
    if (vec_push(files, file))
        return true;
    free(path);
    return false;
}

static int compare_files(const void *a, const void *b) {
    const ring_file *x = a, *y = b;
    return strcmp(x->path, y->path);
}

bool ring_folder_list(const char *folder, bool all, ring_files *files) {
    DIR *d = opendir(folder);
    bool ok = d;
    *files = (ring_files){0};
    for (struct dirent *e; ok && (e = readdir(d));)
        if (all ? is_trace_name(e->d_name) : is_segment_name(e->d_name))
            ok = add_file(files, folder, e->d_name);
    if (d)
        closedir(d);
    if (files->count > 0)
        qsort(files->items, files->count, sizeof *files->items, compare_files);
    return ok;
}

void ring_files_free(ring_files *files) {
    for (size_t i = 0; i < files->count; i++)
        free(files->items[i].path);
    vec_free(files);
}

void ring_file_keep_time(const ring_file *file) {
    const struct timespec changed = {.tv_sec = (time_t)(file->changed / NS),
                                     .tv_nsec = (long)(file->changed % NS)},
                          times[] = {changed, changed};
    if (utimensat(AT_FDCWD, file->path, times, 0) != 0)
        return; /* then the file is kept longer */
}

static void drop_file(const char *path) {
    char index[PATH_MAX];
    unlink(path);
    if (snprintf(index, sizeof index, "%s.idx", path) < (int)sizeof index)
        unlink(index);
}

uint64_t ring_clock_limit(ring_clock *c, uint64_t keep, uint64_t wall, uint64_t boot) {
    enum { STEP = 1000000 }; /* smaller differences come from a clock that is slowly adjusted */
    const int64_t ahead = (int64_t)(wall - boot);
    if (c->is_known && ahead > c->ahead + STEP) {
        c->skipped += (uint64_t)(ahead - c->ahead);
        c->until = boot + keep;
    }
    if (boot >= c->until)
        c->skipped = 0;
    c->is_known = true;
    c->ahead = ahead;
    return wall > keep + c->skipped ? wall - keep - c->skipped : 0;
}

static bool is_of_one_recording(const char *path, const char *other) {
    const char *dash = strrchr(path, '-');
    const size_t n = (size_t)(dash - path);
    return strncmp(path, other, n) == 0 && strrchr(other, '-') == other + n;
}

/* Dates segments that were written before the wall clock was set back. */
static void correct_dates(ring_files *files) {
    for (size_t i = files->count; i-- > 1;) {
        ring_file *f = &files->items[i - 1];
        const ring_file *next = f + 1;
        if (f->changed > next->changed && is_of_one_recording(f->path, next->path))
            f->changed = next->changed;
    }
}

/* Segments of one recording are in the order of their names. Those of several processes are ordered
 * by their last change. */
static int compare_ages(const void *a, const void *b) {
    const ring_file *x = a, *y = b;
    return x->changed != y->changed ? (x->changed < y->changed ? -1 : 1) : compare_files(a, b);
}

void ring_folder_trim(const char *folder, const char *current, uint64_t most, uint64_t since) {
    ring_files files;
    uint64_t total = 0;
    if (!ring_folder_list(folder, false, &files)) {
        ring_files_free(&files);
        return;
    }
    for (size_t i = 0; i < files.count; i++)
        total += files.items[i].size;
    correct_dates(&files);
    if (files.count > 0)
        qsort(files.items, files.count, sizeof *files.items, compare_ages);
    for (size_t i = 0; i < files.count; i++) {
        const ring_file *f = &files.items[i];
        if (total <= most && f->changed >= since)
            break;
        if (strcmp(f->path, current) == 0 || symbolize_file_is_recording(f->path))
            continue;
        drop_file(f->path);
        total -= f->size;
    }
    ring_files_free(&files);
}
