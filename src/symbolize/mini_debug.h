/* mini_debug.h: the symbols that some distributions, such as Fedora, leave in a stripped file: the
 * section .gnu_debugdata is an ELF file compressed by xz, with the functions that the dynamic
 * symbols do not name. */
#ifndef SYMBOLIZE_MINI_DEBUG_H
#define SYMBOLIZE_MINI_DEBUG_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mini_debug {
    Elf *elf; /* NULL if there is none */
    uint8_t *bytes;
} mini_debug;

#define MINI_DEBUG_NONE ((mini_debug){0})

/* Decompresses `size` bytes, the content of the section. Returns MINI_DEBUG_NONE if they are not
 * such a file or are too large, or when out of memory. */
mini_debug mini_debug_open(const void *section, size_t size);

void mini_debug_close(mini_debug *mini); /* MINI_DEBUG_NONE is allowed */

#endif
