/* import_module.h: addresses in modules, for profiles that only have offsets in files. */
#ifndef IMPORT_IMPORT_MODULE_H
#define IMPORT_IMPORT_MODULE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct import_module {
    uint64_t address;   /* the linker's address of the given offset */
    char build_id[129]; /* in hexadecimal; empty: unknown */
} import_module;

/* Looks at the file. If it does not exist, the address is the offset. */
void import_module_look(import_module *m, const char *path, uint64_t offset);

/* Finds the range of a function, in the linker's addresses. Returns false and sets both to 0 if the
 * file does not name it. */
bool import_module_function(const char *path, const char *name, uint64_t *start, uint64_t *end);

#endif
