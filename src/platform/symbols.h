/* symbols.h: the functions named in an ELF file, including those that the dynamic loader does not
 * know. Reads the file and trusts nothing in it. Takes memory from the kernel, no locks; errno may
 * change. */
#ifndef PLATFORM_SYMBOLS_H
#define PLATFORM_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
    const char *name; /* valid until the visit returns */
    uintptr_t value;  /* address in the ELF file */
    size_t size;      /* size of its code, bytes */
    bool is_local;    /* the name is local to one source file */
};

/* Visits the functions that the file defines. They are read from its .symtab; if that is missing,
 * from the .symtab of its debug information file, found by `build_id`; or else from its .dynsym.
 * Returns false if there are none, or if the file cannot be read. */
bool symbols_each(const char *path, const unsigned char *build_id, size_t build_id_size,
                  void (*visit)(const struct symbol *, void *), void *context);

/* Returns whether the file has exactly this code at the address `value` in the ELF file. */
bool symbols_have_code(const char *path, uintptr_t value, const uint8_t *code, size_t size);

/* Finds the section of this name, as addresses in the ELF file. Returns false if there is none, or
 * if it is not loaded into memory. */
bool symbols_section(const char *path, const char *name, uintptr_t *start, uintptr_t *end);

#endif
