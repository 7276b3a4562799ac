/* record_options.h: options that the recording commands share. */
#ifndef CLI_RECORD_OPTIONS_H
#define CLI_RECORD_OPTIONS_H

#include "cli/command.h"

#define DEPTH_UNSET UINT64_MAX

/* `type` has a field `bool mmap`. */
#define OPTION_MMAP(type)                                                                          \
    {                                                                                              \
        .name = "mmap", OPTION_SETS(FLAG, type, mmap),                                             \
        .help = "also record memory that the program maps directly, with mmap, mremap, sbrk and "  \
                "similar calls",                                                                   \
        .brief = "also record mmap, mremap and sbrk"                                               \
    }

/* `type` has a text field `context`. */
#define OPTION_CONTEXT(type)                                                                       \
    {                                                                                              \
        .name = "context", .letter = 'c', OPTION_TAKES(TEXT, type, context, "TEXT"),               \
        .help = "a comment to store in the trace"                                                  \
    }

#endif
