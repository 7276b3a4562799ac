/* help.h: the texts that tell how to use the program, made from the table of commands. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "cli/command.h"

/* The option that all commands have beside those of their tables. */
extern const option help_option;

/* What a first-time user needs. */
void help_start(FILE *out);

/* All commands. */
void help_overview(FILE *out);

/* One command: usage, purpose, options, example, exit statuses. */
void help_command(FILE *out, const command *cmd);

/* Paragraphs, as wide as the terminal; and a term with what it means, in this column. */
void help_text(FILE *out, const char *text);
void help_item(FILE *out, size_t column, const char *term, const char *text);

/* How an option's argument is shown, e.g. "N" or "text|json"; "" for a flag. The buffer must have
 * room for HELP_ARGUMENT_SIZE bytes. */
#define HELP_ARGUMENT_SIZE 128
void help_argument(const option *o, char buffer[HELP_ARGUMENT_SIZE]);

#endif
