/* perf_map.c: see perf_map.h. */
#include "symbolize/perf_map.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST_MAP ((off_t)1 << 30) /* bytes that are read at most */

/* ---- the text ---------------------------------------------------------------------------- */

static bool is_believable(const struct stat *about, uint64_t recorded_at) {
    uint64_t changed =
        (uint64_t)about->st_mtim.tv_sec * 1000000 + (uint64_t)about->st_mtim.tv_nsec / 1000;
    return S_ISREG(about->st_mode) && (about->st_uid == geteuid() || about->st_uid == 0) &&
           changed >= recorded_at && about->st_size <= LONGEST_MAP;
}

/* NULL and *ok if there is none. */
static char *read_text(const char *path, uint64_t recorded_at, bool *ok) {
    struct stat about;
    size_t used = 0;
    ssize_t n = 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *ok = true;
    if (fd < 0)
        return NULL;
    char *text = NULL;
    if (fstat(fd, &about) == 0 && is_believable(&about, recorded_at)) {
        text = malloc((size_t)about.st_size + 1);
        *ok = text;
    }
    while (text && n > 0 && used < (size_t)about.st_size) {
        n = read(fd, text + used, (size_t)about.st_size - used);
        used += n > 0 ? (size_t)n : 0;
    }
    if (text)
        text[used] = '\0';
    close(fd);
    return text;
}

/* ---- lines ------------------------------------------------------------------------------- */

/* The `:NUMBER` in which the text from `from` to `end` ends; NULL: in none. */
static char *number_before(char *from, const char *end, unsigned long *number) {
    char *colon = memrchr(from, ':', (size_t)(end - from)), *stop;
    *number = colon && colon[1] >= '0' && colon[1] <= '9' ? strtoul(colon + 1, &stop, 10) : 0;
    return *number > 0 && *number <= UINT32_MAX && stop == end ? colon : NULL;
}

/* What stands before the name of what V8 compiles: `JS:~`, in older ones `LazyCompile:*`. */
static size_t kind_before(const char *name) {
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    return n > 0 && name[n] == ':' ? n + 1 + strspn(name + n + 1, "~*^+") : 0;
}

/* `NAME FILE:LINE:COLUMN`, as V8 has it, with what kind of code it is before the name; older ones
 * say no column. */
static void find_place(perf_map_entry *e, char *name) {
    char *blank = strrchr(name, ' ');
    unsigned long number, column;
    const size_t kind = kind_before(name);
    e->function = name;
    e->file = MEMTRACE_MADE_FILE;
    char *last = blank ? number_before(blank, name + strlen(name), &column) : NULL;
    char *line = last ? number_before(blank, last, &number) : NULL;
    if (last && !line && kind > 0) {
        line = last;
        number = column;
    }
    if (!line)
        return;
    *blank = *line = '\0';
    e->file = blank + 1;
    e->line = (uint32_t)number;
    e->function = name[kind] ? name + kind : "(anonymous)";
}

static bool parse_line(perf_map *map, char *line) {
    perf_map_entry e = {.start = 0};
    char *end;
    e.start = strtoull(line, &end, 16);
    if (end == line || *end != ' ')
        return true;
    line = end + 1;
    e.end = e.start + strtoull(line, &end, 16);
    if (end == line || *end != ' ' || !end[1] || e.end <= e.start)
        return true;
    find_place(&e, end + 1);
    return vec_push(&map->entries, e);
}

bool perf_map_read(perf_map *map, uint64_t pid, uint64_t recorded_at) {
    char path[64];
    bool ok;
    snprintf(path, sizeof path, "/tmp/perf-%" PRIu64 ".map", pid);
    *map = (perf_map){.text = read_text(path, recorded_at, &ok)};
    for (char *line = map->text, *end; ok && line && *line; line = end) {
        end = line + strcspn(line, "\n");
        end += *end ? (*end = '\0', 1) : 0;
        ok = parse_line(map, line);
    }
    if (!ok)
        perf_map_free(map);
    return ok;
}

bool perf_map_find(const perf_map *map, uint64_t address, memtrace_location *location) {
    for (size_t i = map->entries.count; i-- > 0;) {
        const perf_map_entry *e = &map->entries.items[i];
        if (address >= e->start && address < e->end) {
            *location =
                (memtrace_location){.file = e->file, .function = e->function, .line = e->line};
            return true;
        }
    }
    return false;
}

void perf_map_free(perf_map *map) {
    free(map->text);
    vec_free(&map->entries);
    *map = (perf_map){0};
}
