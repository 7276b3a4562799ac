/* mini_debug.h: the symbols that some distributions, such as Fedora, leave in a stripped file:
 * in .gnu_debugdata, an ELF file of its own, compressed by xz, that has the functions which
 * the file's dynamic symbols do not name. */
#ifndef SYMBOLIZE_MINI_DEBUG_H
#define SYMBOLIZE_MINI_DEBUG_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mini_debug {
    Elf *elf; /* NULL: there is none */
    uint8_t *bytes;
} mini_debug;

#define MINI_DEBUG_NONE ((mini_debug){0})

/* Inflates `size` bytes, what the section holds. None if they are no such thing, or too large to be
 * one, or when there is no memory. */
mini_debug mini_debug_open(const void *section, size_t size);

void mini_debug_close(mini_debug *mini); /* none is allowed */

#endif
