/* trace_profile.h: reads the profile of a trace, from the trace itself or from its index
 * (FILE.idx). The index is used if it belongs to the current content of the trace, and written on
 * request. Problems with either are reported. */
#ifndef CLI_TRACE_PROFILE_H
#define CLI_TRACE_PROFILE_H

#include "cli/trace_file.h"
#include "profile/profile.h"

typedef struct trace_profile_options {
    bool strict;
    bool index;         /* write an index, unless there is one with all that is needed */
    bool keep_warnings; /* do not report warnings, since the result shows them */
    bool says_end;      /* the result states whether the trace ends early or lacks events, so do not
                           report that */
    profile_options how;
} trace_profile_options;

/* Opens `*in` and fills `*p`, which is empty. Returns STATUS_OK, or STATUS_FAILED after reporting
 * why it failed. Both must be closed in any case. If an index was used, `in` has no reader. */
int trace_profile_read(trace_file *in, profile *p, const char *path,
                       const trace_profile_options *options);

/* Like trace_profile_read, but uses only an index. Returns false if there is no usable one. Then
 * neither needs to be closed, and the caller may read the trace. */
bool trace_profile_recall(trace_file *in, profile *p, const char *path,
                          const trace_profile_options *options);

/* For commands that use an index. `type` has a field `bool FIELD`. */
#define OPTION_INDEX(type, field)                                                                  \
    {                                                                                              \
        .name = "index", OPTION_SETS(FLAG, type, field),                                           \
        .help = "save the parsed trace in FILE.idx, so that all commands open it instantly from "  \
                "now on; see allotrace(1)",                                                        \
        .brief = "save the parsed trace: see `help index`"                                         \
    }

#endif
