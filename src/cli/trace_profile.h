/* trace_profile.h: the profile of a trace that a command reads: from the trace, or from the index
 * beside it (FILE.idx), which is used where it is of this trace as it is now, and written where
 * that is asked for. Says what is wrong with either. */
#ifndef CLI_TRACE_PROFILE_H
#define CLI_TRACE_PROFILE_H

#include "cli/trace_file.h"
#include "profile/profile.h"

typedef struct trace_profile_options {
    bool strict;
    bool index; /* write the index, unless there is one that holds what is needed */
    bool
        keep_warnings; /* do not say what is wrong with a trace that can be read: the result does */
    bool says_end;     /* nor that it ends early, or lacks events */
    profile_options how;
} trace_profile_options;

/* Opens `*in` and fills `*p`, which is empty. Returns STATUS_OK, or STATUS_FAILED after having said
 * why. Both are to be closed in any case; from an index, `in` has no reader. */
int trace_profile_read(trace_file *in, profile *p, const char *path,
                       const trace_profile_options *options);

/* The same if there is an index that can be used; else returns false, and neither is to be closed.
 * Only looks: leaves it to the caller to read the trace. */
bool trace_profile_recall(trace_file *in, profile *p, const char *path,
                          const trace_profile_options *options);

/* For commands that use it; `type` has a field `bool FIELD`. */
#define OPTION_INDEX(type, field)                                                                  \
    {                                                                                              \
        .name = "index", .kind = OPTION_FLAG, .at = offsetof(type, field),                         \
        .help = "save the parsed trace in FILE.idx, so that all commands open it instantly from "  \
                "now on; see allotrace(1)",                                                        \
        .brief = "save the parsed trace: see `help index`"                                         \
    }

#endif
