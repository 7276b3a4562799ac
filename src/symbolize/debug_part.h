/* debug_part.h: of a file with compressed debug information, the part that tells of some addresses.
 *
 * libdw inflates every section as a whole, which for a few functions of a C library takes longer
 * than anything else that is done for a short program. Owns a small ELF file in memory: the
 * sections that dwarf_info reads, with the entries up to the last unit that is asked about; all of
 * them if the file is compressed with zstd, which libdw cannot read before version 0.189. */
#ifndef SYMBOLIZE_DEBUG_PART_H
#define SYMBOLIZE_DEBUG_PART_H

#include "symbolize/elf_file.h"

typedef struct debug_part {
    Elf *elf; /* NULL: there is none */
    uint8_t *bytes;
} debug_part;

#define DEBUG_PART_NONE ((debug_part){0})

/* Makes it of an open file, for `n` addresses in ascending order, as in the file. False if nothing
 * is gained, if it cannot be told that the part says the same as the whole, or when there is no
 * memory: the file itself will do. */
bool debug_part_make(debug_part *part, const elf_file *file, const uint64_t *addresses, size_t n);

/* Whether libdw, which has opened the file, goes on without one of these sections as it could not
 * inflate it. Without the strings, for example, inlined functions have lines, and no names. */
bool debug_part_lost(const elf_file *file);

void debug_part_free(debug_part *part); /* none is allowed */

#endif
