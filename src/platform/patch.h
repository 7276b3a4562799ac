/* patch.h: redirects a function of the program by a jump in place of its first instructions. While
 * the jump is written or removed, no other thread may call the function. Allocates nothing, takes
 * no locks, keeps errno. */
#ifndef PLATFORM_PATCH_H
#define PLATFORM_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/cpu.h"

typedef struct patch {
    uintptr_t at; /* the function; 0: it is not redirected */
    uint8_t before[CPU_JUMP_SIZE];
} patch;

/* Overwrites code. Returns false if the kernel does not allow that; the code is then unchanged. */
bool patch_write(uintptr_t at, const uint8_t *code, size_t size);

/* Returns whether the kernel allows code to be changed. */
bool patch_can(uintptr_t function);

/* Redirects calls of `function` to `target`. The function must be longer than a jump. Returns false
 * if the kernel does not allow code to be changed; the code is then unchanged. */
bool patch_put(patch *p, uintptr_t function, uintptr_t target);

/* Restores the function. Returns true if it is in its original state. */
bool patch_take_back(patch *p);

/* Returns memory within reach of jumps from and to the module that begins at `module_low`. The
 * memory is below the module, where nothing grows. Returns NULL if there is none. Free with
 * pages_free. */
uint8_t *patch_room(uintptr_t module_low, size_t size);

#endif
