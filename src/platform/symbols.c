/* symbols.c: implements symbols.h. Tables are read into memory rather than mapped: a file that
 * shrinks while it is mapped would kill the process. */
#include "platform/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#include "base/hot.h"
#include "platform/pages.h"
#include "platform/syscall.h"

enum { MOST_TABLE = 1 << 28 }; /* bytes */

/* A part of the file, in memory of its own. */
struct part {
    void *bytes;
    size_t size;
};

static void part_free(struct part *p) {
    pages_free(p->bytes, p->size);
    *p = (struct part){0};
}

HOT_CODE static bool read_at(long fd, void *to, size_t size, uint64_t offset) {
    for (size_t done = 0; done < size;) {
        const long n = syscall4(SYS_pread64, fd, (long)((char *)to + done), (long)(size - done),
                                (long)(offset + done));
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static struct part read_part(long fd, uint64_t offset, uint64_t size) {
    struct part p = {.size = (size_t)size};
    if (size == 0 || size > MOST_TABLE || offset > INT64_MAX - size)
        return (struct part){0};
    p.bytes = pages_alloc(p.size);
    if (p.bytes && !read_at(fd, p.bytes, p.size, offset))
        part_free(&p);
    return p.bytes ? p : (struct part){0};
}

/* Returns whether the symbol is static in its source file. Linkers turn hidden names into local
 * ones, too, but leave their visibility as it was. */
static bool is_local(const ElfW(Sym) * s) {
    return ELF64_ST_BIND(s->st_info) == STB_LOCAL &&
           ELF64_ST_VISIBILITY(s->st_other) == STV_DEFAULT;
}

typedef void visit_symbol(const struct symbol *, void *);

static void visit_all(const struct part *symbols, const struct part *names, visit_symbol *visit,
                      void *context) {
    const char *const text = names->bytes;
    const size_t n = symbols->size / sizeof(ElfW(Sym));
    if (text[names->size - 1] != '\0')
        return;
    for (size_t i = 0; i < n; i++) {
        const ElfW(Sym) *s = (const ElfW(Sym) *)symbols->bytes + i;
        if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF &&
            s->st_name < names->size)
            visit(&(struct symbol){.name = text + s->st_name,
                                   .value = s->st_value,
                                   .size = s->st_size,
                                   .is_local = is_local(s)},
                  context);
    }
}

HOT_CODE static const ElfW(Shdr) *
    find_section(const ElfW(Shdr) * sections, size_t n, uint32_t type) {
    for (size_t i = 0; i < n; i++)
        if (sections[i].sh_type == type && sections[i].sh_link < n)
            return &sections[i];
    return NULL;
}

static bool visit_table(long fd, const ElfW(Shdr) * sections, size_t n, uint32_t type,
                        visit_symbol *visit, void *context) {
    const ElfW(Shdr) *table = find_section(sections, n, type);
    if (!table || table->sh_entsize != sizeof(ElfW(Sym)))
        return false;
    const ElfW(Shdr) *texts = &sections[table->sh_link];
    struct part symbols = read_part(fd, table->sh_offset, table->sh_size);
    struct part names = read_part(fd, texts->sh_offset, texts->sh_size);
    const bool found = symbols.bytes && names.bytes;
    if (found)
        visit_all(&symbols, &names, visit, context);
    part_free(&symbols);
    part_free(&names);
    return found;
}

/* Handles the sections of a file. */
typedef bool visit_sections(long fd, const ElfW(Ehdr) * head, const ElfW(Shdr) * sections,
                            void *context);

/* Opens a file, reads its section headers and calls the visit. Returns the visit's result, or false
 * if the file cannot be read. Few programs have many sections, so the headers mostly fit on the
 * stack. */
HOT_CODE static bool open_sections(const char *path, visit_sections *visit, void *context) {
    enum { FEW = 48 };
    ElfW(Shdr) few[FEW];
    ElfW(Ehdr) head;
    struct part many = {0};
    bool found = false;
    const long fd = syscall4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
    if (syscall_failed(fd))
        return false;
    if (read_at(fd, &head, sizeof head, 0) && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
        head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_shentsize == sizeof *few) {
        const size_t size = head.e_shnum * sizeof *few;
        if (head.e_shnum <= FEW)
            found = read_at(fd, few, size, head.e_shoff) && visit(fd, &head, few, context);
        else if ((many = read_part(fd, head.e_shoff, size)).bytes)
            found = visit(fd, &head, many.bytes, context);
    }
    part_free(&many);
    syscall4(SYS_close, fd, 0, 0, 0);
    return found;
}

struct table_visit {
    uint32_t type;
    visit_symbol *visit;
    void *context;
};

HOT_CODE static bool visit_one_table(long fd, const ElfW(Ehdr) * head, const ElfW(Shdr) * sections,
                                     void *context) {
    const struct table_visit *t = context;
    return visit_table(fd, sections, head->e_shnum, t->type, t->visit, t->context);
}

/* Visits the table of this type. Returns false if the file has none. */
HOT_CODE static bool visit_file(const char *path, uint32_t type, visit_symbol *visit,
                                void *context) {
    return open_sections(path, visit_one_table, &(struct table_visit){type, visit, context});
}

struct section_search {
    const char *name;
    uintptr_t start, end;
};

static bool search_section(long fd, const ElfW(Ehdr) * head, const ElfW(Shdr) * sections,
                           void *context) {
    struct section_search *s = context;
    const size_t n = head->e_shnum, size = strlen(s->name) + 1;
    if (head->e_shstrndx >= n)
        return false;
    const struct part names =
        read_part(fd, sections[head->e_shstrndx].sh_offset, sections[head->e_shstrndx].sh_size);
    struct part freed = names;
    for (size_t i = 0; i < n && names.bytes && !s->start; i++) {
        const ElfW(Shdr) *h = &sections[i];
        if (h->sh_flags & SHF_ALLOC && h->sh_name < names.size && size <= names.size - h->sh_name &&
            memcmp((const char *)names.bytes + h->sh_name, s->name, size) == 0) {
            s->start = h->sh_addr;
            s->end = h->sh_addr + h->sh_size;
        }
    }
    part_free(&freed);
    return s->start != 0;
}

bool symbols_section(const char *path, const char *name, uintptr_t *start, uintptr_t *end) {
    struct section_search s = {.name = name};
    const bool found = open_sections(path, search_section, &s);
    *start = s.start;
    *end = s.end;
    return found;
}

struct code_search {
    uintptr_t value;
    const uint8_t *code;
    size_t size;
};

static bool is_same_code(long fd, uint64_t offset, const uint8_t *code, size_t size) {
    uint8_t bytes[512];
    for (size_t done = 0, n; done < size; done += n) {
        n = size - done < sizeof bytes ? size - done : sizeof bytes;
        if (!read_at(fd, bytes, n, offset + done) || memcmp(bytes, code + done, n) != 0)
            return false;
    }
    return true;
}

static bool search_code(long fd, const ElfW(Ehdr) * head, const ElfW(Shdr) * sections,
                        void *context) {
    const struct code_search *s = context;
    for (size_t i = 0; i < head->e_shnum; i++) {
        const ElfW(Shdr) *h = &sections[i];
        if (h->sh_type == SHT_PROGBITS && (h->sh_flags & SHF_EXECINSTR) && s->value >= h->sh_addr &&
            s->value - h->sh_addr <= h->sh_size && s->size <= h->sh_size - (s->value - h->sh_addr))
            return is_same_code(fd, h->sh_offset + (s->value - h->sh_addr), s->code, s->size);
    }
    return false;
}

bool symbols_have_code(const char *path, uintptr_t value, const uint8_t *code, size_t size) {
    return open_sections(path, search_code, &(struct code_search){value, code, size});
}

/* Writes the path where distributions put the debug information that they strip from programs. */
static bool debug_path(const unsigned char *id, size_t size, char path[PATH_MAX]) {
    static const char folder[] = "/usr/lib/debug/.build-id/", ending[] = ".debug";
    char *at = path + sizeof folder - 1;
    if (size < 2 || size > 64)
        return false;
    memcpy(path, folder, sizeof folder);
    for (size_t i = 0; i < size; i++) {
        *at++ = "0123456789abcdef"[id[i] >> 4];
        *at++ = "0123456789abcdef"[id[i] & 15];
        if (i == 0)
            *at++ = '/';
    }
    memcpy(at, ending, sizeof ending);
    return true;
}

HOT_CODE bool symbols_each(const char *path, const unsigned char *build_id, size_t build_id_size,
                           visit_symbol *visit, void *context) {
    char debug[PATH_MAX];
    return visit_file(path, SHT_SYMTAB, visit, context) ||
           (build_id && debug_path(build_id, build_id_size, debug) &&
            visit_file(debug, SHT_SYMTAB, visit, context)) ||
           visit_file(path, SHT_DYNSYM, visit, context);
}
