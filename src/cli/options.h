/* options.h: the command line of one command, taken apart after its table of options.
 *
 * Options may stand before and after operands; `--name value`, `--name=value`, `-n value`,
 * `-nvalue`; `--` ends them. The last of several wins. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "cli/command.h"

typedef struct parsed_line {
    /* Big enough and aligned for any command's options; defaults where nothing was given. */
    _Alignas(max_align_t) unsigned char options[OPTIONS_MAX_SIZE];
    char **operands; /* NULL-terminated; the array of the caller, reordered */
    size_t n_operands;
    bool help; /* --help was met: nothing else was checked */
} parsed_line;

/* `words` (ended by NULL) are what follows the command's name; they are permuted. Returns
 * STATUS_OK, or STATUS_USAGE after having said what is wrong. */
int options_parse(const command *cmd, char **words, parsed_line *line);

/* A value of OPTION_TIME, in microseconds; false: it is none. */
bool options_parse_time(const char *text, uint64_t *micros);

#endif
