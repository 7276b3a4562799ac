/* message.c: see message.h. */
#include "cli/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "present/output.h"

void message_text(const char *text) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    for (; *text; text += *text == '\n') {
        while (*text && *text != '\n') {
            output_piece piece = output_shown_next(&text);
            output_bytes(&o, piece.bytes, piece.size);
        }
        if (*text)
            output_char(&o, '\n');
    }
    fwrite(o.buffer, 1, o.used, stderr); /* at once: it has no buffer */
    output_finish(&o);
}

static void say(const char *prefix, const char *format, va_list args) {
    char *text;
    fflush(stdout);
    fputs(prefix, stderr);
    if (vasprintf(&text, format, args) >= 0) {
        message_text(text);
        free(text);
    }
    fputc('\n', stderr);
}

void message_error(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say("allotrace: ", format, args);
    va_end(args);
}

void message_warning(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say("allotrace: warning: ", format, args);
    va_end(args);
}

void message_hint(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say("allotrace: hint: ", format, args);
    va_end(args);
}

int message_usage(const command *cmd, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say("allotrace: ", format, args);
    va_end(args);
    fprintf(stderr, "Try `allotrace %s%s--help`.\n", cmd ? cmd->name : "", cmd ? " " : "");
    return STATUS_USAGE;
}
