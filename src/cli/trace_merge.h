/* trace_merge.h: several traces as one: they are read twice, first to plan (trace/merge.h). What is
 * wrong with one of them is said here. */
#ifndef CLI_TRACE_MERGE_H
#define CLI_TRACE_MERGE_H

#include "cli/trace_file.h"
#include "trace/merge.h"

/* All traces at once: those of the first reading, then those of the second. */
typedef struct trace_merge {
    trace_file *files;
    memtrace_reader **readers;
    char **names;      /* as shown; NULL: as the paths say */
    const bool *go_on; /* which of them are still recorded; NULL: none that matters */
    size_t n;          /* open ones */
    merge merge;
} trace_merge;

/* Reads them a first time, and opens them for the second; `go_on` being set before, or zeroed.
 * Messages call them by `names`, or by their paths if that is NULL. Returns STATUS_OK, or another
 * status after having said what is wrong; to be ended in any case. */
int trace_merge_begin(trace_merge *in, char **paths, char **names, size_t n, bool strict,
                      uint64_t seed);

/* The second reading. `*written` says whether the result could be written, unless the reading is to
 * blame, which is said here. */
int trace_merge_write(trace_merge *in, int fd, compression how, memtrace_status *written,
                      memtrace_error *error);

void trace_merge_end(trace_merge *in);

/* All of it, to `fd`; of those that `go_on`, which may be NULL, it is no matter that the end is
 * missing. */
int trace_merge_into(char **paths, char **names, const bool *go_on, size_t n, bool strict, int fd);

#endif
