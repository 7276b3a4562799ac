/* import_module.c: looks up an address in a module's file on this machine: the linker's address of
 * it, and the build id. The file may have been replaced by anything. */
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "import/import_module.h"

enum { MOST_HEADERS = 64, MOST_NOTES = 4096, MOST_ID = 64 };

static void find_id(import_module *m, const unsigned char *notes, size_t size) {
    for (size_t at = 0; size - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr note;
        memcpy(&note, notes + at, sizeof note);
        at += sizeof note;
        const size_t name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
        const size_t bytes = ((size_t)note.n_descsz + 3) & ~(size_t)3;
        if (name > size - at || bytes > size - at - name)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= MOST_ID &&
            memcmp(notes + at, "GNU", 4) == 0) {
            for (size_t i = 0; i < note.n_descsz; i++)
                snprintf(m->build_id + 2 * i, 3, "%02x", notes[at + name + i]);
            return;
        }
        at += name + bytes;
    }
}

static void read_notes(import_module *m, int fd, const Elf64_Phdr *header) {
    unsigned char notes[MOST_NOTES];
    const size_t size = header->p_filesz < sizeof notes ? header->p_filesz : sizeof notes;
    if (!*m->build_id && file_read_at(fd, notes, size, header->p_offset) == 0)
        find_id(m, notes, size);
}

void import_module_look(import_module *m, const char *path, uint64_t offset) {
    Elf64_Ehdr head;
    Elf64_Phdr headers[MOST_HEADERS];
    *m = (import_module){.address = offset};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    if (file_read_at(fd, &head, sizeof head, 0) == 0 &&
        memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
        head.e_phentsize == sizeof *headers && head.e_phnum <= MOST_HEADERS &&
        file_read_at(fd, headers, head.e_phnum * sizeof *headers, head.e_phoff) == 0)
        for (size_t i = 0; i < head.e_phnum; i++) {
            const Elf64_Phdr *h = &headers[i];
            if (h->p_type == PT_NOTE)
                read_notes(m, fd, h);
            else if (h->p_type == PT_LOAD && offset >= h->p_offset &&
                     offset - h->p_offset < h->p_filesz)
                m->address = offset - h->p_offset + h->p_vaddr;
        }
    close(fd);
}

static bool find_symbol(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *name,
                        GElf_Sym *found) {
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t n = data && header->sh_entsize > 0 ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < n && gelf_getsym(data, (int)i, found); i++) {
        const char *text = elf_strptr(elf, header->sh_link, found->st_name);
        if (text && found->st_size > 0 && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

bool import_module_function(const char *path, const char *name, uint64_t *start, uint64_t *end) {
    bool is_found = false;
    GElf_Shdr header;
    GElf_Sym symbol;
    *start = *end = 0;
    elf_version(EV_CURRENT);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    for (Elf_Scn *at = NULL; elf && !is_found && (at = elf_nextscn(elf, at));)
        if (gelf_getshdr(at, &header) &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            is_found = find_symbol(elf, at, &header, name, &symbol);
    if (is_found) {
        *start = symbol.st_value;
        *end = symbol.st_value + symbol.st_size;
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return is_found;
}
