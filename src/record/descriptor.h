/* descriptor.h: a file descriptor of the recorder's, inside a program that knows nothing of it:
 * such a program may close it, and open its own file under that number. So ours is out of the way
 * of small numbers, and known by its file rather than by its number. errno kept. */
#ifndef RECORD_DESCRIPTOR_H
#define RECORD_DESCRIPTOR_H

#include <stdbool.h>
#include <sys/types.h>

/* Moves `fd` out of the way, closed on exec; gives it back as it is if there is no room. */
int descriptor_raise(int fd);

/* Is it still the file of this identity? */
bool descriptor_is(int fd, dev_t device, ino_t inode);

#endif
