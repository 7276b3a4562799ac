/* import_module.h: addresses of modules in profiles that only have offsets in files. */
#ifndef IMPORT_IMPORT_MODULE_H
#define IMPORT_IMPORT_MODULE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct import_module {
    uint64_t address;   /* that the linker gave to what is at the offset */
    char build_id[129]; /* in base 16; empty: unknown */
} import_module;

/* Looks at the file, if it is there. Else the address is taken to be the offset. */
void import_module_look(import_module *m, const char *path, uint64_t offset);

/* Where a function is, in the linker's addresses. False, and both 0: the file does not name it. */
bool import_module_function(const char *path, const char *name, uint64_t *start, uint64_t *end);

#endif
