/* message.c: see message.h. */
#include "cli/message.h"

#include <stdarg.h>
#include <stdio.h>

static void say(const char *prefix, const char *format, va_list args) {
    fflush(stdout);
    fputs(prefix, stderr);
    vfprintf(stderr, format, args);
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
