/* result_room.h: checks that there is room for a large result. A row for every block of a trace
 * takes a hundred times the space of the trace, and must not fill the disk. */
#ifndef CLI_RESULT_ROOM_H
#define CLI_RESULT_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/* Results of this size or more cause a warning. */
#define RESULT_LARGE (1ull << 30)

/* Returns the room for a regular file in its file system, and within the process's limits, in
 * bytes. Returns UINT64_MAX if there is no limit, or it is not a regular file. */
uint64_t result_room(int fd);

/* Checks that about `bytes` can be written to `fd`, which users know as `name`. If that is a
 * regular file, warns of a large result. Returns false after reporting that there is not enough
 * room. */
bool result_room_suffices(int fd, const char *name, uint64_t bytes);

#endif
