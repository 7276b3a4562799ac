/* repl.c: see repl.h. A line whose brackets are open is continued by the next. History is kept in
 * ~/.lox_history. */
#include "repl.h"

#include <editline/readline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HISTORY_LINES = 1000 };

/* How many brackets are open, outside of strings and comments; negative: too many were closed. */
static int open_brackets(const char *text) {
    int depth = 0;
    for (const char *at = text; *at; at++) {
        if (*at == '"') {
            const char *end = strchr(at + 1, '"');
            if (!end)
                return depth + 1;
            at = end;
        } else if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
            if (!*at)
                break;
        } else if (strchr("({[", *at)) {
            depth++;
        } else if (strchr(")}]", *at)) {
            depth--;
        }
    }
    return depth;
}

/* The next line, without its end; NULL at the end of input. */
static char *next_line(bool terminal, const char *prompt) {
    if (terminal)
        return readline(prompt);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n = getline(&line, &capacity, stdin);
    if (n < 0) {
        free(line);
        return NULL;
    }
    if (n && line[n - 1] == '\n')
        line[n - 1] = '\0';
    return line;
}

/* `text`, which is freed, with another line. */
static char *append(char *text, char *line) {
    size_t n = text ? strlen(text) + 1 : 0, size = strlen(line) + 1;
    char *both = realloc(text, n + size);
    if (!both)
        abort();
    if (n)
        both[n - 1] = '\n';
    memcpy(both + n, line, size);
    free(line);
    return both;
}

static void history_path(char *path, size_t size) {
    const char *home = getenv("HOME");
    snprintf(path, size, "%s/.lox_history", home ? home : ".");
}

lox_status repl(lox_vm *vm) {
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    char path[4096], *text = NULL, *line;
    history_path(path, sizeof path);
    if (terminal) {
        using_history();
        stifle_history(HISTORY_LINES);
        read_history(path);
    }
    while ((line = next_line(terminal, text ? "... " : "> "))) {
        text = append(text, line);
        if (open_brackets(text) > 0)
            continue;
        if (terminal && *text)
            add_history(text);
        lox_run_text(vm, "-", text, strlen(text), true);
        fflush(stdout);
        free(text);
        text = NULL;
    }
    free(text);
    if (terminal) {
        puts("");
        write_history(path);
    }
    return LOX_OK;
}
