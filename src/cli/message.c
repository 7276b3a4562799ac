/* message.c: all messages are printed by one function: the line is composed, cleaned of control
 * characters, and folded to the terminal's width, but not within a command that the user may
 * copy. */
#include "cli/message.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/terminal.h"
#include "render/fold.h"
#include "render/output.h"

/* Removes control characters from text, but keeps its newlines. */
static void add_shown(output *o, const char *text) {
    for (; *text; text += *text == '\n') {
        while (*text && *text != '\n') {
            output_piece piece = output_shown_next(&text);
            output_bytes(o, piece.bytes, piece.size);
        }
        if (*text)
            output_char(o, '\n');
    }
}

/* Stands for a blank within a command, where a line must not be folded. No text contains it. */
enum { KEPT_BLANK = '\1' };

/* Folds a line, except for a command at its end. */
static void fold(output *o, char *line, size_t size, unsigned columns) {
    static const char begin[] = ": allotrace ";
    char *copied = memmem(line, size, begin, sizeof begin - 1);
    for (char *c = copied ? copied + 2 : line + size; c < line + size; c++)
        *c = *c == ' ' ? KEPT_BLANK : *c;
    const size_t at = o->used;
    fold_lines(o, line, size, columns);
    for (size_t i = at; i < o->used; i++)
        o->buffer[i] = o->buffer[i] == KEPT_BLANK ? ' ' : o->buffer[i];
}

/* Folds the first `lines` lines; later lines depend on the columns of earlier ones, as a mark below
 * a word does. */
static void write_lines(output *text, size_t lines) {
    const unsigned columns = terminal_columns_of(STDERR_FILENO);
    output folded;
    output_start(&folded, OUTPUT_MEMORY);
    for (char *line = text->buffer, *end = line + text->used; line < end;) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        const size_t size = (size_t)((newline ? newline + 1 : end) - line);
        if (columns && lines > 0)
            fold(&folded, line, size, columns);
        else
            output_bytes(&folded, line, size);
        lines -= lines > 0;
        line += size;
    }
    progress_wipe();
    fflush(stdout);
    fwrite(folded.buffer, 1, folded.used, stderr); /* in one write, since stderr is unbuffered */
    output_finish(&folded);
    output_finish(text);
}

void message_lines(output *text) {
    write_lines(text, SIZE_MAX);
}

static void say(const char *kind, const char *format, va_list args) {
    char *text;
    output o;
    output_start(&o, OUTPUT_MEMORY);
    output_text(&o, "allotrace: ");
    output_text(&o, kind);
    if (vasprintf(&text, format, args) >= 0) {
        add_shown(&o, text);
        free(text);
    }
    output_char(&o, '\n');
    write_lines(&o, 1);
}

void message_say(const char *kind, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(kind, format, args);
    va_end(args);
}

static const char *place;

void message_set_place(const char *to) {
    place = to;
}

static void say_error(const char *format, va_list args) {
    char before[PATH_MAX] = "";
    if (place && !*place)
        return;
    if (place)
        snprintf(before, sizeof before, "%s: ", place);
    say(before, format, args);
}

int message_error(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say_error(format, args);
    va_end(args);
    return STATUS_FAILED;
}

int message_usage(const command *cmd, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say_error(format, args);
    va_end(args);
    if (!place)
        fprintf(stderr, "Try `allotrace %s%s--help`.\n", cmd ? cmd->name : "", cmd ? " " : "");
    return STATUS_USAGE;
}

int message_no_memory(void) {
    return message_error("not enough memory");
}

int message_written(int error) {
    if (error == 0 || error == EPIPE)
        return STATUS_OK;
    return message_error("standard output: %s", strerror(error));
}
