/* options.h: parses the command line of a command by its table of options.
 *
 * Options may come before and after operands, as `--name value`, `--name=value`, `-n value` or
 * `-nvalue`; `--` ends them. If an option is repeated, the last one counts. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "cli/command.h"

typedef struct parsed_line {
    /* A struct of the command's options, initialized with defaults; large enough for any
     * command. */
    _Alignas(max_align_t) unsigned char options[OPTIONS_MAX_SIZE];
    char **operands; /* NULL-terminated; the caller's array, reordered */
    size_t n_operands;
    bool help; /* --help was given; nothing after it was checked */
} parsed_line;

/* Parses `words`, which follow the command's name and end with NULL; reorders them. Returns
 * STATUS_OK, or STATUS_USAGE after reporting what is wrong. */
int options_parse(const command *cmd, char **words, parsed_line *line);

/* Returns the option with that name, of `size` bytes; NULL: the command has none. */
const option *options_find(const command *cmd, const char *name, size_t size);

/* Parses a value of OPTION_TIME, in microseconds. Returns false if it is not a time. */
bool options_parse_time(const char *text, uint64_t *micros);

#endif
