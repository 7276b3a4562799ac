/* rows.h: options of commands that list sites with their callers. */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include "cli/command.h"
#include "query/hotspots.h"

/* `type` has a field `int by`, a hotspots_by. */
#define OPTION_ROWS_BY(type)                                                                       \
    {                                                                                              \
        .name = "by", OPTION_CHOOSES(type, by, hotspots_stack_groupings),                          \
        .help = "one row per source line (default), function, or object type",                     \
        .brief = "one row per line (default), function or type",                                   \
    }

/* `type` has the fields `uint64_t top, callers` and `double min_share`, with the defaults 0, 3 and
 * 0.5. */
#define OPTIONS_ROWS(type)                                                                         \
    {                                                                                              \
        .name = "top",                                                                             \
        .letter = 'n',                                                                             \
        OPTION_TAKES(COUNT, type, top, "N"),                                                       \
        .help = "show at most N rows (default 0: all that --min-share keeps)",                     \
        .brief = "show at most N rows",                                                            \
    },                                                                                             \
        {                                                                                          \
            .name = "min-share",                                                                   \
            OPTION_TAKES(PERCENT, type, min_share, "P"),                                           \
            .help =                                                                                \
                "hide rows below P percent of the total (default 0.5); the last line counts them", \
            .brief = "hide rows below P percent (default 0.5)",                                    \
        },                                                                                         \
    {                                                                                              \
        .name = "callers", OPTION_TAKES(COUNT, type, callers, "N"),                                \
        .help = "show at most N callers of each row (default 3)",                                  \
    }

#endif
