/* trace_merge.h: merges several traces. They are read twice, the first time for planning
 * (trace/merge.h). Problems of each trace are reported. */
#ifndef CLI_TRACE_MERGE_H
#define CLI_TRACE_MERGE_H

#include "cli/trace_file.h"
#include "trace/merge.h"

/* All traces of a merge, opened for the first and then for the second pass. */
typedef struct trace_merge {
    trace_file *files;
    memtrace_reader **readers;
    char **names;               /* in messages; NULL: the paths */
    const bool *still_recorded; /* which traces are still being recorded; NULL: irrelevant */
    size_t n;                   /* number of open traces */
    merge merge;
} trace_merge;

/* Reads the traces a first time, and opens them for the second pass. The caller has set
 * in->still_recorded, or zeroed it. `names` are used in messages; NULL: the paths. Returns
 * STATUS_OK, or another status after reporting what is wrong. trace_merge_end must be called in any
 * case. */
int trace_merge_begin(trace_merge *in, char **paths, char **names, size_t n, bool strict,
                      uint64_t seed);

/* Executes the second pass. Reading errors are reported here, and set the returned status.
 * `*written` is the status of writing; MEMTRACE_OK if reading failed. */
int trace_merge_write(trace_merge *in, int fd, compression how, memtrace_status *written,
                      memtrace_error *error);

void trace_merge_end(trace_merge *in);

/* Executes a whole merge, to `fd`. For traces that `still_recorded` marks, if it is not NULL, a
 * missing end is not reported. */
int trace_merge_into(char **paths, char **names, const bool *still_recorded, size_t n, bool strict,
                     int fd);

#endif
