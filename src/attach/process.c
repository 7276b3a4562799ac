/* process.c: combines lines of /proc/PID/maps into modules, and looks up symbols with libelf in the
 * very file that is mapped. */
#include "attach/process.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/proc.h"

/* ---- mappings -------------------------------------------------------------------------------- */

typedef struct mapping {
    uint64_t low, high, offset;
    bool executable;
    const char *path; /* points into the line that was read; "": none */
} mapping;

/* Returns NULL if the process is gone, or may not be read. */
static FILE *open_file(pid_t pid, const char *name) {
    const int fd = proc_open((uint64_t)pid, name, O_RDONLY);
    return fd >= 0 ? fdopen(fd, "r") : NULL;
}

static bool parse_mapping(char *line, mapping *m) {
    char access[5];
    int at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &m->low, &m->high,
               access, &m->offset, &at) < 4)
        return false;
    m->executable = access[2] == 'x';
    m->path = at ? line + at : "";
    line[strcspn(line, "\n")] = '\0';
    return true;
}

/* Adds a mapping to the module, or starts a new module. The mappings of a file follow each other,
 * with only unnamed gaps between them. */
static bool module_take(process_module *module, const mapping *m) {
    if (strlen(m->path) >= sizeof module->path)
        return false;
    if (strcmp(module->path, m->path) != 0 || module->low == 0) {
        *module = (process_module){.low = m->low};
        memcpy(module->path, m->path, strlen(m->path) + 1); /* fits: see above */
    }
    module->high = m->high;
    if (m->executable && !module->code) {
        module->code = m->low;
        module->code_high = m->high;
        module->code_offset = m->offset;
    }
    return true;
}

typedef bool module_test(const process_module *module, const void *context);

/* Finds the first module that passes the test. A module is tested when all its mappings were
 * read. */
static bool find_module(pid_t pid, module_test *test, const void *context, process_module *found) {
    FILE *maps = open_file(pid, "maps");
    char *line = NULL;
    size_t room = 0;
    bool is_found = false;
    process_module at = {.low = 0};
    while (maps && !is_found && getline(&line, &room, maps) > 0) {
        mapping m;
        if (!parse_mapping(line, &m))
            continue;
        if (at.low && strcmp(at.path, m.path) != 0 && test(&at, context))
            is_found = true;
        else
            module_take(&at, &m);
    }
    if (!is_found)
        is_found = at.low && test(&at, context);
    *found = is_found ? at : (process_module){.low = 0};
    free(line);
    if (maps)
        fclose(maps);
    return is_found;
}

static bool has_name(const process_module *module, const void *context) {
    static const char in_memory[] = "memfd:";
    const char *name = context, *slash = strrchr(module->path, '/');
    if (slash && strncmp(slash + 1, in_memory, sizeof in_memory - 1) == 0)
        slash += sizeof in_memory - 1;
    return slash && module->code && strncmp(slash + 1, name, strlen(name)) == 0;
}

bool process_find_module(pid_t pid, const char *name, process_module *module) {
    return find_module(pid, has_name, name, module);
}

static bool has_path(const process_module *module, const void *context) {
    return module->code && strcmp(module->path, context) == 0;
}

bool process_find_program(pid_t pid, process_module *module) {
    char path[sizeof module->path];
    return proc_link((uint64_t)pid, "exe", path, sizeof path) &&
           find_module(pid, has_path, path, module);
}

static bool has_address(const process_module *module, const void *context) {
    uint64_t address = *(const uint64_t *)context;
    return address >= module->low && address < module->high;
}

bool process_module_at(pid_t pid, uint64_t address, process_module *module) {
    return find_module(pid, has_address, &address, module);
}

bool process_read_ranges(pid_t pid, process_ranges *r) {
    FILE *maps = open_file(pid, "maps");
    char *line = NULL;
    size_t room = 0;
    bool done = true;
    mapping m;
    *r = (process_ranges){0};
    while (maps && done && getline(&line, &room, maps) > 0)
        done = !parse_mapping(line, &m) || vec_push(r, ((process_range){m.low, m.high}));
    free(line);
    if (maps)
        fclose(maps);
    if (!done)
        process_free_ranges(r);
    return done;
}

static int compare_range(const void *key, const void *item) {
    const uint64_t address = *(const uint64_t *)key;
    const process_range *r = item;
    return address < r->low ? -1 : address >= r->high;
}

uint64_t process_range_end(const process_ranges *r, uint64_t address) {
    const process_range *found =
        r->count ? bsearch(&address, r->items, r->count, sizeof *r->items, compare_range) : NULL;
    return found ? found->high : 0;
}

void process_free_ranges(process_ranges *r) {
    vec_free(r);
}

/* ---- status, threads, files ------------------------------------------------------------------ */

/* Returns the number in a line, or the last one of several. */
static long status_number(pid_t pid, const char *name, bool last, long missing) {
    char *line = NULL;
    size_t room = 0, length = strlen(name);
    long value = missing;
    FILE *status = open_file(pid, "status");
    while (status && getline(&line, &room, status) > 0)
        if (strncmp(line, name, length) == 0 && line[length] == ':') {
            const char *at = last ? strrchr(line, '\t') : NULL;
            value = strtol(at ? at + 1 : line + length + 1, NULL, 10);
        }
    free(line);
    if (status)
        fclose(status);
    return value;
}

long process_status(pid_t pid, const char *name, long missing) {
    return status_number(pid, name, false, missing);
}

pid_t process_inner_id(pid_t pid) {
    return (pid_t)status_number(pid, "NSpid", true, pid);
}

uint64_t process_auxv(pid_t pid, uint64_t type) {
    Elf64_auxv_t entry;
    uint64_t value = 0;
    FILE *entries = open_file(pid, "auxv");
    while (entries && !value && fread(&entry, sizeof entry, 1, entries) == 1)
        value = entry.a_type == type ? entry.a_un.a_val : 0;
    if (entries)
        fclose(entries);
    return value;
}

bool process_may_see_all(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return syscall(SYS_capget, &header, data) == 0 &&
           data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN);
}

bool process_exists(pid_t pid) {
    return process_status(pid, "Pid", -1) == pid;
}

bool process_has_program(pid_t pid) {
    char target[2];
    return proc_link((uint64_t)pid, "exe", target, sizeof target) || errno != ENOENT;
}

size_t process_threads(pid_t pid, pid_t *ids, size_t max) {
    char path[64];
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && n < max && (e = readdir(folder));)
        if (e->d_name[0] != '.')
            ids[n++] = (pid_t)strtol(e->d_name, NULL, 10);
    if (folder)
        closedir(folder);
    return n;
}

bool process_path(pid_t pid, const char *path, char *seen, size_t size) {
    int n = snprintf(seen, size, "/proc/%d/root%s", (int)pid, path);
    return n > 0 && (size_t)n < size;
}

/* ---- symbols --------------------------------------------------------------------------------- */

/* Computes the difference between addresses in the process and in the file, from the segment with
 * the code. */
static bool find_bias(Elf *elf, const process_module *module, uint64_t *bias) {
    size_t n = 0;
    GElf_Phdr segment;
    if (elf_getphdrnum(elf, &n) != 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
            !(segment.p_flags & PF_X))
            continue;
        *bias = module->code - module->code_offset + segment.p_offset - segment.p_vaddr;
        return true;
    }
    return false;
}

/* Opens a file that the process names, with our rights. Only a regular file is accepted, and
 * opening never waits, as it would for a pipe. Returns -1 with errno on failure. */
static int open_regular(const char *path) {
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || (fstat(fd, &about) == 0 && S_ISREG(about.st_mode)))
        return fd;
    close(fd);
    errno = ENOEXEC;
    return -1;
}

static void read_loader(int fd, const GElf_Phdr *segment, char *loader, size_t size) {
    const size_t length = segment->p_filesz < size ? segment->p_filesz : size - 1;
    const ssize_t n = pread(fd, loader, length, (off_t)segment->p_offset);
    loader[n > 0 ? n : 0] = '\0';
}

bool process_loader(pid_t pid, char *loader, size_t size) {
    char path[64];
    size_t n = 0;
    GElf_Phdr segment;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    int fd = open_regular(path);
    if (fd < 0)
        return false;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    const bool known = elf && elf_getphdrnum(elf, &n) == 0;
    *loader = '\0';
    for (size_t i = 0; known && i < n; i++)
        if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_INTERP)
            read_loader(fd, &segment, loader, size);
    elf_end(elf);
    close(fd);
    return known;
}

/* Opens the module's file. A privileged user gets the very file that is mapped, even if it was
 * removed or replaced since. The path is only a fallback: the process's user controls what is there
 * now, and a link there could lead to our files. */
static int open_module(pid_t pid, const process_module *m) {
    char path[640];
    snprintf(path, sizeof path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m->code,
             m->code_high);
    int fd = open_regular(path);
    if (fd >= 0)
        return fd;
    return process_path(pid, m->path, path, sizeof path) ? open_regular(path) : -1;
}

static uint64_t find_in_section(Elf *elf, Elf_Scn *section, const char *name) {
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM || !data ||
        header.sh_entsize == 0)
        return 0;
    for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
            GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
            continue;
        const char *found = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (found && strcmp(found, name) == 0)
            return symbol.st_value;
    }
    return 0;
}

uint64_t process_symbol(pid_t pid, const process_module *module, const char *name) {
    uint64_t bias = 0, address = 0;
    int fd = open_module(pid, module);
    elf_version(EV_CURRENT);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    if (elf && gelf_getclass(elf) == ELFCLASS64 && find_bias(elf, module, &bias))
        for (Elf_Scn *s = NULL; !address && (s = elf_nextscn(elf, s));)
            address = find_in_section(elf, s, name);
    elf_end(elf);
    file_close(fd);
    return address ? address + bias : 0;
}
