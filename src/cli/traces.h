/* traces.h: the traces that a command line names: by names, by the folder that they are in, or by
 * patterns that no shell has taken apart. A command that looks at one trace sees several as `merge`
 * would combine them, without making a file: the combination is in memory. */
#ifndef CLI_TRACES_H
#define CLI_TRACES_H

#include "cli/options.h"

/* Whether a command that takes one trace looks at several together. */
bool traces_combine(const command *cmd);

/* For commands that look at traces; `field` of `type` is an uint64_t. */
#define OPTION_LAST(type, field)                                                                   \
    {                                                                                              \
        .name = "last", .kind = OPTION_TIME, .at = offsetof(type, field), .argument = "TIME",      \
        .help = "use only the last TIME of the trace, such as 10min; blocks live at its start "    \
                "count as allocated then",                                                         \
        .brief = "use only the last TIME of the trace, such as 10min"                              \
    }

/* Takes patterns apart, and combines what is to be one trace. Returns STATUS_OK, or another status
 * after having said what is wrong. */
int traces_gather(const command *cmd, parsed_line *line);

/* Of segments of a ring, or of what was made of some: the folder, or one of them; NULL: it is of
 * none. */
const char *traces_segment(const char *path);

#endif
