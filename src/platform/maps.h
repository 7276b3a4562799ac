/* maps.h: /proc/self/maps, read with raw system calls through a small buffer. No malloc, no stdio,
 * no state, errno kept. */
#ifndef PLATFORM_MAPS_H
#define PLATFORM_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
    uintptr_t low, high;
    uintptr_t below; /* the end of the next lower mapping, 0 if there is none */
};

/* The mapping that holds `address`; what it maps goes to `path`, cut off at `size` and terminated:
 * a file's path, "[stack]" and the like, or "". */
bool maps_find(uintptr_t address, struct mapping *out, char *path, size_t size);

/* Whether the kernel can read the word at an aligned address. One cheap system call. */
bool maps_readable(uintptr_t address);

/* What an aligned word is, compared with an expected one, if it is there at all, in one system
 * call.
 */
enum maps_word { MAPS_WORD_GONE, MAPS_WORD_SAME, MAPS_WORD_OTHER };
enum maps_word maps_compare(uintptr_t address, uint32_t expected);

#endif
