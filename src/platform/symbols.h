/* symbols.h: the functions that an ELF file names, also those that the dynamic loader does not
 * know. Reads the file; nothing in it is trusted. Memory from the kernel, no locks, errno may
 * change. */
#ifndef PLATFORM_SYMBOLS_H
#define PLATFORM_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
    const char *name; /* until the visit ends */
    uintptr_t value;  /* the address in the ELF file */
    size_t size;      /* bytes of its code */
    bool is_static;   /* the name is of one source file alone */
};

/* Visits the functions that the file defines: by its .symtab, or if that is missing by that of its
 * file of debug information, found by `build_id`, or else by its .dynsym. False: there are none, or
 * the file cannot be read. */
bool symbols_each(const char *path, const unsigned char *build_id, size_t build_id_size,
                  void (*visit)(const struct symbol *, void *), void *context);

/* Is this the code that the file has for an address in the ELF file? */
bool symbols_have_code(const char *path, uintptr_t value, const uint8_t *code, size_t size);

/* Where the file says that a section of this name is in memory, as addresses in the ELF file.
 * False: it has none, or it is not in memory. */
bool symbols_section(const char *path, const char *name, uintptr_t *start, uintptr_t *end);

#endif
