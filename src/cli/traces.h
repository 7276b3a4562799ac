/* traces.h: the traces that a command line names: by file names, by their folder, or by quoted
 * patterns. If several are given to a command about one trace, they are combined in memory, as
 * `merge` would combine them. */
#ifndef CLI_TRACES_H
#define CLI_TRACES_H

#include "cli/options.h"

/* Returns whether a command about one trace accepts several. */
bool traces_combine(const command *cmd);

/* For commands about traces. `field` of `type` is a uint64_t. */
#define OPTION_LAST(type, field)                                                                   \
    {                                                                                              \
        .name = "last", OPTION_TAKES(TIME, type, field, "TIME"),                                   \
        .help =                                                                                    \
            "use only the last TIME of the trace, such as 10min; blocks from before count as "     \
            "live, but not as allocated (info, and export of blocks: as allocated at its start)",  \
        .brief = "use only the last TIME of the trace, such as 10min"                              \
    }

/* Expands patterns, and combines traces that are to be seen as one. Returns STATUS_OK, or another
 * status after reporting what is wrong. */
int traces_gather(const command *cmd, parsed_line *line);

/* If a trace consists of segments of a ring, or was made from some, returns the folder or one of
 * the segments; otherwise NULL. */
const char *traces_segment(const char *path);

#endif
