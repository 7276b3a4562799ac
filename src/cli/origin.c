/* origin.c: at most one trace is the combination of all traces. Other traces in memory were made
 * from one word each. */
#include "cli/origin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/shell.h"
#include "base/text.h"
#include "base/vec.h"

typedef struct made_trace {
    file_path path;
    const char *word;
} made_trace;

static VEC(made_trace *) made_traces;
static file_path combined_path;
static char combined_name[48], *combined_words;
static const char *joined_segment;
static uint64_t last_us;

static const char *word_of(const char *path) {
    for (size_t i = 0; i < made_traces.count; i++)
        if (strcmp(made_traces.items[i]->path, path) == 0)
            return made_traces.items[i]->word;
    return NULL;
}

static bool is_combined(const char *path) {
    return *combined_path && strcmp(path, combined_path) == 0;
}

bool origin_is_memory(const char *path) {
    return is_combined(path) || word_of(path);
}

const char *origin_source(const char *path) {
    const char *word = word_of(path);
    return word ? word : path;
}

const char *origin_joined(const char *path) {
    return is_combined(path) ? joined_segment : NULL;
}

bool origin_is_window(const char *path) {
    return word_of(path) || origin_joined(path);
}

const char *origin_name(const char *path) {
    if (word_of(path))
        return word_of(path);
    if (is_combined(path))
        return combined_name;
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

const char *origin_command_words(const char *path) {
    static char *word; /* result of the last call */
    if (!word_of(path) && combined_words && is_combined(path))
        return combined_words;
    path = origin_source(path);
    free(word);
    word = shell_word(path);
    return word ? word : path;
}

/* Returns the largest unit of which a time is a whole number. */
static const char *unit_of(uint64_t us, uint64_t *size) {
    static const struct {
        const char *name;
        uint64_t us;
    } units[] = {{"h", 3600000000}, {"min", 60000000}, {"s", 1000000}, {"ms", 1000}, {"us", 1}};
    size_t i = 0;
    while (us % units[i].us)
        i++;
    *size = units[i].us;
    return units[i].name;
}

const char *origin_report_words(const char *path) {
    static char *words; /* result of the last call */
    const char *trace = origin_command_words(path);
    uint64_t size;
    if (!last_us)
        return trace;
    const char *unit = unit_of(last_us, &size);
    free(words);
    words = text_format("--last %" PRIu64 "%s %s", last_us / size, unit, trace);
    return words ? words : trace;
}

void origin_keep_last(uint64_t us) {
    last_us = us;
}

void origin_keep_words(char *const *words, size_t n) {
    for (size_t i = 0; i < n; i++)
        combined_words = shell_add_word(combined_words, words[i]);
}

char *origin_made(const char *word, int fd) {
    made_trace *trace = malloc(sizeof *trace);
    if (!trace)
        return NULL;
    file_path_of(fd, trace->path);
    trace->word = origin_source(word);
    return vec_push(&made_traces, trace) ? trace->path : NULL;
}

char *origin_combined(size_t n, const char *what, const char *segment, int fd) {
    file_path_of(fd, combined_path);
    snprintf(combined_name, sizeof combined_name, "%zu %s", n, what);
    joined_segment = segment;
    return combined_path;
}
