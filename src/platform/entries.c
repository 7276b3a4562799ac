/* entries.c: reads the dynamic section in memory. Some loaders have added the load bias to its
 * pointers, others have not; both are handled. */
#include "platform/entries.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/cpu.h"
#include "platform/gnu_hash.h"
#include "platform/pages.h"
#include "platform/syscall.h"

static uintptr_t address_in(const struct module *m, ElfW(Addr) value) {
    return value - m->low < m->high - m->low ? value : value + m->bias;
}

static void read_item(const struct module *m, const ElfW(Dyn) * item, struct entries *e) {
    const uintptr_t address = address_in(m, item->d_un.d_ptr);
    switch (item->d_tag) {
    case DT_STRTAB:
        e->names = (const char *)address;
        break;
    case DT_SYMTAB:
        e->symbols = (const ElfW(Sym) *)address;
        break;
    case DT_GNU_HASH:
        e->hashes = (const uint32_t *)address;
        break;
    case DT_RELA:
        e->tables[0] = (const ElfW(Rela) *)address;
        break;
    case DT_RELASZ:
        e->counts[0] = item->d_un.d_val / sizeof(ElfW(Rela));
        break;
    case DT_JMPREL:
        e->tables[1] = (const ElfW(Rela) *)address;
        break;
    case DT_PLTRELSZ:
        e->counts[1] = item->d_un.d_val / sizeof(ElfW(Rela));
        break;
    default:
        break;
    }
}

static struct entries_sealed find_sealed(const struct module *m) {
    const uintptr_t unit = pages_unit();
    struct entries_sealed sealed = {.low = 0};
    for (size_t i = 0; i < m->header_count; i++)
        if (m->headers[i].p_type == PT_GNU_RELRO) {
            const uintptr_t low = m->headers[i].p_vaddr + m->bias;
            sealed.low = low & ~(unit - 1);
            sealed.high = (low + m->headers[i].p_memsz) & ~(unit - 1);
        }
    return sealed;
}

bool entries_read(const struct module *m, struct entries *e) {
    const ElfW(Dyn) *at = NULL;
    *e = (struct entries){.bias = m->bias, .sealed = find_sealed(m)};
    for (size_t i = 0; i < m->header_count; i++)
        if (m->headers[i].p_type == PT_DYNAMIC)
            at = (const ElfW(Dyn) *)(m->headers[i].p_vaddr + m->bias);
    for (; at && at->d_tag != DT_NULL; at++)
        read_item(m, at, e);
    return e->names && e->symbols;
}

/* An entry with one of these relocations holds the address of a function, and no other entry
 * does. */
static bool is_call_entry(const ElfW(Rela) * r) {
    const unsigned type = (unsigned)ELF64_R_TYPE(r->r_info);
    return type == CPU_RELOCATION_SLOT || type == CPU_RELOCATION_GLOBAL;
}

void entries_each(const struct entries *e, bool calls_first, entries_visit *visit, void *context) {
    for (size_t n = 0; n < 2; n++) {
        const size_t t = calls_first ? 1 - n : n;
        for (size_t i = 0; e->tables[t] && i < e->counts[t]; i++) {
            const ElfW(Rela) *r = &e->tables[t][i];
            if (is_call_entry(r))
                visit(e->names + e->symbols[ELF64_R_SYM(r->r_info)].st_name,
                      (void **)(r->r_offset + e->bias), context);
        }
    }
}

void entries_each_pointer(const struct entries *e, entries_visit *visit, void *context) {
    for (size_t i = 0; e->tables[0] && i < e->counts[0]; i++) {
        const ElfW(Rela) *r = &e->tables[0][i];
        const uintptr_t at = r->r_offset + e->bias;
        if (ELF64_R_TYPE(r->r_info) == CPU_RELOCATION_ADDRESS && r->r_addend == 0 &&
            at % sizeof(void *) == 0)
            visit(e->names + e->symbols[ELF64_R_SYM(r->r_info)].st_name, (void **)at, context);
    }
}

static bool is_export(const struct entries *e, const ElfW(Sym) * s, const char *name) {
    return s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) == STT_FUNC &&
           strcmp(e->names + s->st_name, name) == 0;
}

/* Layout of the GNU hash table: the number of buckets, the index of the first symbol, the number of
 * filter words and a shift; then a Bloom filter, which rejects most names; then the buckets, each
 * of which holds the index of its first symbol; then one hash for each symbol. The lowest bit of a
 * hash marks the end of its bucket. */
uintptr_t entries_export(const struct entries *e, const char *name) {
    enum { HEAD = 4, WORD_BITS = 8 * sizeof(uintptr_t) };
    if (!e->hashes || e->hashes[0] == 0 || e->hashes[2] == 0)
        return 0;
    const uint32_t buckets = e->hashes[0], first = e->hashes[1], words = e->hashes[2],
                   hash = gnu_hash(name);
    const uintptr_t *filter = (const uintptr_t *)(e->hashes + HEAD);
    const uintptr_t word = filter[hash / WORD_BITS % words];
    if (!(word >> hash % WORD_BITS & word >> (hash >> e->hashes[3]) % WORD_BITS & 1))
        return 0;
    const uint32_t *bucket = (const uint32_t *)(filter + words), *chain = bucket + buckets;
    uint32_t i = bucket[hash % buckets];
    if (i < first)
        return 0;
    do {
        if ((chain[i - first] | 1) == (hash | 1) && is_export(e, &e->symbols[i], name))
            return e->symbols[i].st_value + e->bias;
    } while (!(chain[i++ - first] & 1));
    return 0;
}

/* The futex operation ORs 0 to the word, so its value stays, but it fails where the page is
 * read-only. An error of any kind counts as sealed. */
bool entries_are_sealed(const struct entries_sealed *sealed) {
    static uint32_t nobody;
    return sealed->low >= sealed->high ||
           syscall6(SYS_futex, (long)&nobody, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0,
                    (long)sealed->low, FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0)) != 0;
}

bool entries_write(const struct entries_sealed *sealed, void **slot, void *function) {
    const uintptr_t unit = pages_unit(), page = (uintptr_t)slot & ~(unit - 1);
    const bool is_sealed = page >= sealed->low && page < sealed->high;
    if (is_sealed &&
        syscall_failed(syscall4(SYS_mprotect, (long)page, (long)unit, PROT_READ | PROT_WRITE, 0)))
        return false;
    __atomic_store_n(slot, function, __ATOMIC_RELEASE);
    if (is_sealed)
        syscall4(SYS_mprotect, (long)page, (long)unit, PROT_READ, 0);
    return true;
}
