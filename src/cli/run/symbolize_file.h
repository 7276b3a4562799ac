/* symbolize_file.h: symbolizes a trace file, shows progress, and reports what could not be
 * resolved. */
#ifndef CLI_RUN_SYMBOLIZE_FILE_H
#define CLI_RUN_SYMBOLIZE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/command.h"
#include "symbolize/completion.h"

/* The options of commands that symbolize. `type` has a field `debug_file_options debug_files`. */
#define OPTIONS_SYMBOLIZE(type)                                                                    \
    {.name = "debug-dir",                                                                          \
     OPTION_TAKES(FILE, type, debug_files.root, "DIR"),                                            \
     .help = "look for separate debug files in DIR (default " DEBUG_FILE_ROOT                      \
             ") and next to each module",                                                          \
     .brief = "find debug files there (default " DEBUG_FILE_ROOT ")"},                             \
    {                                                                                              \
        .name = "debuginfod", OPTION_SETS(FLAG, type, debug_files.debuginfod),                     \
        .help = "query the servers in $DEBUGINFOD_URLS for debug information that is not on this " \
                "machine",                                                                         \
        .brief = "query the servers in $DEBUGINFOD_URLS"                                           \
    }

/* Traces that could not be written, as on a full disk, which are reported together. */
typedef struct symbolize_unwritten {
    size_t n;
    const char *first; /* a path */
    int os_error;      /* of the first */
} symbolize_unwritten;

typedef struct symbolize_file_options {
    const char *output; /* NULL: replace the input */
    debug_file_options debug_files;
    symbolizer *shared;             /* from symbolize_files_begin; NULL: none */
    symbolize_unwritten *unwritten; /* counts a trace that cannot be replaced; NULL: an error is
                                       reported for it */
    FILE *report; /* receives the report of what was resolved; NULL: print only warnings */

    /* Write a trace of version 3 as version 2 if that is possible, even if no names are missing. A
     * trace that lacks names is always lowered, unless the names fit into the room reserved in
     * it. */
    bool lower;

    /* Asked now and then whether to give up, leaving the file unchanged; may be NULL. */
    bool (*interrupted)(void *context);
    void *context;
} symbolize_file_options;

static inline bool symbolize_file_is_interrupted(const symbolize_file_options *o) {
    return o->interrupted && o->interrupted(o->context);
}

/* Symbolizes a trace. Returns an exit status, after reporting errors. */
int symbolize_file(const char *path, const symbolize_file_options *options);

/* For many files: resolves the addresses of all of them at once, so that each module is opened only
 * once. Returns NULL if there is no memory, or nothing to gain. symbolize_files_end reports what
 * could not be resolved. */
symbolizer *symbolize_files_begin(const char *const *paths, size_t n,
                                  const symbolize_file_options *options);
void symbolize_files_end(symbolizer *shared); /* NULL is allowed */

/* Returns whether a recorder holds the lock of the file, and so will write more to it. */
bool symbolize_file_is_recording(const char *path);

#endif
