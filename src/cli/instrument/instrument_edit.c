/* instrument_edit.c: applies an insertion to a text, and prints the change as a unified diff. */
#include "cli/instrument/instrument_edit.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define CONTEXT 3 /* unchanged lines around a change */

edit edit_refuse(size_t line, const char *format, ...) {
    edit e = {.verdict = EDIT_REFUSED, .line = line};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(e.reason, sizeof e.reason, format, arguments);
    va_end(arguments);
    return e;
}

char *edit_apply(const edit *e, const char *text, size_t size, size_t *new_size) {
    const size_t added = strlen(e->insert);
    char *new = malloc(size + added + 1);
    if (!new)
        return NULL;
    memcpy(new, text, e->at);
    memcpy(new + e->at, e->insert, added);
    memcpy(new + e->at + added, text + e->at, size - e->at);
    *new_size = size + added;
    new[*new_size] = '\0';
    return new;
}

typedef struct lines {
    VEC(const char *) starts; /* starts of all lines, and the end of the text */
} lines;

static size_t lines_count(const lines *l) {
    return l->starts.count ? l->starts.count - 1 : 0;
}

static size_t line_size(const lines *l, size_t i) {
    return (size_t)(l->starts.items[i + 1] - l->starts.items[i]);
}

static bool lines_split(lines *l, const char *text, size_t size) {
    const char *end = text + size, *next;
    *l = (lines){0};
    for (const char *at = text; at < end; at = next) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        next = newline ? newline + 1 : end;
        if (!vec_push(&l->starts, at))
            return false;
    }
    return vec_push(&l->starts, end);
}

static bool same_line(const lines *a, size_t i, const lines *b, size_t j) {
    return line_size(a, i) == line_size(b, j) &&
           memcmp(a->starts.items[i], b->starts.items[j], line_size(a, i)) == 0;
}

static void print_lines(FILE *out, char mark, const lines *l, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        const char *line = l->starts.items[i];
        const size_t size = line_size(l, i);
        fputc(mark, out);
        fwrite(line, 1, size, out);
        if (line[size - 1] != '\n')
            fputs("\n\\ No newline at end of file\n", out);
    }
}

/* Prints the only hunk: the texts differ between their first `head` and their last `tail` lines. */
static void print_hunk(FILE *out, const lines *old, const lines *new, size_t head, size_t tail) {
    const size_t from = head < CONTEXT ? 0 : head - CONTEXT;
    const size_t old_end = lines_count(old) - tail, new_end = lines_count(new) - tail;
    const size_t after = tail < CONTEXT ? tail : CONTEXT;
    fprintf(out, "@@ -%zu,%zu +%zu,%zu @@\n", from + 1, old_end + after - from, from + 1,
            new_end + after - from);
    print_lines(out, ' ', old, from, head);
    print_lines(out, '-', old, head, old_end);
    print_lines(out, '+', new, head, new_end);
    print_lines(out, ' ', old, old_end, old_end + after);
}

void edit_print(FILE *out, const char *path, const char *old, size_t old_size, const char *new,
                size_t new_size) {
    lines a, b = {0};
    size_t head = 0, tail = 0;
    if (lines_split(&a, old, old_size) && lines_split(&b, new, new_size)) {
        const size_t n = lines_count(&a), m = lines_count(&b), least = n < m ? n : m;
        while (head < least && same_line(&a, head, &b, head))
            head++;
        while (tail < least - head && same_line(&a, n - 1 - tail, &b, m - 1 - tail))
            tail++;
        fprintf(out, "--- %s\n+++ %s\n", path, path);
        print_hunk(out, &a, &b, head, tail);
    }
    vec_free(&a.starts);
    vec_free(&b.starts);
}
