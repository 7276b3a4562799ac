/* maps.h: /proc/self/maps, read with raw system calls through a small buffer. No malloc, no stdio,
 * no state, errno kept. */
#ifndef PLATFORM_MAPS_H
#define PLATFORM_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
    uintptr_t low, high;
    uintptr_t below; /* end of the next lower mapping; 0: there is none */
};

/* Finds the mapping that contains `address`. Writes what is mapped to `path`, cut off at `size` and
 * terminated: the path of a file, "[stack]" or the like, or "". */
bool maps_find(uintptr_t address, struct mapping *out, char *path, size_t size);

/* Returns where the mapping that contains `address` begins; 0: nothing is mapped there. */
uintptr_t maps_low(uintptr_t address);

/* From now on, maps_low reads the list of all mappings. Otherwise it asks the kernel for one, by
 * ioctl, which a seccomp filter of the program may punish. */
void maps_forbid_query(void);

/* Returns whether the word at an aligned address is readable. One cheap system call. */
bool maps_readable(uintptr_t address);

/* Compares an aligned word with an expected value. The word may not be mapped. One system call. */
enum maps_word { MAPS_WORD_GONE, MAPS_WORD_SAME, MAPS_WORD_OTHER };
enum maps_word maps_compare(uintptr_t address, uint32_t expected);

#endif
