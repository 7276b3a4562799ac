/* file.h: reads and writes that go on until all is done, over signals and over calls that take a
 * part. Each returns 0, or the errno that ended it: EIO where a file ends before all is read, or a
 * call takes nothing. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

int file_write_all(int fd, const void *bytes, size_t size); /* where the file stands */
int file_write_at(int fd, const void *bytes, size_t size, uint64_t offset);
int file_read_at(int fd, void *bytes, size_t size, uint64_t offset);

/* Whether another process has a lock of fcntl's on the open file, as who records into it has. */
bool file_is_locked(int fd);

/* Whether what is in a folder may have changed since it was asked last: `*modified` says when it
 * had, and begins with 0. One that changes within one tick of the clock looks as before, so that it
 * counts as changed until it is older than that; also if it cannot be asked. */
bool file_folder_changed(const char *folder, struct timespec *modified);

/* Where temporary files belong: $TMPDIR, or /tmp where that cannot be written to. */
const char *file_temporary_folder(void);

/* Opens a file without a name there, to be read and written; `flags` are further ones of open(2).
 * -1: there is none, and errno says why. */
int file_temporary(int flags);

/* Lets the process have `n` files open at least, as far as it may: many systems begin with 1,024.
 */
void file_allow(size_t n);

#endif
