/* dwarf_info.h: from an address to the chain of functions whose code it is, as the DWARF debug
 * information of one file tells it.
 *
 * Owns an index by compilation unit, built for a unit when the first address falls into it. Which
 * file holds the debug information, what the names mean and how paths are shown is left to others.
 * Single-threaded. */
#ifndef SYMBOLIZE_DWARF_INFO_H
#define SYMBOLIZE_DWARF_INFO_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dwarf_info dwarf_info;

/* One function of a chain. Strings live as long as the dwarf_info. */
typedef struct dwarf_frame {
    const char *linkage_name; /* mangled; NULL if the debug information has none */
    const char *name;         /* with its enclosing scopes where there are; NULL if unknown */
    const char *file;         /* as in the debug information; may be NULL */
    const char *folder;       /* to which a relative `file` is relative; may be NULL */
    uint32_t line, column;    /* counted from 1; 0: unknown */
    uint64_t entry;           /* where a function starts that was not inlined, else 0 */
} dwarf_frame;

/* NULL if the file has no (readable) debug information, or when there is no memory. `elf` must
 * outlive the result. */
dwarf_info *dwarf_info_open(Elf *elf);

/* Fills `frames` with the chain at an address (as in the ELF file), outermost first, and returns
 * its length, 0 if there is none; a chain longer than `max` keeps its innermost functions. A chain
 * of one frame may have a line and no name: code in assembler. */
size_t dwarf_info_find(dwarf_info *info, uint64_t address, dwarf_frame *frames, size_t max);

/* Of the addresses so far, the first .dwo file that has their functions but could not be read, and
 * the folder to which it may be relative; NULL if there is none. Its lines alone are known. */
const char *dwarf_info_lost(const dwarf_info *info, const char **folder);

void dwarf_info_close(dwarf_info *info); /* NULL is allowed */

#endif
