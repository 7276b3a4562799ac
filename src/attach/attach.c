/* attach.c: see attach.h. */
#include "attach/attach.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process.h"

#define RECORDER "liballotrace-preload.so" /* begins the name of its file */

enum { CONTROL_AT = 0, TEXT_AT = 32 * 1024 }; /* in the room */
_Static_assert(sizeof(control) <= TEXT_AT, "the room holds both");

/* Does the process see the same file at that path? In a container or after chroot it may not. */
static bool sees_file(pid_t pid, const char *path, remote_reason *why) {
    char seen[1024];
    struct stat here, there;
    if (process_path(pid, path, seen, sizeof seen) && stat(path, &here) == 0 &&
        stat(seen, &there) == 0 && here.st_dev == there.st_dev && here.st_ino == there.st_ino)
        return true;
    snprintf(why->text, sizeof why->text,
             "process %d sees other files than we do (a container?): %.120s is not among them",
             (int)pid, path);
    return false;
}

/* A sanitizer that is linked into the program itself: not one allocation of the program could be
 * seen. In a library of its own it does no harm. */
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
            snprintf(
                why->text, sizeof why->text,
                "process %d has %s's malloc in the program itself, whose calls of it cannot be "
                "seen: build it without, or with -shared-libsan",
                (int)pid, all[i].name);
            return true;
        }
    return false;
}

bool attach_has_own_malloc(pid_t pid) {
    process_module program;
    return process_find_program(pid, &program) && process_symbol(pid, &program, "malloc");
}

/* What dlerror says over there. */
static void read_loader_error(remote *r, remote_reason *why) {
    char text[160] = "";
    uint64_t at = 0, length = 0, none[3] = {0}, function = remote_function(r, "strncpy");
    remote_reason ignored;
    if (remote_call(r, remote_function(r, "dlerror"), none, &at, &ignored) && at && function) {
        uint64_t copy[3] = {remote_room(r, TEXT_AT), at, sizeof text - 1};
        if (remote_call(r, function, copy, &length, &ignored))
            remote_read(r, TEXT_AT, text, sizeof text - 1);
    }
    snprintf(why->text, sizeof why->text, "the recorder cannot be loaded into the process: %s",
             text);
}

static bool load_recorder(remote *r, const char *library, remote_reason *why) {
    uint64_t handle = 0;
    uint64_t arguments[3] = {remote_room(r, TEXT_AT), RTLD_NOW | RTLD_LOCAL, 0};
    if (!remote_write(r, TEXT_AT, library, strlen(library) + 1)) {
        snprintf(why->text, sizeof why->text, "the process has ended");
        return false;
    }
    if (!remote_call(r, remote_function(r, "dlopen"), arguments, &handle, why))
        return false;
    if (handle)
        return true;
    read_loader_error(r, why);
    return false;
}

static bool call_control(remote *r, uint64_t function, control *c, remote_reason *why) {
    uint64_t arguments[3] = {remote_room(r, CONTROL_AT), 0, 0}, nothing;
    c->version = CONTROL_VERSION;
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

/* A thread may have got a filter before the recorder, which watches over that, was there. */
static bool keep_or_end(remote *r, uint64_t function, const control *c, remote_reason *why) {
    control end = {.action = CONTROL_END};
    remote_reason ignored;
    if (c->action != CONTROL_BEGIN || c->outcome != CONTROL_DONE || remote_check_filters(r, why))
        return true;
    call_control(r, function, &end, &ignored);
    return false;
}

static bool control_process(pid_t pid, const char *library, control *c, remote_reason *why) {
    process_module recorder;
    errno = 0;
    bool there = process_find_module(pid, RECORDER, &recorder), done = false;
    bool hidden = !there && errno == EACCES; /* remote_open says why */
    if (process_exists(pid) && !process_has_program(pid)) {
        snprintf(why->text, sizeof why->text,
                 "process %d runs no program: it has ended and its parent has not asked for its "
                 "status, or it is the kernel's own",
                 (int)pid);
        return false;
    }
    if (!there && !hidden && !library && process_exists(pid)) {
        c->outcome = CONTROL_IDLE;
        return true;
    }
    if (!there && !hidden && library && process_exists(pid) &&
        (!sees_file(pid, library, why) || has_sanitizer(pid, why)))
        return false;
    remote *r = remote_open(pid, why);
    if (!r)
        return false;
    if (there || load_recorder(r, library, why)) {
        if (process_find_module(pid, RECORDER, &recorder)) {
            uint64_t function = process_symbol(pid, &recorder, CONTROL_FUNCTION);
            done = call_control(r, function, c, why) && keep_or_end(r, function, c, why);
        } else
            snprintf(why->text, sizeof why->text, "the recorder is not where it was loaded");
    }
    remote_close(r);
    return done;
}

/* ---- a process of its own for it ---------------------------------------------------------------
 *
 * A thread that stands with our registers in it crashes if its tracer ends. So that is a child
 * which gets no signal that is meant for the command: it has a session of its own, and goes on to
 * the end when the command is killed. */

/* In memory that both see. */
typedef struct errand {
    control c;
    remote_reason why;
    bool finished, done;
} errand;

static pid_t start_errand(errand *e, pid_t pid, const char *library) {
    pid_t child = fork();
    if (child == 0) {
        setsid();
        e->done = control_process(pid, library, &e->c, &e->why);
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
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (child < 0)
        snprintf(e->why.text, sizeof e->why.text, "no process can be started to trace %d: %s",
                 (int)pid, strerror(errno));
    else if (!e->finished)
        snprintf(e->why.text, sizeof e->why.text,
                 "what traced process %d for us was killed before it was done", (int)pid);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

bool attach_control(pid_t pid, const char *library, control *c, remote_reason *why) {
    if (pid == getpid()) {
        snprintf(why->text, sizeof why->text, "process %d is this very command", (int)pid);
        return false;
    }
    errand *e = mmap(NULL, sizeof *e, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (e == MAP_FAILED) {
        snprintf(why->text, sizeof why->text, "no memory");
        return false;
    }
    e->c = *c;
    run_errand(e, pid, library);
    bool done = e->finished && e->done;
    *c = e->c;
    *why = e->why;
    munmap(e, sizeof *e);
    return done;
}

bool attach_program(pid_t pid, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(link, path, size - 1);
    if (n > 0)
        path[n] = '\0';
    return n > 0;
}
