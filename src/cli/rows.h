/* rows.h: options of commands that list sites with their callers. */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include "cli/command.h"
#include "query/hotspots.h"

/* `type` has a field `int by`, a hotspots_by. */
#define OPTION_ROW(type)                                                                           \
    {                                                                                              \
        .name = "by", .kind = OPTION_CHOICE, .at = offsetof(type, by),                             \
        .choices = hotspots_groupings,                                                             \
        .help =                                                                                    \
            "what a row is: a line of the source (default), a function with all its lines, or "    \
            "a type of objects",                                                                   \
    }

/* The same with `uint64_t top, callers` and `double min_share`, whose defaults are 0, 3 and 0.5. */
#define OPTIONS_ROWS(type)                                                                         \
    {                                                                                              \
        .name = "top",                                                                             \
        .letter = 'n',                                                                             \
        .kind = OPTION_COUNT,                                                                      \
        .at = offsetof(type, top),                                                                 \
        .argument = "N",                                                                           \
        .help = "show at most N rows (0, the default: all that --min-share leaves)",               \
        .brief = "show at most N rows",                                                            \
    },                                                                                             \
        {                                                                                          \
            .name = "min-share",                                                                   \
            .kind = OPTION_PERCENT,                                                                \
            .at = offsetof(type, min_share),                                                       \
            .argument = "P",                                                                       \
            .help = "leave out rows below P percent of the total (default 0.5); a last line "      \
                    "counts them",                                                                 \
            .brief = "leave out rows below P percent (default 0.5)",                               \
        },                                                                                         \
    {                                                                                              \
        .name = "callers", .kind = OPTION_COUNT, .at = offsetof(type, callers), .argument = "N",   \
        .help = "show at most N callers of each row (default 3)",                                  \
    }

#endif
