/* patch.h: turns a function of the program aside, by a jump in place of its first instructions.
 * While it is put or taken back, no other thread may call the function. No memory, no locks, errno
 * kept. */
#ifndef PLATFORM_PATCH_H
#define PLATFORM_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/cpu.h"

typedef struct patch {
    uintptr_t at; /* the function; 0: it is as it was */
    uint8_t before[CPU_JUMP_SIZE];
} patch;

/* Replaces code. False if the kernel does not let it be changed: then it is as it was. */
bool patch_write(uintptr_t at, const uint8_t *code, size_t size);

/* Does the kernel let code be changed? */
bool patch_can(uintptr_t function);

/* Calls of `function`, which is longer than a jump, go to `target` from now on. False if the kernel
 * does not let code be changed: then nothing is. */
bool patch_put(patch *p, uintptr_t function, uintptr_t target);

/* Gives the function back. True if it is as it was. */
bool patch_take_back(patch *p);

/* Memory to which a module that begins at `module_low` can jump, and from which it can be reached:
 * below it, where nothing grows. NULL: there is none. Given back by pages_free. */
uint8_t *patch_room(uintptr_t module_low, size_t size);

#endif
