/* traces.c: see traces.h. Words are expanded before options are checked. The combination is made
 * once, by cmd_merge, in a file in memory that has no name. */
#include "cli/traces.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/shell.h"
#include "cli/message.h"

/* The combination, if there is one: for as long as the process. */
static char combined_path[32], combined_name[48], *combined_words;

bool traces_combine(const command *cmd) {
    return cmd->group == GROUP_LOOK &&
           (cmd->operand == OPERAND_TRACE || cmd->operand == OPERAND_SITE);
}

bool traces_are_combined(const char *path) {
    return *combined_path && strcmp(path, combined_path) == 0;
}

const char *traces_name(const char *path) {
    if (traces_are_combined(path))
        return combined_name;
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

const char *traces_words(const char *path) {
    static char *word; /* the last one asked for */
    if (combined_words && traces_are_combined(path))
        return combined_words;
    free(word);
    word = shell_word(path);
    return word ? word : path;
}

static void keep_words(char **words, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char *word = shell_word(words[i]), *all = combined_words, *more = NULL;
        if (word && asprintf(&more, "%s%s%s", all ? all : "", all ? " " : "", word) > 0) {
            free(all);
            combined_words = more;
        }
        free(word);
    }
}

/* The operands before the first trace. */
static size_t before_traces(const command *cmd) {
    return cmd->operand == OPERAND_SITE;
}

static bool takes_traces(const command *cmd) {
    return cmd->operand == OPERAND_TRACE || cmd->operand == OPERAND_TRACES ||
           cmd->operand == OPERAND_SITE;
}

/* A file may be called like a pattern. Where operands stand on sides, patterns would move them. */
static bool is_pattern(const char *word) {
    return strpbrk(word, "*?[") && access(word, F_OK) != 0;
}

static bool has_sides(const command *cmd) {
    for (size_t i = 0; i < cmd->n_options; i++)
        if (cmd->options[i].kind == OPTION_HEAD)
            return true;
    return false;
}

static bool is_strict(const command *cmd, const parsed_line *line) {
    for (size_t i = 0; i < cmd->n_options; i++)
        if (strcmp(cmd->options[i].name, "strict") == 0)
            return *(const bool *)(const void *)(line->options + cmd->options[i].at);
    return false;
}

/* Adds what a word means; one that no file fits stays, and is missing by its name. The names are
 * there for as long as the process. */
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
            message_error("not enough memory");
            return STATUS_FAILED;
        }
        all = grown;
        memcpy(all + n, many ? found.gl_pathv : &line->operands[i], more * sizeof *all);
        all[n += more] = NULL;
    }
    line->operands = all;
    line->n_operands = n;
    return STATUS_OK;
}

static int combine(const command *cmd, parsed_line *line) {
    const size_t first = before_traces(cmd), n = line->n_operands - first;
    for (size_t i = first; i < line->n_operands; i++)
        if (strcmp(line->operands[i], "-") == 0)
            return message_usage(cmd, "%s reads several traces twice: it needs files", cmd->name);
    const int fd = memfd_create("allotrace-traces", MFD_CLOEXEC);
    if (fd < 0) {
        message_error("not enough memory");
        return STATUS_FAILED;
    }
    const int status = traces_merge(line->operands + first, n, is_strict(cmd, line), fd);
    snprintf(combined_path, sizeof combined_path, "/proc/self/fd/%d", fd);
    snprintf(combined_name, sizeof combined_name, "%zu traces", n);
    line->operands[first] = combined_path;
    line->operands[first + 1] = NULL;
    line->n_operands = first + 1;
    return status;
}

int traces_gather(const command *cmd, parsed_line *line) {
    bool any = false;
    for (size_t i = before_traces(cmd); takes_traces(cmd) && i < line->n_operands; i++)
        any |= is_pattern(line->operands[i]);
    if (traces_combine(cmd))
        keep_words(line->operands + before_traces(cmd), line->n_operands - before_traces(cmd));
    int status = any && !has_sides(cmd) ? expand(cmd, line) : STATUS_OK;
    if (status == STATUS_OK && traces_combine(cmd) && line->n_operands > before_traces(cmd) + 1)
        status = combine(cmd, line);
    return status;
}
