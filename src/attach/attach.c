/* attach.c: opens the recorder's library in the process by its path, or from a memory file where
 * the process cannot read that path. Then calls the recorder's control function (remote.h makes the
 * calls). A child process does the work and reports the result in shared memory. */
#include "attach/attach.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process.h"
#include "base/file.h"
#include "base/proc.h"
#include "contract/runtimes.h"

#define RECORDER "liballotrace-preload.so" /* start of the library's file name */

enum { CONTROL_AT = 0, TEXT_AT = 32 * 1024 }; /* offsets in the remote room, bytes */
_Static_assert(sizeof(control) <= TEXT_AT, "the room holds both");

/* Returns whether the process sees the same file at that path. In a container or after chroot it
 * may not. */
static bool sees_file(pid_t pid, const char *path) {
    char seen[1024];
    return process_path(pid, path, seen, sizeof seen) && file_is_same(path, seen);
}

/* Returns whether the process sees the library or can be given a copy, which takes some rights. */
static bool can_get_file(pid_t pid, const char *path, remote_reason *why) {
    if (sees_file(pid, path) || process_may_see_all())
        return true;
    return remote_refuse(
        why,
        "process %d sees a different file system (a container?) without %.120s, and only root "
        "can bring it there",
        (int)pid, path);
}

/* Returns whether a sanitizer is linked into the program itself. Then not one allocation of the
 * program could be seen. A sanitizer in a shared library does no harm. */
static bool has_sanitizer(pid_t pid, remote_reason *why) {
    static const struct {
        const char *function, *name;
    } all[] = {{"__asan_init", "AddressSanitizer"},
               {"__hwasan_init", "HWAddressSanitizer"},
               {"__msan_init", "MemorySanitizer"},
               {"__tsan_init", "ThreadSanitizer"},
               {"__lsan_init", "LeakSanitizer"}};
    process_module program;
    if (!process_find_program(pid, &program))
        return false;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (process_symbol(pid, &program, all[i].function)) {
            remote_refuse(why,
                          "process %d has %s's malloc linked into the program itself, so its calls "
                          "cannot be recorded: build it without, or with -shared-libsan",
                          (int)pid, all[i].name);
            return true;
        }
    return false;
}

static bool program_has(pid_t pid, const char *symbol) {
    process_module program;
    return process_find_program(pid, &program) && process_symbol(pid, &program, symbol);
}

bool attach_has_own_malloc(pid_t pid) {
    return program_has(pid, "malloc");
}

const char *attach_unreached_heap(pid_t pid) {
#define UNREACHED(id, name, depth, whose, alone, function) {whose, function},
    static const struct { const char *whose, *function; } all[] = {RUNTIMES(UNREACHED)};
#undef UNREACHED
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].function && program_has(pid, all[i].function))
            return all[i].whose;
    return NULL;
}

/* Reads what dlerror says in the process. If its user may not access the file, the reason names
 * that user. */
static void read_loader_error(remote *r, pid_t pid, remote_reason *why) {
    char text[192] = "", remedy[80] = "";
    uint64_t at = 0, none[3] = {0};
    remote_reason ignored;
    if (!remote_call(r, remote_function(r, "dlerror"), none, &at, &ignored) || !at ||
        !remote_read_text(r, at, text, sizeof text))
        snprintf(text, sizeof text, "its loader gives no reason");
    if (strstr(text, strerror(EACCES)))
        snprintf(remedy, sizeof remedy, " (user %ld, the owner of the process, must be able to)",
                 process_status(pid, "Uid", -1));
    remote_refuse(why, "process %d cannot load the recorder %s%s", (int)pid, text, remedy);
}

/* Calls a function with a text, which is written to the room, and a number. */
static bool call_with_text(remote *r, const char *function, const char *text, uint64_t number,
                           uint64_t *result, remote_reason *why) {
    uint64_t arguments[3] = {remote_room(r, TEXT_AT), number, 0};
    if (remote_write(r, TEXT_AT, text, strlen(text) + 1))
        return remote_call(r, remote_function(r, function), arguments, result, why);
    return remote_refuse(why, "the process has ended");
}

/* Returns 0 or an errno. */
static int copy_file(int from, int to) {
    char bytes[64 * 1024];
    ssize_t n;
    int error = 0;
    while (!error && (n = read(from, bytes, sizeof bytes)) > 0)
        error = file_write_all(to, bytes, (size_t)n);
    return error ? error : n < 0 ? errno : 0;
}

/* Returns whether the descriptor is a memory file of this user, with no seals and with sealing
 * allowed. No other kind of file answers F_GET_SEALS with 0. */
static bool is_memory_file(int fd, uid_t owner) {
    struct stat about;
    return fcntl(fd, F_GET_SEALS) == 0 && fstat(fd, &about) == 0 && about.st_nlink == 0 &&
           about.st_uid == owner;
}

/* Duplicates the process's descriptor `there`, which is writable only if the process may write to
 * it itself; opening it by name in /proc would use our rights. A thread may have its own descriptor
 * table, and the process may be hostile, so anything but the memory file is refused. Returns -1
 * with errno on failure. */
static int get_memory_file(pid_t pid, int there, uid_t owner) {
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    const int fd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, there, 0);
    file_close(process);
    if (fd < 0 || is_memory_file(fd, owner))
        return fd;
    close(fd);
    errno = EBADF;
    return -1;
}

/* Returns 0 or an errno. */
static int fill_file(pid_t pid, int there, uid_t owner, const char *library) {
    int from = open(library, O_RDONLY | O_CLOEXEC), to = get_memory_file(pid, there, owner);
    int error = from < 0 || to < 0 ? errno : copy_file(from, to);
    file_close(from);
    file_close(to);
    return error;
}

static bool open_library(remote *r, const char *library, uint64_t *handle, remote_reason *why) {
    return call_with_text(r, "dlopen", library, RTLD_NOW | RTLD_LOCAL, handle, why);
}

/* Opens the library from a memory file. The loader remembers the file's name, so the name must be
 * one that nobody else opens. */
static bool open_copy(remote *r, pid_t pid, const char *library, uint64_t *handle,
                      remote_reason *why) {
    char path[64];
    uint64_t result = 0;
    rights whose;
    remote_reason ignored;
    if (!remote_rights(r, &whose) ||
        !call_with_text(r, "memfd_create", RECORDER, MFD_CLOEXEC | MFD_ALLOW_SEALING, &result, why))
        return false;
    int fd = (int)result, error = fd < 0 ? -1 : fill_file(pid, fd, whose.uid, library);
    uint64_t closed[3] = {result, 0, 0};
    snprintf(path, sizeof path, "/proc/thread-self/fd/%d", fd);
    if (error)
        remote_refuse(
            why,
            "process %d sees a different file system, and the recorder cannot be brought there: %s",
            (int)pid, fd < 0 ? "it may not create a file in memory" : strerror(error));
    bool done = !error && open_library(r, path, handle, why);
    if (fd >= 0)
        remote_call(r, remote_function(r, "close"), closed, &result, &ignored);
    return done;
}

static bool load_file(remote *r, pid_t pid, const char *library, uint64_t *handle,
                      remote_reason *why) {
    if (!open_library(r, library, handle, why))
        return false;
    if (!*handle)
        read_loader_error(r, pid, why);
    return true;
}

/* Loads the recorder. A copy is also used where the process can see the file but may not read
 * it. */
static bool load_recorder(remote *r, pid_t pid, const char *library, remote_reason *why) {
    uint64_t handle = 0;
    remote_reason ignored;
    if (!sees_file(pid, library)) {
        if (open_copy(r, pid, library, &handle, why) && !handle)
            read_loader_error(r, pid, why);
    } else if (load_file(r, pid, library, &handle, why) && !handle)
        open_copy(r, pid, library, &handle, &ignored);
    return handle != 0;
}

static bool call_control(remote *r, uint64_t function, control *c, remote_reason *why) {
    uint64_t arguments[3] = {remote_room(r, CONTROL_AT), 0, 0}, nothing;
    c->version = CONTROL_VERSION;
    c->may_not_ask = remote_may_not_ask(r);
    if (!function) {
        c->outcome = CONTROL_UNKNOWN;
        return true;
    }
    if (remote_write(r, CONTROL_AT, c, sizeof *c) &&
        remote_call(r, function, arguments, &nothing, why) &&
        remote_read(r, CONTROL_AT, c, sizeof *c)) {
        c->reply[sizeof c->reply - 1] = '\0';
        return true;
    }
    return false;
}

/* Ends the recording again if a thread has installed a seccomp filter before the recorder, which
 * watches for filters, was loaded. */
static bool keep_or_end(remote *r, uint64_t function, const control *c, remote_reason *why) {
    control end = {.action = CONTROL_END};
    remote_reason ignored;
    if (c->action != CONTROL_BEGIN || c->outcome != CONTROL_DONE)
        return true;
    if (remote_check_filters(r, why)) {
        if (c->may_not_ask || !remote_may_not_ask(r))
            return true;
        remote_refuse(why, "a seccomp filter was installed meanwhile: attach again");
    }
    call_control(r, function, &end, &ignored);
    return false;
}

static void mark_unchanged(remote *r, uint64_t function, const char *what,
                           const remote_reason *why) {
    control mark = {.action = CONTROL_MARK};
    remote_reason ignored;
    snprintf(mark.text, sizeof mark.text, "%s: %s", what, why->text);
    call_control(r, function, &mark, &ignored);
}

/* Makes the code changes that a recorder asks for when it begins or ends. If a change fails, less
 * is recorded. */
static bool change_code(remote *r, uint64_t function, control *c) {
    const bool ends = c->action == CONTROL_END;
    remote_reason why = {""};
    c->linked[sizeof c->linked - 1] = '\0';
    if ((c->action != CONTROL_BEGIN && !ends) || c->n_codes == 0 || c->n_codes > CONTROL_CODES ||
        remote_change_code(r, c->codes, c->n_codes, ends, &why))
        return true;
    if (ends) {
        snprintf(c->linked, sizeof c->linked, "%.200s", why.text);
        return true;
    }
    if (c->n_linked < c->n_codes)
        mark_unchanged(r, function, "stacks are recorded without frames of its language", &why);
    if (c->n_linked > 0) {
        mark_unchanged(r, function, "the program's own allocator is not recorded", &why);
        snprintf(c->linked, sizeof c->linked,
                 "has an allocator of its own, which is not recorded: %.180s", why.text);
        c->n_linked = 0;
    }
    return true;
}

/* Calls the recorder and finds out with which rights it answered. A process may change its rights
 * by running another program, even back and forth. So the rights before and after the call, while
 * the thread is stopped, must be equal. */
static bool call_recorder(remote *r, uint64_t function, control *c, rights *whose,
                          remote_reason *why) {
    rights before;
    if (!remote_rights(r, &before) || !call_control(r, function, c, why) ||
        !remote_rights(r, whose) || !rights_equal(&before, whose)) {
        if (!*why->text)
            remote_refuse(why, "the process has ended, or changed its rights");
        return false;
    }
    return keep_or_end(r, function, c, why) && change_code(r, function, c);
}

static bool control_process(pid_t pid, const char *library, control *c, rights *whose,
                            remote_reason *why) {
    process_module recorder;
    errno = 0;
    bool there = process_find_module(pid, RECORDER, &recorder), done = false;
    bool hidden = !there && errno == EACCES; /* remote_open says why */
    if (process_exists(pid) && !process_has_program(pid))
        return remote_refuse(why, "process %d runs no program: it is a zombie or a kernel thread",
                             (int)pid);
    if (!there && !hidden && !library && process_exists(pid)) {
        c->outcome = CONTROL_IDLE;
        return true;
    }
    if (!there && !hidden && library && process_exists(pid) &&
        (!can_get_file(pid, library, why) || has_sanitizer(pid, why)))
        return false;
    remote *r = remote_open(pid, why);
    if (!r)
        return false;
    if (there || load_recorder(r, pid, library, why)) {
        if (process_find_module(pid, RECORDER, &recorder)) {
            uint64_t function = process_symbol(pid, &recorder, CONTROL_FUNCTION);
            done = call_recorder(r, function, c, whose, why);
        } else
            remote_refuse(why, "the recorder is no longer where it was loaded");
    }
    remote_close(r);
    return done;
}

/* ---- a separate process for tracing ------------------------------------------------------------
 * A thread that is stopped while it has our registers crashes if its tracer ends. So the tracer is
 * a child process in a session of its own: it gets no signal meant for the command, and it finishes
 * even if the command is killed. */

/* Shared memory of the command and the child. */
typedef struct errand {
    control c;
    rights whose;
    remote_reason why;
    bool finished, done;
} errand;

static pid_t start_errand(errand *e, pid_t pid, const char *library) {
    pid_t child = fork();
    if (child == 0) {
        setsid();
        e->done = control_process(pid, library, &e->c, &e->whose, &e->why);
        e->finished = true;
        _exit(0);
    }
    return child;
}

static void run_errand(errand *e, pid_t pid, const char *library) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_t child = start_errand(e, pid, library);
    if (child > 0)
        TEMP_FAILURE_RETRY(waitpid(child, NULL, 0));
    else
        remote_refuse(&e->why, "cannot start a process to trace %d: %s", (int)pid, strerror(errno));
    if (child > 0 && !e->finished)
        remote_refuse(&e->why, "the helper that traced process %d was killed before it finished",
                      (int)pid);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

bool attach_control(pid_t pid, const char *library, control *c, rights *whose, remote_reason *why) {
    if (pid == getpid())
        return remote_refuse(why, "process %d is this command itself", (int)pid);
    errand *e = mmap(NULL, sizeof *e, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (e == MAP_FAILED)
        return remote_refuse(why, "not enough memory");
    e->c = *c;
    run_errand(e, pid, library);
    bool done = e->finished && e->done;
    *c = e->c;
    if (whose)
        *whose = e->whose;
    *why = e->why;
    munmap(e, sizeof *e);
    return done;
}

int attach_open_files(pid_t pid) {
    char root[64], mounts[64];
    snprintf(root, sizeof root, "/proc/%d/root/.", (int)pid);
    snprintf(mounts, sizeof mounts, "/proc/%d/ns/mnt", (int)pid);
    if (file_is_same("/proc/self/ns/mnt", mounts) && file_is_same("/", root))
        return -1;
    int files = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    /* Deliberately left open: the mounts exist as long as this is open. */
    if (files >= 0 && open(mounts, O_RDONLY | O_CLOEXEC) < 0) {
        close(files);
        return -1;
    }
    return files;
}

int attach_enter_files(int files, const rights *whose) {
    if (files >= 0 && (fchdir(files) != 0 || chroot(".") != 0))
        return errno;
    return rights_take(whose);
}

/* Reads the path by which the program was started from the memory of the process. */
static bool read_started(pid_t pid, char *path, size_t size) {
    const uint64_t at = process_auxv(pid, AT_EXECFN);
    struct iovec here = {path, size - 1}, there = {(void *)(uintptr_t)at, size - 1};
    const ssize_t n = at ? process_vm_readv(pid, &here, 1, &there, 1, 0) : 0;
    path[n > 0 ? n : 0] = '\0';
    return *path == '/';
}

/* Finds the link by which the program was started, if it was started by a link. */
static bool find_started(pid_t pid, char *path, size_t size) {
    char started[512], seen[1024], program[64];
    snprintf(program, sizeof program, "/proc/%d/exe", (int)pid);
    if (!read_started(pid, started, sizeof started) ||
        !process_path(pid, started, seen, sizeof seen) || !file_is_same(seen, program))
        return false;
    snprintf(path, size, "%s", started);
    return true;
}

bool attach_program(pid_t pid, char *path, size_t size) {
    return find_started(pid, path, size) || proc_link((uint64_t)pid, "exe", path, size);
}
