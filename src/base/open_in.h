/* open_in.h: opens files of processes that have another file system root, as in containers. */
#ifndef BASE_OPEN_IN_H
#define BASE_OPEN_IN_H

/* Opens a regular file for reading, by a path that is resolved within `root`, a descriptor of the
 * root folder of another file system, so that no link leads out of it. `root` 0: our own root. A
 * device is not even opened. Returns -1 with errno on failure, which is ENOEXEC if it is not a
 * regular file. */
int open_in(int root, const char *path);

/* Opens a folder in the same way, with O_PATH. No component of the path may be a link. */
int open_folder_in(int root, const char *path);

#endif
