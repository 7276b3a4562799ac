/* dwarf_info.h: finds the chain of functions at an address, from the DWARF debug information of a
 * file.
 *
 * Owns an index by compilation unit, built when the first address falls into the unit. Other
 * modules find the file with the debug information, decode names and display paths.
 * Single-threaded. */
#ifndef SYMBOLIZE_DWARF_INFO_H
#define SYMBOLIZE_DWARF_INFO_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dwarf_info dwarf_info;

/* One function of a chain. Strings are valid until dwarf_info_close. */
typedef struct dwarf_frame {
    const char *linkage_name; /* mangled; NULL if the debug information has none */
    const char *name;         /* with its enclosing scopes, if known; NULL if unknown */
    const char *file;         /* as in the debug information; may be NULL */
    const char *folder;       /* base of a relative `file`; may be NULL */
    uint32_t line, column;    /* counted from 1; 0: unknown */
    uint64_t entry;           /* start of a function that was not inlined, otherwise 0 */
} dwarf_frame;

/* Returns NULL if the file has no (readable) debug information, or when out of memory. `elf` must
 * outlive the result. */
dwarf_info *dwarf_info_open(Elf *elf);

/* Fills `frames` with the chain of functions at an address (as in the ELF file), outermost first.
 * Returns the length, 0 if there is none. A chain longer than `max` keeps its innermost functions.
 * A chain of one frame may have a line but no name: assembler code. */
size_t dwarf_info_find(dwarf_info *info, uint64_t address, dwarf_frame *frames, size_t max);

/* Returns the first .dwo file needed so far that could not be read, and in `*folder` the base of
 * its path. NULL if there is none. Without it, only lines are known. */
const char *dwarf_info_lost(const dwarf_info *info, const char **folder);

void dwarf_info_close(dwarf_info *info); /* NULL is allowed */

#endif
