/* excerpt_file.h: writes a part of a trace to a file, for `trim` and `subsample`. */
#ifndef CLI_EXCERPT_FILE_H
#define CLI_EXCERPT_FILE_H

#include "cli/command.h"
#include "cli/result_file.h"
#include "trace/excerpt.h"

typedef struct excerpt_file_options {
    const char *output; /* NULL: standard output */
    uint64_t from, to;  /* microseconds; a `to` of EXCERPT_END means the end */
    uint64_t seed;
    int format; /* index into excerpt_formats */
    bool live;
    bool strict;
} excerpt_file_options;

extern const char *const excerpt_formats[];

#define OPTIONS_EXCERPT(type)                                                                      \
    OPTION_RESULT(type, output),                                                                   \
        {.name = "from",                                                                           \
         .kind = OPTION_TIME,                                                                      \
         .at = offsetof(type, from),                                                               \
         .argument = "TIME",                                                                       \
         .help = "leave out what happened before TIME, like 1.5s, 20ms, 300us or 2min since the "  \
                 "start"},                                                                         \
        {.name = "to",                                                                             \
         .kind = OPTION_TIME,                                                                      \
         .at = offsetof(type, to),                                                                 \
         .argument = "TIME",                                                                       \
         .help = "leave out what happened at TIME or later"},                                      \
        {.name = "live",                                                                           \
         .kind = OPTION_FLAG,                                                                      \
         .at = offsetof(type, live),                                                               \
         .help = "keep the blocks that were allocated before --from and alive then, as if they "   \
                 "had been allocated at that moment"},                                             \
        {.name = "format",                                                                         \
         .kind = OPTION_CHOICE,                                                                    \
         .at = offsetof(type, format),                                                             \
         .choices = excerpt_formats,                                                               \
         .help = "version of the new trace: same (default; 2 for 1); 2, which memtrace 0.2.3 "     \
                 "reads, for one thread or domain; 3"},                                            \
        OPTION_STRICT(type, strict)

/* Writes the excerpt, keeping each sample with probability `keep`. Returns the exit status. */
int excerpt_file(const command *cmd, const char *path, double keep,
                 const excerpt_file_options *options);

#endif
