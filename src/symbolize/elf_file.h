/* elf_file.h: an ELF file, open for reading: its build id, its symbols, whether it has debug
 * information. What the debug information says is dwarf_info's business; where the separate debug
 * file of a module lies is debug_file's. */
#ifndef SYMBOLIZE_ELF_FILE_H
#define SYMBOLIZE_ELF_FILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX 64 /* bytes; those in use have 8 to 32 */

typedef struct build_id {
    uint8_t bytes[BUILD_ID_MAX];
    size_t size; /* 0: there is none */
} build_id;

bool build_id_equal(const build_id *a, const build_id *b);

/* Reads hexadecimal digits, `n` of them; false if it is something else or too long. */
bool build_id_parse(build_id *id, const char *digits, size_t n);

/* Room for the digits of any build id and a NUL. */
#define BUILD_ID_TEXT (2 * BUILD_ID_MAX + 1)
void build_id_print(const build_id *id, char text[BUILD_ID_TEXT]);

typedef struct elf_file {
    int fd;   /* -1: not open */
    Elf *elf; /* NULL: not open */
    build_id id;
} elf_file;

#define ELF_FILE_CLOSED ((elf_file){.fd = -1})

/* 0, or an errno: ENOEXEC if it is no ELF file. On failure the file is closed. `root`: see
 * base/open_in.h. */
int elf_file_open(elf_file *file, int root, const char *path);
int elf_file_open_fd(elf_file *file, int fd); /* takes the descriptor, also on failure */
void elf_file_close(elf_file *file);          /* a closed one is allowed */

bool elf_file_has_section(const elf_file *file, const char *name);
bool elf_file_has_debug_info(const elf_file *file); /* whether or not it can be read */

/* ---- symbols ----------------------------------------------------------------------------- */

typedef struct elf_symbols elf_symbols;

/* The functions in .symtab of either file, or else in .dynsym of the first and the compressed
 * symbols that it may have beside it (mini_debug.h). NULL when there is no memory; there may be no
 * symbols in it. Either file may be closed; their names stay in use. */
elf_symbols *elf_symbols_read(const elf_file *module, const elf_file *debug);

/* The function at an address, NULL if there is none. `*start` (may be NULL) is its address. */
const char *elf_symbols_find(const elf_symbols *symbols, uint64_t address, uint64_t *start);

/* How many there are, and the names of each in turn. */
size_t elf_symbols_count(const elf_symbols *symbols);
const char *elf_symbols_name(const elf_symbols *symbols, size_t i);

void elf_symbols_free(elf_symbols *symbols); /* NULL is allowed */

#endif
