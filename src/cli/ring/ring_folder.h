/* ring_folder.h: the folder of a ring: which of its files are segments, in which order, and what
 * they take.
 *
 * A segment is called TIME-PROGRAM.PID-NUMBER.ctf, by when its recording began (UTC): names are in
 * the order of time. */
#ifndef CLI_RING_RING_FOLDER_H
#define CLI_RING_RING_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "allotrace/memtrace.h"
#include "base/vec.h"

typedef struct ring_file {
    char *path;
    uint64_t size;    /* bytes on the disk */
    uint64_t changed; /* nanoseconds since the epoch */
} ring_file;

typedef VEC(ring_file) ring_files;

/* The name of a segment; false if it does not fit. */
bool ring_segment_path(const char *folder, const memtrace_info *info, uint64_t number, char *path,
                       size_t size);

/* Whether a segment is being written, or another one has followed it since it was listed. */
bool ring_segment_goes_on(const char *path);

/* Whose a segment is, as its name says. */
uint64_t ring_segment_process(const char *path);

/* The segments of a folder, or with `all` all files that are called as traces, in the order of
 * their names. False when there is no memory, or the folder cannot be read, which errno says. */
bool ring_folder_list(const char *folder, bool all, ring_files *files);
void ring_files_free(ring_files *files);

/* A file that was written anew is as old as before. */
void ring_file_keep_time(const ring_file *file);

/* Removes the oldest segments, and what belongs to them, but for `current` and those that others
 * are writing: until all together take at most `most` bytes, and those whose last change is before
 * `since`. */
void ring_folder_trim(const char *folder, const char *current, uint64_t most, uint64_t since);

#endif
