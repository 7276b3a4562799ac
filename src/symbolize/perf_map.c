/* perf_map.c: the bounds of all ranges cut the addresses into pieces. Lines take pieces from the
 * last line to the first, so that each piece belongs to the latest line that covers it. */
#include "symbolize/perf_map.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST_MAP ((off_t)1 << 30) /* bytes: a larger map is not read */

/* ---- the text ---------------------------------------------------------------------------- */

static bool is_believable(const struct stat *about, uint64_t recorded_at) {
    uint64_t changed =
        (uint64_t)about->st_mtim.tv_sec * 1000000 + (uint64_t)about->st_mtim.tv_nsec / 1000;
    return S_ISREG(about->st_mode) && about->st_nlink == 1 &&
           (about->st_uid == geteuid() || about->st_uid == 0) && changed >= recorded_at &&
           about->st_size <= LONGEST_MAP;
}

/* Returns the text, or NULL with `*ok` set if there is none, or NULL without `*ok` when out of
 * memory. */
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

/* Finds the `:NUMBER` at the end of the text from `from` to `end`. NULL if there is none. */
static char *number_before(char *from, const char *end, unsigned long *number) {
    char *colon = memrchr(from, ':', (size_t)(end - from)), *stop;
    *number = colon && colon[1] >= '0' && colon[1] <= '9' ? strtoul(colon + 1, &stop, 10) : 0;
    return *number > 0 && *number <= UINT32_MAX && stop == end ? colon : NULL;
}

/* Returns the length of the kind that V8 writes before a name: `JS:~`, or `LazyCompile:*` in older
 * versions. */
static size_t kind_before(const char *name) {
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    return n > 0 && name[n] == ':' ? n + 1 + strspn(name + n + 1, "~*^+") : 0;
}

/* Parses `NAME FILE:LINE:COLUMN`, which V8 writes with the kind of code before the name. Older
 * versions write no column. */
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

/* ---- ranges ------------------------------------------------------------------------------ */

static int compare_numbers(const void *left, const void *right) {
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Returns the bounds of all ranges, ascending. Each piece between two neighbors belongs to one
 * line. NULL when out of memory. */
static uint64_t *sort_bounds(const perf_map *map) {
    const size_t n = map->entries.count;
    uint64_t *bounds = malloc(2 * n * sizeof *bounds);
    for (size_t i = 0; bounds && i < n; i++) {
        bounds[2 * i] = map->entries.items[i].start;
        bounds[2 * i + 1] = map->entries.items[i].end;
    }
    if (bounds)
        qsort(bounds, 2 * n, sizeof *bounds, compare_numbers);
    return bounds;
}

/* Returns the first free piece from `piece` on: the end of the chain in `next`, which is shortened
 * on the way. */
static size_t next_free(uint32_t *next, size_t piece) {
    while (next[piece] != piece)
        piece = next[piece] = next[next[piece]];
    return piece;
}

/* Gives line `i` the pieces that no later line has taken. */
static bool take_pieces(perf_map *map, uint32_t i, const uint64_t *bounds, uint32_t *next) {
    const perf_map_entry *e = &map->entries.items[i];
    const uint64_t *first =
        bsearch(&e->start, bounds, 2 * map->entries.count, sizeof *bounds, compare_numbers);
    bool ok = true;
    for (size_t p = next_free(next, (size_t)(first - bounds)); ok && bounds[p] < e->end;
         p = next_free(next, p)) {
        ok = span_map_add(&map->ranges, bounds[p], bounds[p + 1], i);
        next[p]++;
    }
    return ok;
}

/* Goes from the last line to the first, so that each piece belongs to the latest line. */
static bool sort_ranges(perf_map *map) {
    const size_t n = map->entries.count;
    if (n == 0)
        return true;
    uint64_t *bounds = sort_bounds(map);
    uint32_t *next = malloc(2 * n * sizeof *next);
    bool ok = bounds && next;
    for (size_t i = 0; ok && i < 2 * n; i++)
        next[i] = (uint32_t)i;
    for (size_t i = n; ok && i-- > 0;)
        ok = take_pieces(map, (uint32_t)i, bounds, next);
    free(bounds);
    free(next);
    return ok && span_map_seal(&map->ranges);
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
    ok = ok && sort_ranges(map);
    if (!ok)
        perf_map_free(map);
    return ok;
}

bool perf_map_find(const perf_map *map, uint64_t address, memtrace_location *location) {
    const uint32_t i = span_map_find(&map->ranges, address);
    if (i == SPAN_NONE)
        return false;
    const perf_map_entry *e = &map->entries.items[i];
    *location = (memtrace_location){.file = e->file, .function = e->function, .line = e->line};
    return true;
}

void perf_map_free(perf_map *map) {
    free(map->text);
    vec_free(&map->entries);
    span_map_free(&map->ranges);
    *map = (perf_map){0};
}
