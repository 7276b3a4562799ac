/* ring_folder.h: the folder of a ring: which of its files are segments, in what order, and how much
 * space they take.
 *
 * A segment is named TIME-PROGRAM.PID-NUMBER.ctf, where TIME is the start of its recording (UTC),
 * so that names sort by time. */
#ifndef CLI_RING_RING_FOLDER_H
#define CLI_RING_RING_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "base/vec.h"

typedef struct ring_file {
    char *path;
    uint64_t size;    /* bytes on the disk */
    uint64_t changed; /* time of the last change, nanoseconds since the epoch */
} ring_file;

typedef VEC(ring_file) ring_files;

/* Makes the path of a segment. Returns false if it does not fit. */
bool ring_segment_path(const char *folder, const memtrace_info *info, uint64_t number, char *path,
                       size_t size);

/* Returns whether a segment is still being written, or a later segment of its recording exists. */
bool ring_segment_goes_on(const char *path);

/* Returns the process id in a segment's name; 0: there is none. */
uint64_t ring_segment_process(const char *path);

/* Lists the segments in a folder, or, with `all`, all files named like traces, sorted by name.
 * Returns false if there is no memory, or if the folder cannot be read, with errno set. */
bool ring_folder_list(const char *folder, bool all, ring_files *files);
void ring_files_free(ring_files *files);

/* Restores the modification time of a file that was rewritten. */
void ring_file_keep_time(const ring_file *file);

/* What is known of the wall clock, in microseconds: files are dated by it, and it may be set. All
 * zeros: nothing yet. */
typedef struct ring_clock {
    bool is_known;
    int64_t ahead;    /* of the time since boot, at the last look */
    uint64_t skipped; /* by steps forward that count */
    uint64_t until;   /* time since boot up to which they do */
} ring_clock;

/* Looks at the clocks (`boot`: time since boot), and returns before when, in microseconds since the
 * epoch, a file was changed if that is longer than `keep` ago. For that long after the wall clock
 * was set forward, files may be from before. */
uint64_t ring_clock_limit(ring_clock *c, uint64_t keep, uint64_t wall, uint64_t boot);

/* Removes the oldest segments and their index files, until all segments take at most `most` bytes
 * and none was last changed before `since` (nanoseconds since the epoch). Keeps `current`, and
 * segments that are being written. A segment is at least as old as the next one of its recording,
 * whatever its date. */
void ring_folder_trim(const char *folder, const char *current, uint64_t most, uint64_t since);

#endif
