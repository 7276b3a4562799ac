/* elf_file.h: an ELF file open for reading: its build id, its symbols, and whether it has debug
 * information. dwarf_info reads the debug information; debug_file finds the separate debug file of
 * a module. */
#ifndef SYMBOLIZE_ELF_FILE_H
#define SYMBOLIZE_ELF_FILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX 64 /* bytes; 8 to 32 are in use */

typedef struct build_id {
    uint8_t bytes[BUILD_ID_MAX];
    size_t size; /* 0: none */
} build_id;

bool build_id_equal(const build_id *a, const build_id *b);

/* Parses `n` hexadecimal digits. Returns false if they are something else, or too many. */
bool build_id_parse(build_id *id, const char *digits, size_t n);

/* Size of the text of any build id, with a NUL. */
#define BUILD_ID_TEXT (2 * BUILD_ID_MAX + 1)
void build_id_print(const build_id *id, char text[BUILD_ID_TEXT]);

typedef struct elf_file {
    int fd;   /* -1: not open */
    Elf *elf; /* NULL: not open */
    build_id id;
} elf_file;

#define ELF_FILE_CLOSED ((elf_file){.fd = -1})

/* Returns 0 or an errno: ENOEXEC if it is not an ELF file. On failure, the file is closed. `root`:
 * see base/open_in.h. */
int elf_file_open(elf_file *file, int root, const char *path);
/* Takes ownership of the descriptor, also on failure. */
int elf_file_open_fd(elf_file *file, int fd);
void elf_file_close(elf_file *file); /* a closed file is allowed */

bool elf_file_has_section(const elf_file *file, const char *name);
bool elf_file_has_debug_info(const elf_file *file); /* readable or not */

/* ---- symbols ----------------------------------------------------------------------------- */

typedef struct elf_symbols elf_symbols;

/* Reads the functions in .symtab of either file or, if there are none, those in .dynsym of the
 * module and in its compressed symbols (mini_debug.h). Returns NULL when out of memory; the result
 * may be empty. Either file may be closed. An open one must stay open, because the names are used
 * in place. */
elf_symbols *elf_symbols_read(const elf_file *module, const elf_file *debug);

/* Returns the function at an address, or NULL. `*start` (may be NULL) receives the function's
 * address. */
const char *elf_symbols_find(const elf_symbols *symbols, uint64_t address, uint64_t *start);

/* The number of symbols, and the name of each. */
size_t elf_symbols_count(const elf_symbols *symbols);
const char *elf_symbols_name(const elf_symbols *symbols, size_t i);

void elf_symbols_free(elf_symbols *symbols); /* NULL is allowed */

#endif
