/* handover.c: implements handover.h: reads the headers of an ELF file, and exchanges messages with
 * `run`. */
#include "record/handover.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/hot.h"
#include "contract/handover.h"
#include "contract/runtimes.h"
#include "contract/settings.h"
#include "platform/syscall.h"
#include "record/descriptor.h"
#include "record/environment.h"

enum {
    PATH_ROOM = 1024, /* bytes; files with longer paths in $PATH are skipped */
    HEADERS_AT_ONCE = 8,
    MOST_HEADERS = 64,
    MOST_NOTES = 8,
};
static const char note_name[] = OUTSIDE_NOTE_NAME;

/* ---- the file ------------------------------------------------------------------------------ */

static bool read_at(int fd, uint64_t at, void *bytes, size_t size) {
    return syscall4(SYS_pread64, fd, (long)bytes, (long)size, (long)at) == (long)size;
}

static uint64_t note_size(uint32_t size) {
    return (size + UINT64_C(3)) & ~UINT64_C(3);
}

static bool is_read_from_outside(int fd, const ElfW(Phdr) * h) {
    struct {
        ElfW(Nhdr) head;
        char name[sizeof note_name];
    } note;
    uint64_t at = 0;
    for (int i = 0; i < MOST_NOTES && at < h->p_filesz; i++) {
        if (!read_at(fd, h->p_offset + at, &note, sizeof note))
            return false;
        if (note.head.n_type == OUTSIDE_NOTE_TYPE && note.head.n_namesz == sizeof note_name &&
            memcmp(note.name, note_name, sizeof note_name) == 0)
            return true;
        at += sizeof note.head + note_size(note.head.n_namesz) + note_size(note.head.n_descsz);
    }
    return false;
}

static bool headers_want_us(int fd) {
    ElfW(Ehdr) head;
    ElfW(Phdr) some[HEADERS_AT_ONCE];
    bool has_loader = false, has_note = false;
    if (!read_at(fd, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        head.e_phentsize != sizeof *some || head.e_phnum > MOST_HEADERS)
        return false;
    for (size_t i = 0; i < head.e_phnum; i += HEADERS_AT_ONCE) {
        const size_t left = head.e_phnum - i, n = left < HEADERS_AT_ONCE ? left : HEADERS_AT_ONCE;
        if (!read_at(fd, head.e_phoff + i * sizeof *some, some, n * sizeof *some))
            return false;
        for (size_t k = 0; k < n; k++) {
            has_loader |= some[k].p_type == PT_INTERP;
            has_note |=
                !has_note && some[k].p_type == PT_NOTE && is_read_from_outside(fd, &some[k]);
        }
    }
    return !has_loader || has_note;
}

static bool has_rights(int fd) {
    return syscall4(SYS_fgetxattr, fd, (long)"security.capability", 0, 0) > 0;
}

/* Returns the mode of a regular file; 0: it is not one. */
static mode_t mode_of_file(int folder, const char *path, int flags) {
    struct stat st;
    return !syscall_failed(syscall4(SYS_newfstatat, folder, (long)path, (long)&st, flags)) &&
                   S_ISREG(st.st_mode)
               ? st.st_mode
               : 0;
}

static bool wants_us(int folder, const char *path, int flags) {
    const mode_t mode = path ? mode_of_file(folder, path, flags) : 0;
    if (!mode || (mode & (S_ISUID | S_ISGID)))
        return false;
    const bool is_open = (flags & AT_EMPTY_PATH) && !*path;
    const long fd =
        is_open ? folder
                : syscall4(SYS_openat, folder, (long)path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
    if (syscall_failed(fd))
        return false;
    const bool wants = headers_want_us((int)fd) && !has_rights((int)fd);
    if (!is_open)
        syscall4(SYS_close, fd, 0, 0, 0);
    return wants;
}

/* ---- messages ------------------------------------------------------------------------------ */

static bool send_all(int fd, const void *bytes, size_t size) {
    return syscall6(SYS_sendto, fd, (long)bytes, (long)size, MSG_NOSIGNAL, 0, 0) == (long)size;
}

/* Waits HANDOVER_MOST_MS at most, also across signals: the kernel stores the remaining time in
 * `left`. */
static bool await(int fd, void *bytes, size_t size) {
    struct timespec left = {.tv_sec = HANDOVER_MOST_MS / 1000};
    struct pollfd one = {.fd = fd, .events = POLLIN};
    long n;
    do
        n = syscall6(SYS_ppoll, (long)&one, 1, (long)&left, 0, 0, 0);
    while (n == -EINTR);
    return n == 1 && syscall6(SYS_recvfrom, fd, (long)bytes, (long)size, 0, 0, 0) == (long)size;
}

static int connect_to(const char *name) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const size_t n = strlen(name);
    if (n == 0 || n >= HANDOVER_NAME)
        return -1;
    memcpy(to.sun_path + 1, name, n); /* an abstract name begins with a NUL */
    long fd = syscall4(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0);
    if (syscall_failed(fd))
        return -1;
    fd = descriptor_raise((int)fd);
    if (!syscall_failed(syscall4(SYS_connect, fd, (long)&to,
                                 (long)(offsetof(struct sockaddr_un, sun_path) + 1 + n), 0)))
        return (int)fd;
    syscall4(SYS_close, fd, 0, 0, 0);
    return -1;
}

static bool is_followed(int fd, bool spawns) {
    const struct handover_request request = {HANDOVER_VERSION, spawns,
                                             syscall4(SYS_getpid, 0, 0, 0, 0),
                                             syscall4(SYS_gettid, 0, 0, 0, 0)};
    struct handover_answer answer;
    if (!send_all(fd, &request, sizeof request) || !await(fd, &answer, sizeof answer))
        return false;
    if (answer.kind == HANDOVER_PERMIT) {
        syscall4(SYS_prctl, PR_SET_PTRACER, answer.tracer, 0, 0);
        if (!send_all(fd, "", 1) || !await(fd, &answer, sizeof answer))
            return false;
    }
    return answer.kind == HANDOVER_FOLLOWS;
}

static int hand_over(const char *name, bool spawns) {
    const int fd = connect_to(name);
    if (fd < 0 || is_followed(fd, spawns))
        return fd;
    handover_end(fd);
    return -1;
}

/* ---- entry points -------------------------------------------------------------------------- */

HOT_CODE int handover_begin(int folder, const char *path, int flags, char *const envp[],
                            bool spawns) {
    const char *name = environment_handover(envp);
    return name && wants_us(folder, path, flags) ? hand_over(name, spawns) : -1;
}

/* Joins a folder of $PATH and a file name. Returns false if the result does not fit. */
static bool join(char path[PATH_ROOM], const char *folder, size_t size, const char *file) {
    const size_t n = strlen(file);
    if (size + 1 + n >= PATH_ROOM)
        return false;
    memcpy(path, folder, size);
    path[size] = '/';
    memcpy(path + size + (size > 0), file, n + 1);
    return true;
}

/* Searches as execvp does, for the first file that may be executed. */
static __attribute__((noinline)) int begin_in_path(const char *name, const char *folder,
                                                   const char *file, bool spawns) {
    char path[PATH_ROOM];
    for (;; folder++) {
        const size_t size = strcspn(folder, ":");
        if (join(path, folder, size, file) &&
            !syscall_failed(syscall4(SYS_faccessat, AT_FDCWD, (long)path, X_OK, 0)) &&
            mode_of_file(AT_FDCWD, path, 0))
            return wants_us(AT_FDCWD, path, 0) ? hand_over(name, spawns) : -1;
        folder += size;
        if (!*folder)
            return -1;
    }
}

HOT_CODE int handover_begin_named(const char *file, char *const envp[], bool spawns) {
    const char *name = environment_handover(envp);
    if (!name || !file || !*file)
        return -1;
    if (strchr(file, '/'))
        return handover_begin(AT_FDCWD, file, 0, envp, spawns);
    const char *folders = environment_value(environ, "PATH");
    return begin_in_path(name, folders ? folders : "/bin:/usr/bin", file, spawns);
}

void handover_failed(int handed) {
    char byte;
    if (handed < 0)
        return;
    if (send_all(handed, "", 1))
        await(handed, &byte, sizeof byte);
    handover_end(handed);
}

void handover_end(int handed) {
    if (handed >= 0)
        syscall4(SYS_close, handed, 0, 0, 0);
}
