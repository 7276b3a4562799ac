/* ring_plan.c: checks the options, and tries out the folder, before the program starts: where holes
 * cannot be punched into a spool, it would fill the disk. */
#include "cli/ring/ring_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/open_in.h"
#include "base/path.h"
#include "cli/message.h"
#include "contract/trace_name.h"
#include "platform/clock.h"

#define DEFAULT_SIZE (UINT64_C(1) << 30)
#define LEAST_SIZE   (UINT64_C(1) << 22)
#define LEAST_OF_RUN (UINT64_C(1) << 26) /* if child processes are recorded */

enum { N_SEGMENTS = 16 /* least number of segments in a full ring */ };

static bool parse_size(const char *text, uint64_t *size) {
    static const char units[] = "KMGT";
    double value;
    const size_t used = number_read(text, &value);
    const char *unit = used && text[used] ? strchr(units, text[used]) : NULL;
    const char *rest = text + used + (unit ? 1 : 0);
    rest += *rest == 'B';
    if (!used || *rest || !(value >= 0 && value < 1e12))
        return false;
    for (long i = unit ? unit - units + 1 : 0; i > 0; i--)
        value *= 1024;
    *size = (uint64_t)value;
    return value < 1e18;
}

static int make_folder(const char *folder) {
    struct stat st;
    if (mkdir(folder, 0777) == 0 || (errno == EEXIST && stat(folder, &st) == 0 &&
                                     S_ISDIR(st.st_mode) && access(folder, W_OK) == 0))
        return STATUS_OK;
    return message_error("%s: cannot be used as the folder of the recording: %s", folder,
                         strerror(errno == EEXIST ? ENOTDIR : errno));
}

/* Checks whether the file system can free parts of a file. */
static int check_holes(const char *folder) {
    char path[PATH_MAX];
    int error = ENAMETOOLONG;
    if (snprintf(path, sizeof path, "%s/.hole.XXXXXX", folder) < (int)sizeof path) {
        const int fd = mkostemp(path, O_CLOEXEC);
        error = fd < 0 || ftruncate(fd, 1) != 0 ||
                        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1) != 0
                    ? errno
                    : 0;
        if (fd >= 0) {
            unlink(path);
            close(fd);
        }
    }
    if (!error)
        return STATUS_OK;
    return message_error(
        "%s: --keep requires a file system that can free parts of a file (punch holes): %s", folder,
        strerror(error));
}

int ring_options_check(const command *cmd, const ring_options *options, double rate) {
    uint64_t size;
    if (options->overhead > 0 && !options->keep && !options->max_size)
        return message_usage(cmd, "--overhead requires --keep or --max-size");
    if (options->overhead > 0 && rate >= RING_RATE)
        return message_usage(cmd, "--overhead requires a --rate below %g", RING_RATE);
    return !options->max_size || (parse_size(options->max_size, &size) && size >= LEAST_SIZE)
               ? STATUS_OK
               : message_usage(cmd,
                               "--max-size: `%s` is not a size of at least 4M, such as 200M or 2G",
                               options->max_size);
}

int ring_options_children(const command *cmd, const ring_options *options, const char **output,
                          char room[PATH_MAX], bool *children) {
    const char *name = *output, *last = name ? path_base(name) : NULL;
    char folder[PATH_MAX];
    uint64_t size = LEAST_OF_RUN;
    *children = (options->keep || options->max_size) && name && trace_name_is_per_process(name);
    if (!*children)
        return STATUS_OK;
    snprintf(folder, sizeof folder, "%.*s", (int)(last - name), name);
    if (strcmp(last, "%p") != 0 || last == name || trace_name_is_per_process(folder) ||
        !trace_name_for(folder, 0, room, PATH_MAX))
        return message_usage(cmd, "--output: the name of a ring can contain %%p only as its last "
                                  "part, as in `-o server.ring/%%p`");
    if (options->max_size && parse_size(options->max_size, &size) && size < LEAST_OF_RUN)
        return message_usage(cmd, "--max-size must be at least 64M if --output contains %%p");
    *output = room;
    return STATUS_OK;
}

int ring_plan_make(ring_plan *plan, const command *cmd, const ring_options *options,
                   const char *output, const char *program) {
    char name[PATH_MAX], here[PATH_MAX] = "";
    *plan = (ring_plan){.on = options->keep || options->max_size,
                        .keep = options->keep,
                        .max_size = DEFAULT_SIZE,
                        .overhead = options->overhead / 100};
    if (!plan->on)
        return STATUS_OK;
    if (options->max_size)
        parse_size(options->max_size, &plan->max_size);
    ring_clock_limit(&plan->clock, plan->keep, clock_wall_us(), clock_us(CLOCK_BOOTTIME));
    if (output)
        snprintf(name, sizeof name, "%s", output);
    else
        snprintf(name, sizeof name, "%.200s.ring", path_base(program));
    if (name[0] != '/' && !getcwd(here, sizeof here))
        here[0] = '\0';
    const int n =
        snprintf(plan->folder, sizeof plan->folder, "%s%s%s", here, *here ? "/" : "", name);
    if (n <= 0 || n >= (int)sizeof plan->folder - NAME_MAX)
        return message_usage(cmd, "--output: the name is too long");
    for (size_t end = (size_t)n; end > 1 && plan->folder[end - 1] == '/'; end--)
        plan->folder[end - 1] = '\0';
    const int status = make_folder(plan->folder);
    return status == STATUS_OK ? check_holes(plan->folder) : status;
}

const char *ring_spool_folder(const ring_plan *plan, char room[PATH_MAX]) {
    return plan->spool_folder ? file_path_of(plan->spool_folder, room) : plan->folder;
}

/* The root folder of a container may be read-only, or writable only by root, so this tries folders
 * that are usually writable. */
bool ring_plan_elsewhere(ring_plan *plan, pid_t pid, int files) {
    static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm"};
    file_path path;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const int fd = open_folder_in(files, places[i]);
        if (fd < 0)
            continue;
        if (access(file_path_of(fd, path), W_OK) == 0) {
            plan->files = files;
            plan->spool_folder = fd;
            plan->spool_there = places[i];
            return check_holes(path) == STATUS_OK;
        }
        close(fd);
    }
    message_error("process %d has its own file system, with neither /tmp, /var/tmp nor /dev/shm to "
                  "write to, which --keep requires",
                  (int)pid);
    return false;
}

static bool spool_name(const ring_plan *plan, const char *folder, uint64_t pid, char *path,
                       size_t size) {
    char run[32] = "";
    if (plan->run)
        snprintf(run, sizeof run, ".%llu", (unsigned long long)plan->run->id);
    const int n = snprintf(path, size, "%s/%s.%llu.spool", folder, run, (unsigned long long)pid);
    return n > 0 && (size_t)n < size;
}

bool ring_spool_path(const ring_plan *plan, uint64_t pid, char *path, size_t size) {
    char room[PATH_MAX];
    return spool_name(plan, ring_spool_folder(plan, room), pid, path, size);
}

bool ring_spool_path_there(const ring_plan *plan, uint64_t pid, char *path, size_t size) {
    return spool_name(plan, plan->spool_folder ? plan->spool_there : plan->folder, pid, path, size);
}

bool ring_spool_pattern(const ring_plan *plan, char *pattern, size_t size) {
    const size_t used = trace_name_pattern(plan->folder, pattern, size);
    const int n = snprintf(pattern + used, size - used, "/.%llu.%%p.spool",
                           (unsigned long long)plan->run->id);
    return n > 0 && (size_t)n < size - used;
}

bool ring_is_spool(const char *path, char *folder, size_t size) {
    const char *slash = strrchr(path, '/'), *end = strrchr(path, '.');
    if (!slash || slash[1] != '.' || strcmp(end, ".spool") != 0)
        return false;
    snprintf(folder, size, "%.*s", (int)(slash - path), path);
    return true;
}

/* A quarter of the space is for events that keepers have not read yet. That is little unless
 * keepers are too slow: then the spools of eight processes fill it. */
uint64_t ring_spool_space(const ring_plan *plan) {
    enum { PROCESSES = 8 };
    return plan->max_size / 4 / (plan->run ? PROCESSES : 1);
}

/* Returns the maximum size, in bytes, of all segments together. */
static uint64_t segments_space(const ring_plan *plan) {
    return plan->max_size - plan->max_size / 4;
}

static uint64_t n_writing(const ring_plan *plan) {
    const uint64_t n = plan->run ? atomic_load(&plan->run->n_keepers) : 1;
    return n > 1 ? n : 1;
}

/* Segments that are being written take at most half of the space. */
uint64_t ring_segment_space(const ring_plan *plan) {
    const uint64_t n = 2 * n_writing(plan), parts = n > N_SEGMENTS ? n : N_SEGMENTS;
    return segments_space(plan) / parts;
}

/* Each segment that is being written may become full, so space for that is reserved. If spools take
 * more than their quarter, segments take less. */
uint64_t ring_kept_space(const ring_plan *plan) {
    const uint64_t room = ring_segment_space(plan), quarter = plan->max_size / 4,
                   spooled = plan->run ? atomic_load(&plan->run->spooled) : 0,
                   writing = plan->run ? atomic_load(&plan->run->writing) : 0,
                   open = n_writing(plan) * room, more = spooled > quarter ? spooled - quarter : 0,
                   done = segments_space(plan) - open - room;
    return (done > more ? done - more : 0) + (writing < open ? writing : open);
}
