/* file.h: reads and writes that continue until all is transferred, after signals and partial
 * transfers. Each returns 0 or an errno: EIO if a file ends before all is read, or a call transfers
 * nothing. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

int file_write_all(int fd, const void *bytes, size_t size); /* at the file offset */
int file_write_at(int fd, const void *bytes, size_t size, uint64_t offset);
int file_read_at(int fd, void *bytes, size_t size, uint64_t offset);

/* Closes a descriptor, unless it is negative. Keeps errno. */
void file_close(int fd);

/* Waits at most `ms` milliseconds for something to read, or the end. Returns whether there is. */
bool file_is_ready(int fd, int ms);

/* Makes a path of this process to an open file, and returns it. */
typedef char file_path[32];
const char *file_path_of(int fd, file_path path);

/* Whether both paths lead to the same file. */
bool file_is_same(const char *a, const char *b);

/* Whether another process holds an fcntl lock on the open file, as the process that records into it
 * does. */
bool file_is_locked(int fd);

/* Whether the entries of a folder may have changed since the last call. `*modified` is the folder's
 * time of modification at that call, and 0 before the first. A second change within one tick of the
 * clock would not be seen, so a folder counts as changed until its time is older than a tick, and
 * also if its time cannot be read. */
bool file_folder_changed(const char *folder, struct timespec *modified);

/* Returns the folder for temporary files: $TMPDIR, or /tmp if that is not writable. */
const char *file_temporary_folder(void);

/* Opens a nameless file in that folder for reading and writing, with further `flags` of open(2).
 * Returns -1 with errno on failure. */
int file_temporary(int flags);

/* Raises the limit of open files to `n`, as far as allowed. Many systems start with 1,024. */
void file_allow(size_t n);

#endif
