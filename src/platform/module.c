/* module.c: implements module.h. Everything about an object comes from its program headers in
 * memory. */
#include "platform/module.h"

#include <elf.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "base/hot.h"
#include "platform/loader.h"
#include "platform/maps.h"
#include "platform/syscall.h"
#include "platform/tables.h"

HOT_CODE static uintptr_t segment_start(const struct module *module, const ElfW(Phdr) * header) {
    return module->bias + header->p_vaddr;
}

HOT_CODE static uintptr_t segment_end(const struct module *module, const ElfW(Phdr) * header) {
    return module->bias + header->p_vaddr + header->p_memsz;
}

HOT_CODE bool module_segment(const struct module *module, uintptr_t address, uintptr_t *low,
                             uintptr_t *high) {
    for (size_t i = 0; i < module->header_count; i++) {
        const ElfW(Phdr) *header = &module->headers[i];
        *low = segment_start(module, header);
        *high = segment_end(module, header);
        if (header->p_type == PT_LOAD && header->p_flags & PF_R && address >= *low &&
            address < *high)
            return true;
    }
    return false;
}

HOT_CODE static size_t note_padded(size_t size, size_t align) {
    return (size + align - 1) & ~(align - 1);
}

/* Looks for the build id among the notes of one PT_NOTE segment. */
HOT_CODE static void module_read_notes(struct module *module, const ElfW(Phdr) * header) {
    uintptr_t at = segment_start(module, header), end = segment_end(module, header), low, high;
    size_t align = header->p_align == 8 ? 8 : 4;
    if (end < at || !module_segment(module, at, &low, &high) || end > high)
        return;
    while (end - at >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        size_t name_size = note_padded(note->n_namesz, align);
        size_t size = sizeof *note + name_size + note_padded(note->n_descsz, align);
        if (size > end - at)
            return;
        const unsigned char *name = (const unsigned char *)(note + 1);
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof ELF_NOTE_GNU &&
            memcmp(name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
            module->build_id = name + name_size;
            module->build_id_size = note->n_descsz;
        }
        at += size;
    }
}

HOT_CODE static void module_add_load(struct module *module, const ElfW(Phdr) * header,
                                     uintptr_t pc) {
    uintptr_t start = segment_start(module, header), end = segment_end(module, header);
    if (start < module->low)
        module->low = start;
    if (end > module->high)
        module->high = end;
    bool holds_pc = pc >= start && pc < end;
    if (header->p_flags & PF_X && (holds_pc || !module->text_high)) {
        module->text_low = start;
        module->text_high = end;
    }
}

/* Fills in the fields that follow from bias, name and headers. */
HOT_CODE static void module_describe(struct module *module, uintptr_t pc) {
    module->low = UINTPTR_MAX;
    for (size_t i = 0; i < module->header_count; i++) {
        const ElfW(Phdr) *header = &module->headers[i];
        if (header->p_type == PT_LOAD) {
            module_add_load(module, header, pc);
        } else if (header->p_type == PT_GNU_EH_FRAME) {
            module->eh_frame_hdr = segment_start(module, header);
            module->eh_frame_hdr_end = segment_end(module, header);
        } else if (header->p_type == PT_NOTE && !module->build_id) {
            module_read_notes(module, header);
        }
    }
    if (!module->eh_frame_hdr) {
        module->eh_frame_hdr = tables_find(module->low, &module->eh_frame_hdr_end);
        module->eh_frame_hdr_is_made = module->eh_frame_hdr != 0;
    }
}

HOT_CODE static struct module module_of_info(const struct dl_phdr_info *info, uintptr_t pc) {
    struct module module = {
        .bias = info->dlpi_addr,
        .name = info->dlpi_name,
        .headers = info->dlpi_phdr,
        .header_count = info->dlpi_phnum,
    };
    module_describe(&module, pc);
    return module;
}

static bool module_executes(const struct module *module, uintptr_t pc) {
    return pc >= module->text_low && pc < module->text_high;
}

struct module_search {
    uintptr_t pc;
    struct module *out;
};

static int module_search_one(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    struct module_search *search = context;
    *search->out = module_of_info(info, search->pc);
    return module_executes(search->out, search->pc);
}

static bool module_find_iterating(uintptr_t pc, struct module *out) {
    struct module_search search = {.pc = pc, .out = out};
    return dl_iterate_phdr(module_search_one, &search) != 0;
}

static bool module_holds(const struct module *module, uintptr_t address) {
    return address >= module->low && address < module->high;
}

bool module_is_permanent(const struct module *module) {
    return !module->name[0] || module_holds(module, (uintptr_t)module_find) ||
           module_holds(module, (uintptr_t)dl_iterate_phdr);
}

static struct {
    uintptr_t low;
    size_t size;
} starts[4];

void module_add_start(uintptr_t function, size_t size) {
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (!starts[i].size) {
            starts[i].low = function;
            starts[i].size = size;
            return;
        }
}

bool module_starts_process(const struct module *module, uintptr_t pc) {
    enum { CODE_SIZE = 128 }; /* bytes; _start or _dl_start_user has 64 in glibc 2.36, x86-64 */
    uintptr_t low, high;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (pc - starts[i].low < starts[i].size)
            return true;
    if (module->bias == 0 || module->bias != getauxval(AT_BASE) ||
        !module_segment(module, module->low, &low, &high) || high - low < sizeof(ElfW(Ehdr)))
        return false;
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)low;
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
           pc - (module->bias + head->e_entry) < CODE_SIZE;
}

static _Atomic uint32_t unloading; /* number of calls under way that may unload modules */

void module_unloading(bool begins) {
    atomic_fetch_add(&unloading, begins ? 1 : UINT32_MAX);
}

/* Returns whether the build id still begins with these bytes. Its memory may be unmapped. */
static bool build_id_stands(const unsigned char *build_id, uint64_t start) {
    uint32_t words[2];
    memcpy(words, &start, sizeof words);
    return maps_compare((uintptr_t)build_id, words[0]) == MAPS_WORD_SAME &&
           maps_compare((uintptr_t)build_id + sizeof *words, words[1]) == MAPS_WORD_SAME;
}

/* Returns whether the build id begins with these bytes. Its memory must be mapped, unless a module
 * is just being unloaded. */
static bool build_id_is(const unsigned char *build_id, uint64_t start) {
    uint64_t now;
    if (__builtin_expect(atomic_load(&unloading) != 0, 0))
        return build_id_stands(build_id, start);
    memcpy(&now, build_id, sizeof now);
    return now == start;
}

static uint64_t build_id_start(const unsigned char *build_id, size_t size) {
    uint64_t start = 0;
    if (build_id)
        memcpy(&start, build_id, size < sizeof start ? size : sizeof start);
    return start;
}

struct module_identity module_identify(const struct module *module) {
    return (struct module_identity){
        .low = module->low,
        .high = module->high,
        .text_low = module->text_low,
        .eh_frame_hdr = module->eh_frame_hdr,
        .build_id = module->build_id,
        .build_id_start = build_id_start(module->build_id, module->build_id_size),
    };
}

/* ---- lock-free queries to the loader --------------------------------------------------------- */

LIBC_MAY_LACK(_dl_find_object); /* missing before glibc 2.35 */

/* Reads the ELF header. The program headers must follow it in the first page of the object. */
static bool module_read_elf_header(struct module *module, uintptr_t start, uintptr_t end) {
    const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)start;
    if (end - start < sizeof *elf || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    size_t size = (size_t)elf->e_phnum * sizeof(ElfW(Phdr));
    if (elf->e_phentsize != sizeof(ElfW(Phdr)) || elf->e_phoff > getauxval(AT_PAGESZ) ||
        elf->e_phoff + size > end - start)
        return false;
    module->headers = (const ElfW(Phdr) *)(start + elf->e_phoff);
    module->header_count = elf->e_phnum;
    return true;
}

HOT_CODE static bool module_find_asking(uintptr_t pc, struct module *out) {
    struct dl_find_object found;
    if (_dl_find_object((void *)pc, &found) != 0)
        return false;
    *out =
        (struct module){.bias = found.dlfo_link_map->l_addr, .name = found.dlfo_link_map->l_name};
    if (!module_read_elf_header(out, (uintptr_t)found.dlfo_map_start,
                                (uintptr_t)found.dlfo_map_end))
        return module_find_iterating(pc, out);
    module_describe(out, pc);
    return module_executes(out, pc);
}

static bool module_persists_in_detail(const struct module_identity *identity) {
    struct module module;
    if (!module_find(identity->text_low, &module))
        return false;
    struct module_identity now = module_identify(&module);
    return memcmp(&now, identity, sizeof now) == 0;
}

/* If the loader's data are unchanged, then the first page is readable, and linkers put the build id
 * there. */
static bool module_persists_asking(const struct module_identity *identity) {
    struct dl_find_object found;
    uintptr_t build_id = (uintptr_t)identity->build_id, page = getauxval(AT_PAGESZ);
    bool id_in_first_page = build_id >= identity->low &&
                            build_id - identity->low <= page - sizeof identity->build_id_start;
    if (!id_in_first_page)
        return module_persists_in_detail(identity);
    return _dl_find_object((void *)identity->text_low, &found) == 0 &&
           (uintptr_t)found.dlfo_map_start <= identity->low &&
           (uintptr_t)found.dlfo_eh_frame == identity->eh_frame_hdr &&
           build_id_is(identity->build_id, identity->build_id_start);
}

/* ---- our own table of modules, for loaders that answer only under their lock ---------------- */

/* A table of modules found before. An entry is valid as long as the module's build id is unchanged
 * in memory. `turn` is a sequence lock: 0 in an entry never written, odd while a thread writes,
 * increased by 2 with each write. */
static struct known {
    _Atomic uint32_t turn;
    struct module module;
    uint64_t build_id_start;
} known[256];

static bool known_read(const struct known *k, uint32_t turn, struct module *out, uint64_t *start) {
    *out = k->module;
    *start = k->build_id_start;
    atomic_thread_fence(memory_order_acquire);
    return turn % 2 == 0 && atomic_load_explicit(&k->turn, memory_order_relaxed) == turn;
}

static bool known_find(uintptr_t pc, struct module *out) {
    uint64_t start;
    uint32_t turn;
    for (const struct known *k = known; k < known + sizeof known / sizeof *known; k++) {
        if ((turn = atomic_load_explicit(&k->turn, memory_order_acquire)) == 0)
            break;
        if (known_read(k, turn, out, &start) && module_holds(out, pc) &&
            build_id_stands(out->build_id, start)) {
            module_describe(out, pc);
            return module_executes(out, pc);
        }
    }
    return false;
}

static bool modules_overlap(const struct module *a, const struct module *b) {
    return a->low < b->high && b->low < a->high;
}

/* Adds a module. It replaces an entry whose addresses it overlaps: that module must have been
 * unloaded. */
static void known_add(const struct module *module) {
    if (module->build_id_size < sizeof(uint64_t))
        return;
    for (struct known *k = known; k < known + sizeof known / sizeof *known; k++) {
        uint32_t turn = atomic_load_explicit(&k->turn, memory_order_acquire);
        if (turn % 2 != 0 || (turn && !modules_overlap(&k->module, module)))
            continue;
        if (!atomic_compare_exchange_strong(&k->turn, &turn, turn + 1))
            return;
        k->module = *module;
        k->build_id_start = build_id_start(module->build_id, module->build_id_size);
        atomic_store_explicit(&k->turn, turn + 2, memory_order_release);
        return;
    }
}

static bool module_find_known(uintptr_t pc, struct module *out) {
    if (known_find(pc, out))
        return true;
    if (!module_find_iterating(pc, out))
        return false;
    known_add(out);
    return true;
}

static bool module_persists_known(const struct module_identity *identity) {
    return identity->build_id ? build_id_stands(identity->build_id, identity->build_id_start)
                              : module_persists_in_detail(identity);
}

HOT_CODE bool module_find(uintptr_t pc, struct module *out) {
    return _dl_find_object ? module_find_asking(pc, out) : module_find_known(pc, out);
}

bool module_persists(const struct module_identity *identity) {
    return _dl_find_object ? module_persists_asking(identity) : module_persists_known(identity);
}

/* ---- all modules ----------------------------------------------------------------------------- */

struct module_visit {
    void (*visit)(const struct module *, void *);
    void *context;
};

HOT_CODE static int module_visit_one(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    const struct module_visit *visit = context;
    struct module module = module_of_info(info, 0);
    visit->visit(&module, visit->context);
    return 0;
}

HOT_CODE void module_each(void (*visit)(const struct module *, void *), void *context) {
    dl_iterate_phdr(module_visit_one, &(struct module_visit){.visit = visit, .context = context});
}

HOT_CODE static int module_count_changes(struct dl_phdr_info *info, size_t size, void *context) {
    if (size >= sizeof *info)
        *(uint64_t *)context = info->dlpi_adds + info->dlpi_subs;
    return 1; /* each module reports the same counters */
}

HOT_CODE uint64_t module_changes(void) {
    uint64_t changes = 0;
    dl_iterate_phdr(module_count_changes, &changes);
    return changes;
}

static int module_add_code(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
            *(size_t *)context += info->dlpi_phdr[i].p_memsz;
    return 0;
}

size_t module_code_size(void) {
    size_t size = 0;
    dl_iterate_phdr(module_add_code, &size);
    return size;
}

static size_t path_copy(char *path, size_t size, const char *from) {
    size_t n = strnlen(from, size - 1);
    memcpy(path, from, n);
    path[n] = '\0';
    return n;
}

/* The path in /proc/self/maps is absolute, and right even for an executable started through the
 * loader's command line. Without /proc, the loader's name for the object or the path of the start
 * is used. */
size_t module_path(const struct module *module, char *path, size_t size) {
    struct mapping mapping;
    if (size == 0)
        return 0;
    if (module->name[0] == '/')
        return path_copy(path, size, module->name);
    if (module->text_low && maps_find(module->text_low, &mapping, path, size) && path[0] == '/')
        return strlen(path);
    long n = syscall4(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path, (long)size - 1);
    const char *started = (const char *)getauxval(AT_EXECFN);
    if (module->name[0] || syscall_failed(n))
        return path_copy(path, size, module->name[0] || !started ? module->name : started);
    path[n] = '\0';
    return (size_t)n;
}

static bool is_own_program(const char *path) {
    struct stat own, other;
    return !syscall_failed(
               syscall4(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/exe", (long)&own, 0)) &&
           !syscall_failed(syscall4(SYS_newfstatat, AT_FDCWD, (long)path, (long)&other, 0)) &&
           own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

void module_program(char *path, size_t size) {
    const struct module program = {.name = ""};
    const char *started = (const char *)getauxval(AT_EXECFN); /* of a script: the script's path */
    module_path(&program, path, size);
    if (started && *started == '/' && strnlen(started, size) < size && is_own_program(started))
        path_copy(path, size, started);
}
