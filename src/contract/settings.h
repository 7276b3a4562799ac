/* settings.h: the list of the environment variables that the native recorder reads. The command
 * line sets them, and prints the list as `allotrace help environment`.
 * This folder is the contract between the two sides of a recording: the recorder, inside somebody
 * else's program, and the commands `run`, `attach` and `ctl`. The only memory that they share is
 * described in rescue.h. Otherwise they agree on names: of settings (here), of traces
 * (trace_name.h), of the function through which a running recorder gets requests (control.h), and
 * of language runtimes (runtimes.h). Code in this folder uses neither malloc nor stdio, because one
 * of the two sides may not. */
#ifndef CONTRACT_SETTINGS_H
#define CONTRACT_SETTINGS_H

#include "contract/runtimes.h"

/* X(identifier, name in the environment, default, which values are valid, meaning) */
#define SETTINGS(X)                                                                                \
    X(FILE, "MEMTRACE", "",                                                                        \
      "a valid trace name: it is too long, or contains a % that is not followed by p or %",        \
      "the trace to write; %p stands for the process id and %% for a percent sign; if unset or "   \
      "empty, nothing is recorded")                                                                \
    X(RATE, "MEMTRACE_RATE", "1e-5", "a rate above 0 and at most 1, like 1e-5",                    \
      "the probability with which each allocated word is sampled, above 0 and at most 1")          \
    X(CONTEXT, "MEMTRACE_CONTEXT", "", "a text", "a comment to store in the trace")                \
    X(DEPTH, "MEMTRACE_DEPTH", "256", "a whole number from 1 to 4096",                             \
      "the most frames kept of a call stack, 1 to 4096" RUNTIMES(SETTING_RUNTIME_DEPTH))           \
    X(PROCESS, "MEMTRACE_PROCESS", "", "a process id",                                             \
      "the id of the only process that may write the trace if its name contains no %p; set by "    \
      "`allotrace run`, so that no later process overwrites the file")                             \
    X(RESCUE, "MEMTRACE_RESCUE", "", "a file of `allotrace run`",                                  \
      "where unwritten data is kept in case the program is killed; set by `allotrace run`")        \
    X(HANDOVER, "MEMTRACE_HANDOVER", "", "a socket of `allotrace run`",                            \
      "where `allotrace run` is asked to follow static and Go programs that the program starts; "  \
      "set by `allotrace run`")                                                                    \
    X(ROOM, "MEMTRACE_ROOM", "", "0 or 1",                                                         \
      "1: a trace at rate 1 starts with room for names, so that `allotrace symbolize` need not "   \
      "copy it; set by `allotrace run`")                                                           \
    X(SPACE, "MEMTRACE_SPACE", "", "a number of bytes",                                            \
      "the maximum size of the trace on disk in bytes, not counting segments already taken from "  \
      "it; beyond it, the recording ends and the program continues; set by `allotrace run "        \
      "--keep`")                                                                                   \
    RUNTIME_SETTINGS(X)                                                                            \
    X(MMAP, "MEMTRACE_MMAP", "", "0 or 1",                                                         \
      "1: also record memory that the program maps directly, with mmap, mremap, sbrk and similar " \
      "calls")                                                                                     \
    X(SEED, "MEMTRACE_SEED", "", "a whole number",                                                 \
      "a whole number that makes sampling repeatable; random if empty")

#define SETTING_RUNTIME_DEPTH(id, name, depth, whose, ...) "; " #depth " for " whose " heap"

#define SETTING_MAX_DEPTH 4096 /* frames */

enum setting {
#define SETTING_ENUM(id, ...) SETTING_##id,
    SETTINGS(SETTING_ENUM)
#undef SETTING_ENUM
        N_SETTINGS
};

struct setting_info {
    const char *name, *value, *valid, *meaning; /* `value` is the default, as text */
};

static const struct setting_info setting_infos[N_SETTINGS] = {
#define SETTING_INFO(id, env, def, values, text)                                                   \
    [SETTING_##id] = {.name = env, .value = def, .valid = values, .meaning = text},
    SETTINGS(SETTING_INFO)
#undef SETTING_INFO
};

#endif
