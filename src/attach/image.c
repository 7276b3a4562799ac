/* image.c: implements image.h. The file is our own library, but it is read as untrusted. */
#include "attach/image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { MOST_SIZE = 1 << 26 };

static bool is_inside(uint64_t at, uint64_t n, uint64_t size) {
    return n <= size && at <= size - n;
}

const unsigned char *image_bytes(const image *i, uint64_t at, uint64_t n) {
    return is_inside(at, n, i->size) ? i->memory + at : NULL;
}

static bool read_file(image *i, const char *path) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0 && status.st_size < MOST_SIZE) {
        i->file = malloc((size_t)status.st_size);
        ssize_t n = i->file ? read(fd, i->file, (size_t)status.st_size) : -1;
        i->file_size = n > 0 ? (size_t)n : 0;
    }
    file_close(fd);
    return i->file_size > 0;
}

static bool read_head(image *i) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)i->file;
    if (i->file_size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_type != ET_DYN ||
        head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phoff % sizeof(uint64_t) ||
        !is_inside(head->e_phoff, head->e_phnum * sizeof(Elf64_Phdr), i->file_size))
        return false;
    i->headers = (const Elf64_Phdr *)(i->file + head->e_phoff);
    i->n_headers = head->e_phnum;
    i->entry = head->e_entry;
    return true;
}

static bool measure(image *i) {
    const uint64_t unit = (uint64_t)sysconf(_SC_PAGESIZE);
    for (size_t j = 0; j < i->n_headers; j++) {
        const Elf64_Phdr *h = &i->headers[j];
        if (h->p_type != PT_LOAD && h->p_type != PT_TLS)
            continue;
        if (h->p_memsz > MOST_SIZE || h->p_vaddr > MOST_SIZE || h->p_filesz > h->p_memsz ||
            !is_inside(h->p_offset, h->p_filesz, i->file_size) ||
            (h->p_vaddr - h->p_offset) % unit != 0)
            return false;
        const uint64_t end = (h->p_vaddr + h->p_memsz + unit - 1) & -unit;
        if (h->p_type == PT_TLS)
            i->tls = *h;
        else
            i->size = end > i->size ? end : i->size;
    }
    return is_inside(i->tls.p_vaddr, i->tls.p_filesz, i->size) && i->entry < i->size;
}

static bool fill(image *i) {
    i->memory = calloc(1, i->size);
    for (size_t j = 0; i->memory && j < i->n_headers; j++) {
        const Elf64_Phdr *h = &i->headers[j];
        if (h->p_type == PT_LOAD)
            memcpy(i->memory + h->p_vaddr, i->file + h->p_offset, h->p_filesz);
    }
    return i->memory;
}

bool image_read(image *i, const char *path) {
    *i = (image){0};
    if (read_file(i, path) && read_head(i) && measure(i) && fill(i))
        return true;
    image_free(i);
    return false;
}

void image_free(image *i) {
    free(i->file);
    free(i->memory);
    *i = (image){0};
}

/* ---- relocation ------------------------------------------------------------------------------ */

static uint64_t dynamic_value(const image *i, int64_t tag) {
    for (size_t j = 0; j < i->n_headers; j++) {
        const Elf64_Phdr *h = &i->headers[j];
        if (h->p_type != PT_DYNAMIC || !is_inside(h->p_vaddr, h->p_memsz, i->size))
            continue;
        Elf64_Dyn d = {.d_tag = DT_DEBUG};
        for (uint64_t at = 0; d.d_tag != DT_NULL && at + sizeof d <= h->p_memsz; at += sizeof d) {
            memcpy(&d, i->memory + h->p_vaddr + at, sizeof d);
            if (d.d_tag == tag)
                return d.d_un.d_val;
        }
    }
    return 0;
}

/* Finds the value of a relocation's symbol. An undefined weak symbol has the value 0. Returns false
 * if the symbol is defined elsewhere. */
static bool find_symbol(const image *i, uint64_t symbols, uint64_t number, uint64_t base,
                        Elf64_Sym *symbol) {
    const unsigned char *at = image_bytes(i, symbols + number * sizeof *symbol, sizeof *symbol);
    if (number == 0) {
        *symbol = (Elf64_Sym){.st_shndx = SHN_ABS};
        return true;
    }
    if (!at)
        return false;
    memcpy(symbol, at, sizeof *symbol);
    if (symbol->st_shndx == SHN_UNDEF) {
        symbol->st_value = 0;
        return ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
    }
    if (ELF64_ST_TYPE(symbol->st_info) != STT_TLS)
        symbol->st_value += base;
    return true;
}

static bool relocate_one(image *i, const Elf64_Rela *r, uint64_t symbols, uint64_t base,
                         int64_t tls) {
    Elf64_Sym symbol;
    uint64_t value;
    if (!is_inside(r->r_offset, sizeof value, i->size) ||
        !find_symbol(i, symbols, ELF64_R_SYM(r->r_info), base, &symbol))
        return false;
    switch (ELF64_R_TYPE(r->r_info)) {
    case R_X86_64_RELATIVE:
        value = base + (uint64_t)r->r_addend;
        break;
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT:
        value = symbol.st_value;
        break;
    case R_X86_64_64:
        value = symbol.st_value + (uint64_t)r->r_addend;
        break;
    case R_X86_64_TPOFF64:
        value = (uint64_t)tls + symbol.st_value + (uint64_t)r->r_addend;
        break;
    default:
        return false;
    }
    memcpy(i->memory + r->r_offset, &value, sizeof value);
    return true;
}

static bool relocate_table(image *i, uint64_t at, uint64_t size, uint64_t base, int64_t tls) {
    const uint64_t symbols = dynamic_value(i, DT_SYMTAB);
    const unsigned char *table = image_bytes(i, at, size);
    for (uint64_t done = 0; table && done + sizeof(Elf64_Rela) <= size;
         done += sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        memcpy(&r, table + done, sizeof r);
        if (!relocate_one(i, &r, symbols, base, tls))
            return false;
    }
    return table;
}

bool image_relocate(image *i, uint64_t base, int64_t tls) {
    return relocate_table(i, dynamic_value(i, DT_RELA), dynamic_value(i, DT_RELASZ), base, tls) &&
           relocate_table(i, dynamic_value(i, DT_JMPREL), dynamic_value(i, DT_PLTRELSZ), base, tls);
}
