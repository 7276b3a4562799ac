/* descriptor.h: a file descriptor of the recorder, inside a program that does not know about it.
 * The program may close the descriptor and open a file of its own with the same number. So the
 * descriptor gets a high number, and is identified by its file rather than by its number. errno
 * kept. */
#ifndef RECORD_DESCRIPTOR_H
#define RECORD_DESCRIPTOR_H

#include <stdbool.h>
#include <sys/types.h>

/* Moves `fd` to a high number, with close-on-exec. Returns `fd` unchanged if there is no room. */
int descriptor_raise(int fd);

/* Returns whether `fd` is still the file with this identity. */
bool descriptor_is(int fd, dev_t device, ino_t inode);

#endif
