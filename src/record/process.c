/* process.c: calls other than those for memory that concern a recording. These are the calls by
 * which a process leaves without running exit handlers, the calls by which a language runtime is
 * recognized, and dlclose, after which an address may have another meaning. A program that is
 * exec'ed gets the environment unchanged, so that it is recorded, too. One that cannot be recorded,
 * because the trace belongs to another process, starts without the recorder (environment.c). One
 * that cannot load the recorder is handed over to `run` (handover.c). */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/hot.h"
#include "platform/module.h"
#include "platform/pages.h"
#include "record/calls.h"
#include "record/code.h"
#include "record/environment.h"
#include "record/handover.h"
#include "record/next.h"
#include "record/recorder.h"
#include "record/runtime.h"
#include "record/span.h"

#define EXPORT __attribute__((visibility("default"))) CPU_ALIGN_STACK

#define DECLARE_EXEC(result, name, parameters, arguments) HOT_CODE EXPORT result name parameters;
CALLS_EXEC(DECLARE_EXEC)
CALLS_SPAWN(DECLARE_EXEC)

/* Makes `envp` the environment of the program; a changed environment is built on the stack. */
#define PREPARE_ENVIRONMENT(becomes)                                                               \
    const size_t room_ = environment_room(envp, becomes);                                          \
    if (room_)                                                                                     \
    envp = environment_without_us(envp, __builtin_alloca((room_ + 1) * sizeof *envp),              \
                                  __builtin_alloca(ENVIRONMENT_TEXT))

/* An exec returns only on failure. `handover` asks `run` to follow a program that cannot load the
 * recorder. */
#define BECOME(call, handover)                                                                     \
    recorder_before_exec();                                                                        \
    PREPARE_ENVIRONMENT(true);                                                                     \
    const int handed_ = handover;                                                                  \
    const int failed_ = next.call;                                                                 \
    handover_failed(handed_);                                                                      \
    recorder_after_exec();                                                                         \
    return failed_

#define SPAWN(call, handover)                                                                      \
    PREPARE_ENVIRONMENT(false);                                                                    \
    const int handed_ = handover;                                                                  \
    const int error_ = next.call;                                                                  \
    (error_ ? handover_failed : handover_end)(handed_);                                            \
    return error_

int execve(const char *path, char *const argv[], char *const envp[]) {
    BECOME(execve(path, argv, envp), handover_begin(AT_FDCWD, path, 0, envp, false));
}

int execvpe(const char *file, char *const argv[], char *const envp[]) {
    BECOME(execvpe(file, argv, envp), handover_begin_named(file, envp, false));
}

int fexecve(int fd, char *const argv[], char *const envp[]) {
    BECOME(fexecve(fd, argv, envp), handover_begin(fd, "", AT_EMPTY_PATH, envp, false));
}

int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags) {
    BECOME(execveat(fd, path, argv, envp, flags), handover_begin(fd, path, flags, envp, false));
}

int execv(const char *path, char *const argv[]) {
    return execve(path, argv, environ);
}

int execvp(const char *file, char *const argv[]) {
    return execvpe(file, argv, environ);
}

int posix_spawn(pid_t *pid, const char *path, const void *actions, const void *attributes,
                char *const argv[], char *const envp[]) {
    SPAWN(posix_spawn(pid, path, actions, attributes, argv, envp),
          handover_begin(AT_FDCWD, path, 0, envp, true));
}

int posix_spawnp(pid_t *pid, const char *file, const void *actions, const void *attributes,
                 char *const argv[], char *const envp[]) {
    SPAWN(posix_spawnp(pid, file, actions, attributes, argv, envp),
          handover_begin_named(file, envp, true));
}

#define DEFINE_EXIT(name, parameters, arguments, before)                                           \
    HOT_CODE EXPORT void name parameters;                                                          \
    void name parameters {                                                                         \
        before();                                                                                  \
        next.name arguments;                                                                       \
        __builtin_unreachable();                                                                   \
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes" /* some compilers treat abort as cold */
CALLS_EXIT(DEFINE_EXIT)
#pragma GCC diagnostic pop

/* The runtime gets the path and the caller's address, from which it may conclude what the call is
 * for. */
#define DEFINE_LINK(result, name, parameters, arguments)                                           \
    EXPORT result name parameters;                                                                 \
    result name parameters {                                                                       \
        const struct runtime *runtime = recorder_runtime();                                        \
        if (runtime && runtime->link_read)                                                         \
            runtime->link_read(path, __builtin_return_address(0));                                 \
        return next.name arguments;                                                                \
    }
CALLS_LINK(DEFINE_LINK)

EXPORT int dlclose(void *handle);
int dlclose(void *handle) {
    module_unloading(true);
    int error = next.dlclose(handle);
    span_look(true);
    module_unloading(false);
    code_modules_changed();
    return error;
}

/* ---- exec with a list of arguments --------------------------------------------------------- */

/* The arguments, collected without malloc: exec must work after vfork and in signal handlers. */
struct arguments {
    char *few[250]; /* enough for nearly all calls */
    char **argv;    /* `few`, or pages */
    size_t size;    /* size of argv, bytes */
};

static size_t count_arguments(const char *first, va_list list) {
    size_t n = 1;
    for (const char *a = first; a; a = va_arg(list, const char *))
        n++;
    return n; /* includes the NULL at the end */
}

/* Returns false if there is no memory for so many arguments. */
static bool arguments_reserve(struct arguments *a, size_t n) {
    a->size = n * sizeof *a->argv;
    a->argv = a->size <= sizeof a->few ? a->few : pages_alloc(a->size);
    if (!a->argv)
        errno = E2BIG;
    return a->argv;
}

/* Leaves *list after the terminating NULL. */
static void arguments_collect(struct arguments *a, const char *first, va_list *list) {
    char **argv = a->argv;
    *argv = (char *)first;
    while (*argv++)
        *argv = va_arg(*list, char *);
}

/* Frees the arguments after exec has failed, and returns -1. */
static int arguments_drop(struct arguments *a) {
    if (a->argv != a->few)
        pages_free(a->argv, a->size);
    return -1;
}

#define COLLECT(a, first, list)                                                                    \
    va_list list;                                                                                  \
    va_start(list, first);                                                                         \
    bool fits = arguments_reserve(&a, count_arguments(first, list));                               \
    va_end(list);                                                                                  \
    if (!fits)                                                                                     \
        return -1;                                                                                 \
    va_start(list, first);                                                                         \
    arguments_collect(&a, first, &list)

EXPORT int execl(const char *path, const char *first, ...);
int execl(const char *path, const char *first, ...) {
    struct arguments a;
    COLLECT(a, first, list);
    va_end(list);
    execv(path, a.argv);
    return arguments_drop(&a);
}

EXPORT int execlp(const char *file, const char *first, ...);
int execlp(const char *file, const char *first, ...) {
    struct arguments a;
    COLLECT(a, first, list);
    va_end(list);
    execvp(file, a.argv);
    return arguments_drop(&a);
}

EXPORT int execle(const char *path, const char *first, ...);
int execle(const char *path, const char *first, ...) {
    struct arguments a;
    COLLECT(a, first, list);
    char *const *envp = va_arg(list, char *const *);
    va_end(list);
    execve(path, a.argv, envp);
    return arguments_drop(&a);
}
