/* help.h: prints help texts, generated from the table of commands. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "cli/command.h"

/* The option that all commands have in addition to those of their tables. */
extern const option help_option;

/* Prints what a first-time user needs. */
void help_start(FILE *out);

/* Prints an overview of all commands. */
void help_overview(FILE *out);

/* Prints the help of a command: usage, purpose, options, examples, exit statuses. */
void help_command(FILE *out, const command *cmd);

/* help_text prints paragraphs, as wide as the terminal. help_item prints a term, and its
 * explanation in the given column. */
void help_text(FILE *out, const char *text);
void help_item(FILE *out, size_t column, const char *term, const char *text);

/* Makes the text for an option's value, such as "N" or "text|json"; it is empty for a flag. */
#define HELP_ARGUMENT_SIZE 128
void help_argument(const option *o, char buffer[HELP_ARGUMENT_SIZE]);

#endif
