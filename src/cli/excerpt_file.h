/* excerpt_file.h: writes a part of a trace to a file, for `trim` and `subsample`. */
#ifndef CLI_EXCERPT_FILE_H
#define CLI_EXCERPT_FILE_H

#include "cli/command.h"
#include "cli/result_file.h"
#include "trace/excerpt.h"

typedef struct excerpt_file_options {
    const char *output; /* NULL: standard output */
    excerpt_options part;
    int format; /* index into excerpt_formats */
    bool strict;
} excerpt_file_options;

extern const char *const excerpt_formats[];

#define OPTIONS_EXCERPT(type)                                                                      \
    OPTION_RESULT(type, output),                                                                   \
        {.name = "from",                                                                           \
         OPTION_TAKES(TIME, type, part.from, "TIME"),                                              \
         .help = "leave out what happened before TIME, like 1.5s, 20ms, 300us or 2min since the "  \
                 "start"},                                                                         \
        {.name = "to",                                                                             \
         OPTION_TAKES(TIME, type, part.to, "TIME"),                                                \
         .help = "leave out what happened at TIME or later"},                                      \
        {.name = "live",                                                                           \
         OPTION_SETS(FLAG, type, part.live),                                                       \
         .help = "keep the blocks that were allocated before --from and alive then, as if they "   \
                 "had been allocated at that moment"},                                             \
        {.name = "format",                                                                         \
         OPTION_CHOOSES(type, format, excerpt_formats),                                            \
         .help = "version of the new trace: same (default; 2 for 1); 2, which memtrace 0.2.3 "     \
                 "reads, for one thread or domain; 3"},                                            \
        OPTION_STRICT(type, strict)

/* Writes the excerpt, keeping each sample with probability `keep`. Returns the exit status. */
int excerpt_file(const command *cmd, const char *path, double keep,
                 const excerpt_file_options *options);

#endif
