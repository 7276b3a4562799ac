/* ring_read.h: reads a folder of traces, usually the segments of a ring, as one trace; and the end
 * of a trace. The results are in memory files. */
#ifndef CLI_RING_RING_READ_H
#define CLI_RING_RING_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

bool ring_is_folder(const char *path);

/* Joins the segments in a folder, as far as they may belong to the last `last` microseconds (0:
 * all), and merges several recordings. The caller closes `*fd`. Returns STATUS_OK, or another
 * status after reporting why it failed. */
int ring_read_folder(const char *folder, uint64_t last, bool strict, int *fd);

/* ring_has_segments returns whether any of the traces is a segment. ring_read_traces reads given
 * traces as ring_read_folder reads those of a folder. */
bool ring_has_segments(char *const *paths, size_t n);
int ring_read_traces(char *const *paths, size_t n, uint64_t last, bool strict, int *fd);

/* Warns if the recording of a segment, which is read alone or as the last one, continues after it,
 * and the segment was not cut at one time for all threads (trace/cutter.h). `how` and `reason` tell
 * how it ends. */
void ring_say_cut(const char *path, memtrace_ending how, const char *reason);

/* Reads the last `last` microseconds of a trace; blocks that were live before are at its start.
 * `*fd` and the result are as for ring_read_folder. */
int ring_read_end(const char *path, const char *name, uint64_t last, bool strict, int *fd);

#endif
