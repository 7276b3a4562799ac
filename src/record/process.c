/* process.c: the calls besides those for memory that a recording must know of: those by which a
 * process leaves without running exit handlers, and dlclose, after which an address may mean
 * something else. The environment stays as it is, so that a program that is exec'ed can be
 * recorded, too. */
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "platform/module.h"
#include "platform/pages.h"
#include "record/calls.h"
#include "record/code.h"
#include "record/recorder.h"

#define EXPORT __attribute__((visibility("default")))

#define DEFINE_EXEC(result, name, parameters, arguments)                                           \
    EXPORT result name parameters;                                                                 \
    result name parameters {                                                                       \
        recorder_before_exec();                                                                    \
        result failed = next.name arguments;                                                       \
        recorder_after_exec();                                                                     \
        return failed;                                                                             \
    }
CALLS_EXEC(DEFINE_EXEC)

#define DEFINE_EXIT(name, parameters, arguments, before)                                           \
    EXPORT void name parameters;                                                                   \
    void name parameters {                                                                         \
        before();                                                                                  \
        next.name arguments;                                                                       \
        __builtin_unreachable();                                                                   \
    }
CALLS_EXIT(DEFINE_EXIT)

EXPORT int dlclose(void *handle);
int dlclose(void *handle) {
    module_unloading(true);
    int error = next.dlclose(handle);
    module_unloading(false);
    code_modules_changed();
    return error;
}

/* ---- exec with its arguments one by one ---------------------------------------------------- */

/* They are collected without malloc, because exec must work after vfork and in signal handlers. */
struct arguments {
    char *few[250]; /* enough for nearly all */
    char **argv;    /* `few`, or pages */
    size_t size;    /* of argv, bytes */
};

static size_t count_arguments(const char *first, va_list list) {
    size_t n = 1;
    for (const char *a = first; a; a = va_arg(list, const char *))
        n++;
    return n; /* with the NULL at the end */
}

/* False if there is no memory for so many. */
static bool arguments_reserve(struct arguments *a, size_t n) {
    a->size = n * sizeof *a->argv;
    a->argv = a->size <= sizeof a->few ? a->few : pages_alloc(a->size);
    if (!a->argv)
        errno = E2BIG;
    return a->argv;
}

/* Leaves *list behind the terminating NULL. */
static void arguments_collect(struct arguments *a, const char *first, va_list *list) {
    char **argv = a->argv;
    *argv = (char *)first;
    while (*argv++)
        *argv = va_arg(*list, char *);
}

/* exec has failed. */
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
