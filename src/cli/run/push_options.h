/* push_options.h: the options of commands that push recorded profiles to receivers. */
#ifndef CLI_RUN_PUSH_OPTIONS_H
#define CLI_RUN_PUSH_OPTIONS_H

#include "cli/command.h"
#include "push/family.h"
#include "push/push.h"

typedef struct push_flags {
    const char *urls; /* NULL: nothing is pushed */
    const char *token_file;
    uint64_t every; /* microseconds; 0: not given */
    option_texts labels;
    bool threads;
} push_flags;

/* The entries of an option table. `type` has a field `push_flags push`. */
#define OPTIONS_PUSH(type)                                                                         \
    {.name = "push",                                                                               \
     OPTION_TAKES(TEXT, type, push.urls, "URL[,URL]"),                                             \
     .help = "while the program runs, send profiles of allocated and live memory to URL: to "      \
             "Pyroscope if URL ends in /ingest, to Parca if it ends in /profiles/writeraw, "       \
             "otherwise with the OpenTelemetry protocol",                                          \
     .brief = "send profiles to a server: see `help push`"},                                       \
        {.name = "every",                                                                          \
         OPTION_TAKES(TIME, type, push.every, "TIME"),                                             \
         .help = "the time between two pushes (default: 15s)",                                     \
         .brief = ""},                                                                             \
        {.name = "label",                                                                          \
         OPTION_TAKES(TEXTS, type, push.labels, "KEY=VALUE"),                                      \
         .help = "a label of what is pushed; service=NAME names the service (default: "            \
                 "$OTEL_SERVICE_NAME, or the program); more come from $OTEL_RESOURCE_ATTRIBUTES",  \
         .brief = ""},                                                                             \
        {.name = "push-threads",                                                                   \
         OPTION_SETS(FLAG, type, push.threads),                                                    \
         .help = "label what is sent with the name of the allocating thread; receivers keep a "    \
                 "series for each name",                                                           \
         .brief = ""},                                                                             \
    {                                                                                              \
        .name = "token-file", OPTION_TAKES(FILE, type, push.token_file, "FILE"),                   \
        .help = "the first line of FILE is the bearer token of the receivers (default: "           \
                "$ALLOTRACE_PUSH_TOKEN)",                                                          \
        .brief = ""                                                                                \
    }

/* Returns false after reporting what is wrong with the options. */
bool push_flags_check(const push_flags *f);

/* Starts to push the trace at `path`, which must outlive the session. Reports on standard error; if
 * `quiet`, reports only problems. `since`, `files` and `position` are as in push_options. Returns
 * NULL if nothing is to be pushed, or after reporting why pushing cannot start. */
push_session *push_flags_start(const push_flags *f, const char *path, struct timespec since,
                               int files, push_position *position, bool quiet);

/* Like push_flags_start, for all processes of a run. Fills in `how->push`. `how` must outlive the
 * session. */
push_family *push_flags_start_family(const push_flags *f, family_options *how, bool quiet);

#endif
