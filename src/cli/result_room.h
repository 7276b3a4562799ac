/* result_room.h: whether there is room for a result that may be very large: what every block of a
 * trace says takes a hundred times as much as the trace, and nobody wants his disk full. */
#ifndef CLI_RESULT_ROOM_H
#define CLI_RESULT_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/* From here on, a result is worth a warning. */
#define RESULT_LARGE (1ull << 30)

/* What the file system and the limits of the process leave to a regular file; UINT64_MAX where
 * there is no end, or it is no such file. */
uint64_t result_room(int fd);

/* About `bytes` are to be written to `fd`, which users know by `name`. If that is a regular file,
 * says so when they are many, and refuses when there is no room for them; then, false. */
bool result_room_suffices(int fd, const char *name, uint64_t bytes);

#endif
