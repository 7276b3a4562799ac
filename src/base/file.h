/* file.h: reads and writes that go on until all is done, over signals and over calls that take a
 * part. Each returns 0, or the errno that ended it: EIO where a file ends before all is read, or a
 * call takes nothing. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

int file_write_all(int fd, const void *bytes, size_t size); /* where the file stands */
int file_write_at(int fd, const void *bytes, size_t size, uint64_t offset);
int file_read_at(int fd, void *bytes, size_t size, uint64_t offset);

/* Where temporary files belong: $TMPDIR, or /tmp where that cannot be written to. */
const char *file_temporary_folder(void);

/* Opens a file without a name there, to be read and written; `flags` are further ones of open(2).
 * -1: there is none, and errno says why. */
int file_temporary(int flags);

/* Lets the process have `n` files open at least, as far as it may: many systems begin with 1,024.
 */
void file_allow(size_t n);

#endif
