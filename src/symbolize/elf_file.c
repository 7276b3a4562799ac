/* elf_file.c: files are read with libelf. Symbols are sorted by address. Of several symbols at one
 * address, the name used in source code is kept. Each symbol stores how far the ones before it
 * extend, since functions may be nested. */
#include "symbolize/elf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open_in.h"
#include "base/vec.h"
#include "symbolize/mini_debug.h"

/* ---- build ids --------------------------------------------------------------------------- */

bool build_id_equal(const build_id *a, const build_id *b) {
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool build_id_parse(build_id *id, const char *digits, size_t n) {
    *id = (build_id){.size = n / 2};
    if (n % 2 || n / 2 > BUILD_ID_MAX)
        return false;
    for (size_t i = 0; i < n; i++) {
        int value = digit_value(digits[i]);
        if (value < 0)
            return false;
        id->bytes[i / 2] = (uint8_t)(id->bytes[i / 2] << 4 | value);
    }
    return true;
}

void build_id_print(const build_id *id, char text[BUILD_ID_TEXT]) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < id->size; i++) {
        *text++ = digits[id->bytes[i] >> 4];
        *text++ = digits[id->bytes[i] & 15];
    }
    *text = '\0';
}

/* ---- files ------------------------------------------------------------------------------- */

static void read_build_id(elf_file *file) {
    const void *bytes;
    ssize_t size = dwelf_elf_gnu_build_id(file->elf, &bytes);
    if (size <= 0 || size > BUILD_ID_MAX)
        return;
    memcpy(file->id.bytes, bytes, (size_t)size);
    file->id.size = (size_t)size;
}

int elf_file_open_fd(elf_file *file, int fd) {
    *file = (elf_file){.fd = fd};
    if (elf_version(EV_CURRENT) != EV_NONE)
        file->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF) {
        elf_file_close(file);
        return ENOEXEC;
    }
    read_build_id(file);
    return 0;
}

/* open_in protects against special files: a trace may name a device whose opening has side
 * effects. */
int elf_file_open(elf_file *file, int root, const char *path) {
    *file = ELF_FILE_CLOSED;
    const int fd = open_in(root, path);
    return fd < 0 ? errno : elf_file_open_fd(file, fd);
}

void elf_file_close(elf_file *file) {
    if (file->elf)
        elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    *file = ELF_FILE_CLOSED;
}

/* Returns the first section with this name or, if `name` is NULL, with this type; NULL if there is
 * none. */
static Elf_Scn *find_section(Elf *elf, uint32_t type, const char *name, GElf_Shdr *header) {
    size_t names;
    if (!elf || elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        if (!gelf_getshdr(section, header))
            continue;
        const char *own = name ? elf_strptr(elf, names, header->sh_name) : NULL;
        if (name ? own && strcmp(own, name) == 0 : header->sh_type == type)
            return section;
    }
    return NULL;
}

bool elf_file_has_section(const elf_file *file, const char *name) {
    GElf_Shdr header;
    return find_section(file->elf, SHT_NULL, name, &header) && header.sh_type != SHT_NOBITS;
}

bool elf_file_has_debug_info(const elf_file *file) {
    return elf_file_has_section(file, ".debug_info") || elf_file_has_section(file, ".zdebug_info");
}

/* ---- symbols ----------------------------------------------------------------------------- */

typedef struct symbol {
    uint64_t start, end; /* end == start: of unknown size, ends where the next symbol begins */
    uint64_t reach;      /* the greatest end among this symbol and all before it */
    const char *name;    /* in the mapped file or in `mini` */
    unsigned preference; /* of several names for one address, the smallest is shown */
} symbol;

struct elf_symbols {
    VEC(symbol) table; /* ascending by start, without duplicates */
    mini_debug mini;   /* owns some of their names */
};

/* Ranks aliases so that the name used in source code comes first: `strdup` before `__strdup`,
 * global before local. */
static unsigned symbol_preference(const GElf_Sym *sym, const char *name) {
    unsigned underscores = (unsigned)strspn(name, "_");
    unsigned local = GELF_ST_BIND(sym->st_info) == STB_LOCAL;
    unsigned untyped = GELF_ST_TYPE(sym->st_info) == STT_NOTYPE;
    bool mangled = strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0;
    return untyped * 1000 + local * 100 + (mangled ? 0 : underscores < 99 ? underscores : 99);
}

/* Whether a symbol names code. Untyped symbols do in assembler, except the marks ($x, $d) that some
 * machines put between code and data. */
static bool is_code(Elf *elf, const GElf_Sym *sym, const char *name) {
    int type = GELF_ST_TYPE(sym->st_info);
    GElf_Shdr header;
    if (sym->st_shndx == SHN_UNDEF || !*name)
        return false;
    if (type == STT_FUNC || type == STT_GNU_IFUNC)
        return true;
    if (type != STT_NOTYPE || name[0] == '$' || name[0] == '.' || sym->st_shndx >= SHN_LORESERVE)
        return false;
    return gelf_getshdr(elf_getscn(elf, sym->st_shndx), &header) &&
           (header.sh_flags & SHF_EXECINSTR);
}

static bool read_table(elf_symbols *symbols, Elf *elf, uint32_t type) {
    GElf_Shdr header;
    Elf_Scn *section = find_section(elf, type, NULL, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    size_t n = data && header.sh_entsize ? data->d_size / header.sh_entsize : 0;
    for (size_t i = 0; i < n && i <= INT_MAX; i++) {
        GElf_Sym sym;
        const char *name =
            gelf_getsym(data, (int)i, &sym) ? elf_strptr(elf, header.sh_link, sym.st_name) : NULL;
        if (!name || !is_code(elf, &sym, name))
            continue;
        symbol s = {.start = sym.st_value,
                    .end = sym.st_value + sym.st_size,
                    .name = name,
                    .preference = symbol_preference(&sym, name)};
        if (!vec_push(&symbols->table, s))
            return false;
    }
    return true;
}

static int compare_symbols(const void *left, const void *right) {
    const symbol *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->preference != b->preference)
        return a->preference < b->preference ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Keeps one symbol for each start, and computes `reach`. */
static void settle_aliases(elf_symbols *symbols) {
    symbol *table = symbols->table.items;
    size_t kept = 0;
    for (size_t i = 0; i < symbols->table.count; i++) {
        if (kept && table[kept - 1].start == table[i].start) {
            if (table[i].end > table[kept - 1].end)
                table[kept - 1].end = table[i].end;
            continue;
        }
        table[kept++] = table[i];
    }
    for (size_t i = 0; i < kept; i++)
        table[i].reach = i && table[i - 1].reach > table[i].end ? table[i - 1].reach : table[i].end;
    symbols->table.count = kept;
}

static mini_debug open_mini(Elf *elf) {
    GElf_Shdr header;
    Elf_Scn *section = find_section(elf, SHT_NULL, ".gnu_debugdata", &header);
    const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    return data && data->d_buf ? mini_debug_open(data->d_buf, data->d_size) : MINI_DEBUG_NONE;
}

/* Reads the symbols left in a stripped file: those for the loader, and those added by the
 * distribution. */
static bool read_stripped(elf_symbols *symbols, Elf *elf) {
    symbols->mini = open_mini(elf);
    return (!symbols->mini.elf || read_table(symbols, symbols->mini.elf, SHT_SYMTAB)) &&
           read_table(symbols, elf, SHT_DYNSYM);
}

elf_symbols *elf_symbols_read(const elf_file *module, const elf_file *debug) {
    elf_symbols *symbols = calloc(1, sizeof *symbols);
    bool ok = symbols && read_table(symbols, module->elf, SHT_SYMTAB);
    if (ok && !symbols->table.count)
        ok = read_table(symbols, debug->elf, SHT_SYMTAB);
    if (ok && !symbols->table.count)
        ok = read_stripped(symbols, module->elf);
    if (!ok) {
        elf_symbols_free(symbols);
        return NULL;
    }
    if (symbols->table.count)
        qsort(symbols->table.items, symbols->table.count, sizeof(symbol), compare_symbols);
    settle_aliases(symbols);
    return symbols;
}

/* Returns the number of symbols that start at or before an address. */
static size_t count_before(const elf_symbols *symbols, uint64_t address) {
    size_t low = 0, high = symbols->table.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->table.items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *elf_symbols_find(const elf_symbols *symbols, uint64_t address, uint64_t *start) {
    size_t i = count_before(symbols, address);
    for (bool nearest = true; i > 0; nearest = false) {
        const symbol *s = &symbols->table.items[--i];
        bool endless = nearest && s->end == s->start;
        if (endless || address < s->end) {
            if (start)
                *start = s->start;
            return s->name;
        }
        if (s->reach <= address)
            return NULL;
    }
    return NULL;
}

size_t elf_symbols_count(const elf_symbols *symbols) {
    return symbols->table.count;
}

const char *elf_symbols_name(const elf_symbols *symbols, size_t i) {
    return symbols->table.items[i].name;
}

void elf_symbols_free(elf_symbols *symbols) {
    if (symbols) {
        vec_free(&symbols->table);
        mini_debug_close(&symbols->mini);
    }
    free(symbols);
}
