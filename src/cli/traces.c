/* traces.c: expands words and combines traces before the command runs, by trace_merge.h or
 * ring_read.h. The combination is in an unnamed memory file. */
#include "cli/traces.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/origin.h"
#include "cli/ring/ring_read.h"
#include "cli/trace_merge.h"

bool traces_combine(const command *cmd) {
    return cmd->group == GROUP_LOOK &&
           (cmd->operand == OPERAND_TRACE || cmd->operand == OPERAND_SITE);
}

const char *traces_segment(const char *path) {
    const char *word = origin_source(path);
    if (origin_joined(word))
        return origin_joined(word);
    return strcmp(word, "-") != 0 &&
                   (ring_is_folder(word) || ring_has_segments((char *const *)&word, 1))
               ? word
               : NULL;
}

/* Returns the number of operands before the first trace. */
static size_t before_traces(const command *cmd) {
    return cmd->operand == OPERAND_SITE;
}

static bool takes_traces(const command *cmd) {
    return cmd->operand == OPERAND_TRACE || cmd->operand == OPERAND_TRACES ||
           cmd->operand == OPERAND_SITE;
}

/* An existing file is not a pattern, whatever its name. With --before and --after, patterns are not
 * expanded, since that would shift operands from one to the other. */
static bool is_pattern(const char *word) {
    return strpbrk(word, "*?[") && access(word, F_OK) != 0;
}

static bool has_sides(const command *cmd) {
    for (size_t i = 0; i < cmd->n_options; i++)
        if (cmd->options[i].kind == OPTION_HEAD)
            return true;
    return false;
}

/* Returns the value of an option; NULL: the command does not have it. */
static const void *value_of(const command *cmd, const parsed_line *line, const char *name) {
    const option *o = options_find(cmd, name, strlen(name));
    return o ? line->options + o->at : NULL;
}

static uint64_t last_of(const command *cmd, const parsed_line *line) {
    const uint64_t *last = value_of(cmd, line, "last");
    return last ? *last : 0;
}

static bool is_strict(const command *cmd, const parsed_line *line) {
    const bool *strict = value_of(cmd, line, "strict");
    return strict && *strict;
}

/* Expands a pattern. Returns false if no file matches, so that the word is reported as missing. The
 * names are never freed. */
static bool expand_word(char *word, glob_t *found) {
    *found = (glob_t){0};
    return is_pattern(word) && glob(word, 0, NULL, found) == 0;
}

static int expand(const command *cmd, parsed_line *line) {
    char **all = NULL;
    size_t n = 0;
    for (size_t i = 0; i < line->n_operands; i++) {
        glob_t found;
        const bool many = i >= before_traces(cmd) && expand_word(line->operands[i], &found);
        const size_t more = many ? found.gl_pathc : 1;
        char **grown = reallocarray(all, n + more + 1, sizeof *all);
        if (!grown) {
            free(all);
            return message_no_memory();
        }
        all = grown;
        memcpy(all + n, many ? found.gl_pathv : &line->operands[i], more * sizeof *all);
        all[n += more] = NULL;
    }
    line->operands = all;
    line->n_operands = n;
    return STATUS_OK;
}

/* Replaces all traces by the combined one in memory. */
static void replace_all(const command *cmd, parsed_line *line, int fd, const char *what,
                        const char *segment) {
    const size_t first = before_traces(cmd);
    line->operands[first] = origin_combined(line->n_operands - first, what, segment, fd);
    line->operands[first + 1] = NULL;
    line->n_operands = first + 1;
}

static int combine(const command *cmd, parsed_line *line) {
    const size_t first = before_traces(cmd);
    const int fd = memfd_create("allotrace-traces", MFD_CLOEXEC);
    if (fd < 0)
        return message_no_memory();
    const int status = trace_merge_into(line->operands + first, NULL, NULL,
                                        line->n_operands - first, is_strict(cmd, line), fd);
    replace_all(cmd, line, fd, "traces", NULL);
    return status;
}

/* Joins segments rather than merging them: each begins with the live blocks, which a sum would
 * count repeatedly. */
static int join_segments(const command *cmd, parsed_line *line) {
    const size_t first = before_traces(cmd), n = line->n_operands - first;
    int fd;
    if (!ring_has_segments(line->operands + first, n))
        return STATUS_OK;
    const int status =
        ring_read_traces(line->operands + first, n, last_of(cmd, line), is_strict(cmd, line), &fd);
    if (status == STATUS_OK)
        replace_all(cmd, line, fd, "segments", line->operands[first]);
    return status;
}

static int refuse_input(const command *cmd, const parsed_line *line) {
    for (size_t i = before_traces(cmd); i < line->n_operands; i++)
        if (strcmp(line->operands[i], "-") == 0)
            return message_usage(
                cmd, "%s reads several traces twice, so standard input cannot be used", cmd->name);
    return STATUS_OK;
}

/* Returns whether several traces are to be seen as one. */
static bool are_several(const command *cmd, const parsed_line *line) {
    return traces_combine(cmd) && line->n_operands > before_traces(cmd) + 1;
}

/* Replaces a word by the path of the trace in memory that was made from it. */
static bool replace_word(char **word, int fd) {
    char *path = origin_made(*word, fd);
    if (path)
        *word = path;
    return path;
}

/* Replaces a folder by the trace that its segments form, and a trace of which only the end is
 * wanted by that end. */
static int gather_word(const command *cmd, const parsed_line *line, char **word) {
    const uint64_t last = last_of(cmd, line);
    const bool strict = is_strict(cmd, line);
    int status = STATUS_OK, fd;
    if (ring_is_folder(*word)) {
        status = ring_read_folder(*word, last, strict, &fd);
        if (status == STATUS_OK && !replace_word(word, fd))
            return message_no_memory();
    }
    if (status != STATUS_OK || !last)
        return status;
    status = ring_read_end(*word, origin_name(*word), last, strict, &fd);
    return status == STATUS_OK && !replace_word(word, fd) ? message_no_memory() : status;
}

/* symbolize works on each file in a folder by itself. */
static bool takes_folders(const command *cmd) {
    return takes_traces(cmd) && cmd != &command_symbolize;
}

static int gather_words(const command *cmd, parsed_line *line) {
    int status = STATUS_OK;
    for (size_t i = before_traces(cmd); i < line->n_operands && status == STATUS_OK; i++)
        status = gather_word(cmd, line, &line->operands[i]);
    return status;
}

/* Refuses budget files among the traces. */
static int refuse_budgets(const command *cmd, const parsed_line *line) {
    for (size_t i = 0; traces_combine(cmd) && i < line->n_operands; i++) {
        const char *name = line->operands[i], *dot = strrchr(name, '.');
        if (dot && strcmp(dot, ".toml") == 0)
            return message_usage(cmd, "%s: %s is not a trace; budgets: check --budget %s FILE",
                                 cmd->name, name, name);
    }
    return STATUS_OK;
}

int traces_gather(const command *cmd, parsed_line *line) {
    bool any = false;
    for (size_t i = before_traces(cmd); takes_traces(cmd) && i < line->n_operands; i++)
        any |= is_pattern(line->operands[i]);
    if (traces_combine(cmd))
        origin_keep_words(line->operands + before_traces(cmd),
                          line->n_operands - before_traces(cmd));
    origin_keep_last(takes_traces(cmd) ? last_of(cmd, line) : 0);
    int status = refuse_budgets(cmd, line);
    if (status == STATUS_OK && any && !has_sides(cmd))
        status = expand(cmd, line);
    if (status == STATUS_OK && are_several(cmd, line))
        status = refuse_input(cmd, line);
    if (status == STATUS_OK && are_several(cmd, line))
        status = join_segments(cmd, line);
    if (status == STATUS_OK && takes_folders(cmd))
        status = gather_words(cmd, line);
    if (status == STATUS_OK && are_several(cmd, line))
        status = combine(cmd, line);
    return status;
}
