/* settings.h: the one list of what the environment tells the native recorder. The recorder reads
 * it; the command line sets it, and prints it in its help and its manual. */
#ifndef CONTRACT_SETTINGS_H
#define CONTRACT_SETTINGS_H

#include "contract/runtimes.h"

/* X(identifier, name in the environment, default, what each value is, meaning) */
#define SETTINGS(X)                                                                                \
    X(FILE, "MEMTRACE", "",                                                                        \
      "the name of a trace: it is too long, or a % in it stands before neither p nor %",           \
      "the trace to write; %p in it becomes the process id and %% a percent sign; nothing is "     \
      "recorded if it is unset or empty")                                                          \
    X(RATE, "MEMTRACE_RATE", "1e-5", "a rate above 0 and at most 1, like 1e-5",                    \
      "the probability with which each allocated word is sampled, above 0 and at most 1")          \
    X(CONTEXT, "MEMTRACE_CONTEXT", "", "a text", "a remark that the trace carries")                \
    X(DEPTH, "MEMTRACE_DEPTH", "256", "a whole number from 1 to 4096",                             \
      "the most frames kept of a call stack, 1 to 4096" RUNTIMES(SETTING_RUNTIME_DEPTH))           \
    X(PROCESS, "MEMTRACE_PROCESS", "", "the id of a process",                                      \
      "the id of the one process that may write the trace, if there is no %p in its name: "        \
      "`allotrace run` sets it, so that no later process takes the file over")                     \
    X(RESCUE, "MEMTRACE_RESCUE", "", "a file of `allotrace run`",                                  \
      "where what is not written yet is kept in case the program is killed: `allotrace run` sets " \
      "it")                                                                                        \
    X(ROOM, "MEMTRACE_ROOM", "", "0 or 1",                                                         \
      "1: a trace at rate 1 begins with room for names, so that `allotrace symbolize` need not "   \
      "copy it: `allotrace run` sets it if it may")                                                \
    X(SPACE, "MEMTRACE_SPACE", "", "a number of bytes",                                            \
      "the most bytes that the trace may take on the disk, where parts that were taken out again " \
      "do not count: the recording ends there, the program goes on; `allotrace run --keep` sets "  \
      "it, in case nobody is left to take them out")                                               \
    RUNTIME_SETTINGS(X)                                                                            \
    X(MMAP, "MEMTRACE_MMAP", "", "0 or 1",                                                         \
      "1: memory that the program maps itself is recorded as well, by mmap, mremap, sbrk and the " \
      "like")                                                                                      \
    X(SEED, "MEMTRACE_SEED", "", "a whole number",                                                 \
      "a whole number that makes the choice of samples repeatable; random if it is empty")

#define SETTING_RUNTIME_DEPTH(id, name, depth, whose, ...)                                         \
    "; by default " #depth " for " whose " heap"

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
