/* run_check.c: a dynamic program can be recorded if the dynamic loader of our own C library, or of
 * musl, starts it and heeds LD_PRELOAD. The ELF headers of the program, or of a script's
 * interpreter, tell both. A static program must have the symbols by which the recorder is
 * injected. */
#include "cli/run/run_check.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "attach/enter.h"
#include "base/file.h"
#include "base/path.h"
#include "cli/message.h"
#include "cli/run/preload_file.h"
#include "platform/symbols.h"

#define MAX_INTERPRETERS 5   /* for scripts that run scripts; the limit of the kernel, too */
#define MAX_SCRIPT_LINE  256 /* bytes; the kernel reads no more */
#define DEFAULT_PATH     "/bin:/usr/bin"

static bool is_program(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static bool find_in_path(const char *name, char path[PATH_MAX]) {
    const char *folder = getenv("PATH");
    folder = folder ? folder : DEFAULT_PATH;
    for (;;) {
        int size = (int)strcspn(folder, ":");
        int n = snprintf(path, PATH_MAX, "%.*s%s%s", size, folder, size ? "/" : "", name);
        if (n < PATH_MAX && is_program(path))
            return true;
        folder += size;
        if (*folder++ != ':')
            return false;
    }
}

/* Finds a program like execvp: a name with a slash is used as it is. */
static bool find_program(const char *name, char path[PATH_MAX]) {
    return strchr(name, '/') ? snprintf(path, PATH_MAX, "%s", name) < PATH_MAX
                             : find_in_path(name, path);
}

bool run_check_find(const char *name, char path[PATH_MAX]) {
    return find_program(name, path) && is_program(path);
}

/* Finds the interpreter in a script's first line, or the shell for a file without one. Returns
 * false if `path` is not a script. */
static bool find_interpreter(const char *path, char interpreter[PATH_MAX]) {
    char line[MAX_SCRIPT_LINE + 1] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, line, MAX_SCRIPT_LINE) : -1;
    file_close(fd);
    if (n < 2 || memcmp(line, ELFMAG, SELFMAG) == 0)
        return false;
    if (line[0] != '#' || line[1] != '!')
        return snprintf(interpreter, PATH_MAX, "/bin/sh") > 0;
    char *name = line + 2 + strspn(line + 2, " \t");
    name[strcspn(name, " \t\n")] = '\0';
    return snprintf(interpreter, PATH_MAX, "%s", name) < PATH_MAX;
}

/* ---- what keeps LD_PRELOAD from working -------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static bool refuse(run_check *check, const char *format,
                                                         ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(check->reason, sizeof check->reason, format, args);
    va_end(args);
    check->recordable = false;
    return false;
}

/* The loader ignores LD_PRELOAD in a program that runs with more rights than its user has. */
static bool check_rights(run_check *check, int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return true;
    if ((status.st_mode & S_ISUID) && status.st_uid != getuid())
        return refuse(check, "it is set-user-id");
    if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getgid())
        return refuse(check, "it is set-group-id");
    if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
        return refuse(check, "it has file capabilities");
    return true;
}

/* Reads the path of the dynamic loader from an ELF file. Returns NULL if the file is static. */
static const char *dynamic_loader(Elf *elf, char *path, size_t size) {
    size_t n, file_size;
    const char *file = elf_rawfile(elf, &file_size);
    GElf_Phdr header;
    if (!file || elf_getphdrnum(elf, &n) != 0)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_INTERP)
            continue;
        if (header.p_offset > file_size || header.p_filesz > file_size - header.p_offset)
            return NULL;
        snprintf(path, size, "%.*s", (int)header.p_filesz, file + header.p_offset);
        return path;
    }
    return NULL;
}

/* ---- static programs ----------------------------------------------------------------------- */

/* What the symbols of a static program show. */
struct linked_in {
    bool mallocs, frees;
    bool is_glibc, is_musl;
    size_t n; /* symbols */
};

static void look_at_symbol(const struct symbol *s, void *context) {
    struct linked_in *found = context;
    found->n++;
    found->mallocs |= strcmp(s->name, "malloc") == 0;
    found->frees |= strcmp(s->name, "free") == 0;
    found->is_glibc |= strcmp(s->name, "__libc_setup_tls") == 0;
    found->is_musl |= strcmp(s->name, "__init_tls") == 0;
}

/* Refuses a Go program without C. Returns false if it is not a Go program. */
static bool check_go_alone(run_check *check, go_kind kind) {
    check->instead = "have it write a heap profile (runtime/pprof) for `allotrace import`";
    if (kind != GO_NONE)
        refuse(check, "it is %s",
               kind == GO_REFUSED ? check->no_go.reason : "a Go program without C");
    return kind != GO_NONE;
}

/* A static program is recorded by its symbols: they locate the allocator, and show whether the C
 * library provides the thread-local room that the recorder needs. */
static bool check_static(run_check *check, Elf *elf, go_kind kind) {
    struct linked_in found = {0};
    if (strncmp(path_base(check->program), "ld-", 3) == 0) {
        check->instead = "run the program itself";
        return refuse(check, "it is a dynamic loader");
    }
    const void *id;
    const ssize_t id_size = dwelf_elf_gnu_build_id(elf, &id);
    const bool named = symbols_each(check->program, id_size > 0 ? id : NULL,
                                    id_size > 0 ? (size_t)id_size : 0, look_at_symbol, &found) &&
                       found.n > 0;
    const bool has_malloc = named && found.mallocs && found.frees;
    if (!has_malloc && check_go_alone(check, kind))
        return false;
    check->is_static = true;
    check->instead = "link it dynamically, or have its allocator write a heap profile for "
                     "`allotrace import`";
    if (!enter_is_possible())
        return refuse(check, "it is statically linked");
    if (has_malloc && (found.is_glibc || found.is_musl))
        return true;
    if (named && (!found.mallocs || !found.frees))
        return refuse(check, "it is statically linked, and no symbol names malloc and free");
    if (named)
        return refuse(check, "it is statically linked, with a C library other than glibc or musl");
    check->instead = "leave its symbols in it (no strip, no -s), or link it dynamically";
    return refuse(check, "it is statically linked and stripped: no symbol names its malloc");
}

/* Compares a program with this one, since our library was built for this one's C library. */
static bool check_kind(run_check *check, Elf *program, Elf *self, int fd) {
    GElf_Ehdr theirs, ours;
    char their_loader[PATH_MAX], our_loader[PATH_MAX];
    if (!gelf_getehdr(program, &theirs) || !gelf_getehdr(self, &ours))
        return true;
    if (theirs.e_ident[EI_CLASS] != ours.e_ident[EI_CLASS])
        return refuse(check, "it is a %s-bit program",
                      theirs.e_ident[EI_CLASS] == ELFCLASS32 ? "32" : "64");
    if (theirs.e_machine != ours.e_machine)
        return refuse(check, "it is built for a different processor");
    check->instead =
        "link it dynamically with glibc, or have its allocator write a heap profile for "
        "`allotrace import`";
    const go_kind kind = go_program_find(&check->go, fd, &check->no_go);
    check->is_go = kind == GO_KNOWN;
    if (!dynamic_loader(program, their_loader, sizeof their_loader))
        return check_static(check, program, kind);
    if (strncmp(path_base(their_loader), "ld-musl-", 8) == 0)
        return true; /* the recorder needs nothing that musl lacks */
    if (dynamic_loader(self, our_loader, sizeof our_loader) &&
        strcmp(path_base(their_loader), path_base(our_loader)) != 0)
        return refuse(check, "it uses a different C library (%s)", their_loader);
    return true;
}

static Elf *open_elf(int fd) {
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    if (elf && elf_kind(elf) == ELF_K_ELF)
        return elf;
    elf_end(elf);
    return NULL;
}

/* An emulator executes another program as data, with an allocator of its own: nothing of that
 * program passes through malloc. */
static bool check_emulation(run_check *check) {
    static const char *const names[] = {"valgrind", "valgrind.bin", "qemu-x86_64",
                                        "qemu-x86_64-static"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(path_base(check->program), names[i]) == 0)
            return refuse(check, "it emulates the code of another program");
    return true;
}

static void check_program(run_check *check) {
    int fd = open(check->program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *program = open_elf(fd), *self = open_elf(self_fd);
    if (program && self && check_rights(check, fd))
        check_kind(check, program, self, fd);
    elf_end(program);
    elf_end(self);
    file_close(fd);
    file_close(self_fd);
}

void run_check_command(run_check *check, const char *name) {
    *check = (run_check){.recordable = true};
    if (!find_program(name, check->program) || !check_emulation(check))
        return;
    for (int i = 0; i < MAX_INTERPRETERS; i++) {
        char interpreter[PATH_MAX];
        if (!find_interpreter(check->program, interpreter))
            break;
        memcpy(check->program, interpreter, sizeof interpreter);
    }
    check_program(check);
}

void run_check_say(const run_check *check) {
    if (!check->recordable && !check->is_go)
        message_warning("%s: %s, so it runs without being recorded%s%s", check->program,
                        check->reason, check->instead ? "; " : "",
                        check->instead ? check->instead : "");
    else if (!check->is_go && *check->no_go.reason)
        message_warning("%s: it is %s, so only what it takes from malloc is recorded",
                        check->program, check->no_go.reason);
}

bool run_check_recordable(const char *program, char preload[PATH_MAX], char entering[PATH_MAX],
                          go_program *go) {
    run_check check;
    run_check_command(&check, program);
    run_check_say(&check);
    if (check.is_go)
        *go = check.go;
    if (!check.recordable)
        return false;
    if (!*preload)
        message_warning(
            "%s is missing from the folder where it was installed, so nothing is recorded",
            PRELOAD_NAME);
    else if (check.is_static && !preload_file_find_static(preload, entering))
        message_warning(
            "%s is missing from the folder where it was installed, so nothing is recorded",
            STATIC_NAME);
    else if (!preload_file_make_nameable(preload))
        message_warning(
            "%s: LD_PRELOAD cannot carry this path, and a link to it cannot be made, so "
            "nothing is recorded: %s",
            preload, strerror(errno));
    else
        return true;
    return false;
}

void run_check_say_entered(const char *program, bool is_entered, const char *outcome) {
    if (is_entered)
        message_note("%s: %s", program, outcome);
    else
        message_warning("%s: it is statically linked, and runs without being recorded: %s; link it "
                        "dynamically to record it",
                        program, outcome);
}
