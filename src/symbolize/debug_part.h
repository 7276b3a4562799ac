/* debug_part.h: extracts the part of compressed debug information that describes given addresses.
 *
 * libdw decompresses each section as a whole. For a few functions of a C library, that takes longer
 * than everything else done for a short program. This module makes a small ELF file in memory
 * instead: the sections that dwarf_info reads, with the entries up to the last unit needed. If the
 * file is compressed with zstd, which libdw cannot read before version 0.189, it has all
 * entries. */
#ifndef SYMBOLIZE_DEBUG_PART_H
#define SYMBOLIZE_DEBUG_PART_H

#include "symbolize/elf_file.h"

typedef struct debug_part {
    Elf *elf; /* NULL if there is no part */
    uint8_t *bytes;
} debug_part;

#define DEBUG_PART_NONE ((debug_part){0})

/* Makes the part of an open file for `n` addresses, in ascending order and as in the file. Returns
 * false if that gains nothing, if the part might say less than the whole, or when out of memory:
 * use the file itself then. */
bool debug_part_make(debug_part *part, const elf_file *file, const uint64_t *addresses, size_t n);

/* Whether libdw, having opened the file, ignores one of these sections because it could not
 * decompress it. Without the strings, for example, inlined functions have lines but no names. */
bool debug_part_lost(const elf_file *file);

void debug_part_free(debug_part *part); /* DEBUG_PART_NONE is allowed */

#endif
