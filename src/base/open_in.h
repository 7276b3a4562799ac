/* open_in.h: files of processes that see other ones than we do, as in containers. */
#ifndef BASE_OPEN_IN_H
#define BASE_OPEN_IN_H

/* Opens a regular file for reading by a path that holds in `root`, a descriptor of the folder that
 * is the root of another file system, so that no link leads out of it; 0: in ours. A device is not
 * even opened. -1: errno; ENOEXEC: it is no regular file. */
int open_in(int root, const char *path);

/* The same of a folder, of which no part may be a link; as a place for names (O_PATH). */
int open_folder_in(int root, const char *path);

#endif
