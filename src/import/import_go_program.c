/* import_go_program.c: reads a Go program's file: its version, and the addresses of the runtime's
 * variables. */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "import/import_go.h"

static const char *const symbols[] = {
#define GO_VARIABLE_SYMBOL(name, symbol) symbol,
    GO_VARIABLES(GO_VARIABLE_SYMBOL)};

static const go_layout layouts[] = {
    {.first = 19,
     .last = 19,
     .magic = 0xFFFFFFF0,
     .function = 40,
     .call = 20,
     .call_name = 12,
     .call_site = 16,
     .inlined = 38},
    {.first = 20,
     .last = 26,
     .magic = 0xFFFFFFF1,
     .function = 44,
     .call = 16,
     .call_name = 4,
     .call_site = 8,
     .inlined = 40},
};

/* ---- the version --------------------------------------------------------------------------- */

enum { INFO_HEAD = 32, INFO_FLAGS = 15, INFO_INLINE = 2, MOST_VERSION = 127 };

/* Reads the linker's build information: a head, followed by the version as text with its length
 * before it. */
static bool read_version(go_program *p, const Elf_Data *info) {
    static const char magic[] = "\xff Go buildinf:";
    const unsigned char *bytes = info->d_buf;
    if (!bytes || info->d_size <= INFO_HEAD || memcmp(bytes, magic, sizeof magic - 1) != 0 ||
        !(bytes[INFO_FLAGS] & INFO_INLINE))
        return false;
    size_t size = bytes[INFO_HEAD];
    if (size > MOST_VERSION || size > info->d_size - INFO_HEAD - 1)
        return false;
    const char *text = (const char *)bytes + INFO_HEAD + 1;
    if (size > 2 && memcmp(text, "go", 2) == 0) {
        text += 2;
        size -= 2;
    }
    const char *space = memchr(text, ' ', size);
    snprintf(p->version, sizeof p->version, "%.*s", (int)(space ? space - text : (ssize_t)size),
             text);
    return true;
}

static void find_layout(go_program *p) {
    unsigned major = 0, minor = 0;
    p->layout = NULL;
    if (sscanf(p->version, "%u.%u", &major, &minor) != 2 || major != 1)
        return;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (minor >= layouts[i].first && minor <= layouts[i].last)
            p->layout = &layouts[i];
}

/* ---- its file ------------------------------------------------------------------------------ */

static void take_symbol(go_program *p, const char *name, uint64_t value) {
    if (!name || strncmp(name, "runtime.", 8) != 0)
        return;
    for (size_t i = 0; i < GO_N_VARIABLES; i++)
        if (strcmp(name, symbols[i]) == 0)
            p->at[i] = value;
}

static void read_symbols(go_program *p, Elf *elf, Elf_Scn *section, const GElf_Shdr *head) {
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++)
        take_symbol(p, elf_strptr(elf, head->sh_link, symbol.st_name), symbol.st_value);
}

/* Finds the module's data: it begins with the address of the table of functions, which no other
 * variable should contain. */
static void find_module(go_program *p, Elf_Scn *section, const GElf_Shdr *head, uint64_t table) {
    const Elf_Data *data = elf_getdata(section, NULL);
    for (size_t at = 0; data && data->d_buf && at + sizeof table <= data->d_size;
         at += sizeof table) {
        uint64_t word;
        memcpy(&word, (const char *)data->d_buf + at, sizeof word);
        if (word == table && !p->at[GO_MODULE])
            p->at[GO_MODULE] = head->sh_addr + at;
    }
}

static void find_stripped(go_program *p, Elf *elf, uint64_t table) {
    GElf_Shdr head;
    for (Elf_Scn *s = NULL; table && (s = elf_nextscn(elf, s));)
        if (gelf_getshdr(s, &head) && head.sh_type == SHT_PROGBITS && (head.sh_flags & SHF_WRITE))
            find_module(p, s, &head, table);
    p->is_stripped = p->at[GO_MODULE];
}

/* Returns false if it is not a Go program. */
static bool read_sections(go_program *p, Elf *elf) {
    uint64_t table = 0;
    size_t names;
    bool is_go = false;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        GElf_Shdr head;
        const char *name = gelf_getshdr(s, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;
        if (name && strcmp(name, ".go.buildinfo") == 0 && head.sh_type == SHT_PROGBITS) {
            const Elf_Data *info = elf_getdata(s, NULL);
            is_go |= info && read_version(p, info);
        }
        if (name && strcmp(name, ".gopclntab") == 0)
            table = head.sh_addr;
        if (name && head.sh_type == SHT_SYMTAB)
            read_symbols(p, elf, s, &head);
    }
    if (is_go && !p->at[GO_MODULE])
        find_stripped(p, elf, table);
    return is_go;
}

static go_kind refuse(import_error *error, const char *format, const char *text) {
    import_fail(error, 0, format, text);
    return GO_REFUSED;
}

/* `disableMemoryProfiling` may be absent; all other variables are required. */
static go_kind judge(go_program *p, const GElf_Ehdr *head, import_error *error) {
    find_layout(p);
    if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB)
        return refuse(error, "a Go program of %s", "another kind of processor");
    if (!p->layout)
        return refuse(error, "built with Go %s, of which only 1.19 to 1.26 are known", p->version);
    /* A position-independent program has no addresses in its tables before it runs. */
    if (p->is_stripped && head->e_machine == EM_X86_64 && head->e_type == ET_EXEC)
        return GO_KNOWN;
    for (size_t i = 0; i < GO_N_VARIABLES; i++)
        if (!p->at[i] && i != GO_DISABLED)
            return refuse(error, "a stripped Go program (%s), whose profile cannot be found",
                          p->version);
    return GO_KNOWN;
}

go_kind go_program_find(go_program *p, int file, import_error *error) {
    GElf_Ehdr head;
    go_kind kind = GO_NONE;
    *p = (go_program){.layout = NULL};
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &head) && read_sections(p, elf)) {
        p->entry = head.e_entry;
        kind = judge(p, &head, error);
    }
    elf_end(elf);
    return kind;
}

void go_program_move(go_program *p, uint64_t entry) {
    for (size_t i = 0; i < GO_N_VARIABLES; i++)
        if (p->at[i])
            p->at[i] += entry - p->entry;
    p->entry = entry;
}

/* ---- its sampling -------------------------------------------------------------------------- */

enum { GO_PERIOD = 512 * 1024 };

/* Whether the variables have the values expected before the program begins. If not, they are not
 * these variables, and are not changed. */
static bool are_as_linked(const go_program *p, int memory, uint64_t *period) {
    unsigned char disabled = 0;
    return file_read_at(memory, period, sizeof *period, p->at[GO_RATE]) == 0 &&
           (*period == 0 || *period == GO_PERIOD) &&
           (!p->at[GO_DISABLED] ||
            file_read_at(memory, &disabled, sizeof disabled, p->at[GO_DISABLED]) == 0) &&
           disabled <= 1;
}

bool go_program_enable(const go_program *p, int memory, uint64_t *bytes, import_error *error) {
    const unsigned char no = 0;
    uint64_t period;
    if (!are_as_linked(p, memory, &period))
        return import_fail(error, 0, "its runtime's variables are not those of Go %s", p->version);
    const bool is_fixed = period == 0; /* the value is set when variables are initialized */
    if ((p->at[GO_DISABLED] && file_write_at(memory, &no, sizeof no, p->at[GO_DISABLED]) != 0) ||
        (*bytes && !is_fixed && file_write_at(memory, bytes, sizeof *bytes, p->at[GO_RATE]) != 0))
        return import_fail(error, 0, "its memory cannot be written");
    if (!*bytes || is_fixed)
        *bytes = GO_PERIOD;
    return true;
}
