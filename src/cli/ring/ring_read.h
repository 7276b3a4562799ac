/* ring_read.h: a folder of traces, mostly a ring's segments, as one trace; and the end of a trace.
 * What results is in memory. */
#ifndef CLI_RING_RING_READ_H
#define CLI_RING_RING_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"

bool ring_is_folder(const char *path);

/* Joins the segments in a folder, as far as they may be of its last `last` microseconds (0: all),
 * and merges what is of several recordings. `*fd` is the caller's to close. Returns STATUS_OK, or
 * another status after having said why. */
int ring_read_folder(const char *folder, uint64_t last, bool strict, int *fd);

/* The same of some of them. Whether any of these is a segment; others are no matter for a ring. */
bool ring_has_segments(char *const *paths, size_t n);
int ring_read_traces(char *const *paths, size_t n, uint64_t last, bool strict, int *fd);

/* Of a segment that is the last one to be read, and ends as given: says so if the recording
 * continues after it and it was not cut at one time for all threads (trace/cutter.h). */
void ring_say_cut(const char *path, memtrace_ending how, const char *reason);

/* Of a trace, the last so many microseconds: what lived then stands at the start. The same. */
int ring_read_end(const char *path, const char *name, uint64_t last, bool strict, int *fd);

#endif
