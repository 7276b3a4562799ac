/* symbolize_file.h: completes one trace file: shows progress, and says what could not be resolved.
 */
#ifndef CLI_RUN_SYMBOLIZE_FILE_H
#define CLI_RUN_SYMBOLIZE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/command.h"
#include "symbolize/completion.h"

/* The options of commands that symbolize; `type` has a field `debug_file_options debug_files`. */
#define OPTIONS_SYMBOLIZE(type)                                                                    \
    {.name = "debug-dir",                                                                          \
     .kind = OPTION_FILE,                                                                          \
     .at = offsetof(type, debug_files.root),                                                       \
     .argument = "DIR",                                                                            \
     .help = "look for separate debug files in DIR (default " DEBUG_FILE_ROOT                      \
             ") and next to each module",                                                          \
     .brief = "find debug files there (default " DEBUG_FILE_ROOT ")"},                             \
    {                                                                                              \
        .name = "debuginfod", .kind = OPTION_FLAG, .at = offsetof(type, debug_files.debuginfod),   \
        .help = "query the servers in $DEBUGINFOD_URLS for debug information that is not on this " \
                "machine",                                                                         \
        .brief = "query the servers in $DEBUGINFOD_URLS"                                           \
    }

typedef struct symbolize_file_options {
    const char *output; /* NULL: the input is replaced */
    debug_file_options debug_files;
    symbolizer *shared; /* from symbolize_files_begin; NULL: none */
    FILE *report;       /* gets the account of what was resolved; NULL: only warnings are shown */

    /* Write a trace of version 3 that can be of version 2 as such, even if it lacks no names; one
     * that lacks some always is, unless they go into room that it has. */
    bool lower;

    /* Asked now and then whether to give up, leaving the file as it was; may be NULL. */
    bool (*interrupted)(void *context);
    void *context;
} symbolize_file_options;

/* Returns an exit status, after having said what went wrong. */
int symbolize_file(const char *path, const symbolize_file_options *options);

/* For symbolizing many files: looks up at once what all of them ask, so that each module is opened
 * but once. NULL: there is no memory, or nothing to gain. The end says what could not be resolved.
 */
symbolizer *symbolize_files_begin(const char *const *paths, size_t n,
                                  const symbolize_file_options *options);
void symbolize_files_end(symbolizer *shared); /* NULL is allowed */

/* Whether a recorder holds the lock of the file: more will be written to it. */
bool symbolize_file_is_recording(const char *path);

#endif
