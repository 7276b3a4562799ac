/* jvm_late.c: the thread that joins a JVM, and when it may do so. */
#include "runtimes/jvm/jvm_late.h"

#include <fcntl.h>
#include <jni.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "platform/loader.h"
#include "platform/syscall.h"
#include "record/recorder.h"
#include "runtimes/jvm/jvm_agent.h"

typedef jint created_vms(JavaVM **vms, jsize room, jsize *n);

static struct {
    created_vms *created;
    _Atomic bool is_locked;  /* by one of our threads, which then owns `done` */
    unsigned done;           /* value of `wanted` at the last look */
    _Atomic unsigned wanted; /* odd: record, even: do not; changes with each request */
} late;

/* ---- is the JVM ready? ---------------------------------------------------------------------- */

static bool thread_is(long tasks, const char *id, const char *name) {
    char path[64], text[32];
    const size_t length = strlen(id), n_name = strlen(name);
    if (length > 20)
        return false;
    memcpy(path, id, length);
    memcpy(path + length, "/comm", sizeof "/comm");
    const long file = syscall4(SYS_openat, tasks, (long)path, O_RDONLY | O_CLOEXEC, 0);
    if (syscall_failed(file))
        return false;
    const long n = syscall4(SYS_read, file, (long)text, sizeof text, 0);
    syscall4(SYS_close, file, 0, 0, 0);
    return n >= (long)n_name && memcmp(text, name, n_name) == 0;
}

struct entry { /* linux_dirent64 */
    uint64_t inode, next;
    uint16_t size;
    unsigned char type;
    char name[];
};

static bool some_thread_is(long tasks, const char *name) {
    _Alignas(struct entry) char entries[4096];
    long n;
    while ((n = syscall4(SYS_getdents64, tasks, (long)entries, sizeof entries, 0)) > 0 &&
           !syscall_failed(n))
        for (long at = 0; at < n; at += ((const struct entry *)(entries + at))->size)
            if (thread_is(tasks, ((const struct entry *)(entries + at))->name, name))
                return true;
    return false;
}

/* Returns whether the JVM can have Java threads. Before 21, a JVM counts as created as soon as its
 * creation begins. "Reference Handler" is one of the first Java threads, and each HotSpot has it;
 * our thread is to be a Java thread as well. */
static bool has_java_threads(void) {
    const long tasks = syscall4(SYS_openat, AT_FDCWD, (long)"/proc/self/task",
                                O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (syscall_failed(tasks))
        return true;
    const bool has = some_thread_is(tasks, "Reference Handl");
    syscall4(SYS_close, tasks, 0, 0, 0);
    return has;
}

static void rest(void) {
    const struct timespec how_long = {.tv_nsec = 10 * 1000 * 1000};
    syscall4(SYS_nanosleep, (long)&how_long, 0, 0, 0);
}

/* Returns NULL if there is no JVM. */
static JavaVM *find_vm(void) {
    enum { TIMES = 300 };
    JavaVM *vm;
    jsize n = 0;
    for (int i = 0; i < TIMES && !has_java_threads(); i++)
        rest();
    return late.created(&vm, 1, &n) == JNI_OK && n > 0 ? vm : NULL;
}

/* ---- our thread ------------------------------------------------------------------------------ */

static void change(JavaVM *vm, void *env, unsigned wanted) {
    enum { TIMES = 1000 };
    if (late.done % 2 == 1)
        jvm_agent_leave();
    if (wanted % 2 == 0)
        return;
    for (int i = 0; i < TIMES && !jvm_agent_may_join(vm); i++)
        rest();
    jvm_agent_join(vm, env);
}

static void look(void) {
    static char name[] = "allotrace";
    JavaVMAttachArgs arguments = {.version = JNI_VERSION_1_8, .name = name};
    JavaVM *vm = find_vm();
    void *env;
    if (!vm || (*vm)->AttachCurrentThreadAsDaemon(vm, &env, &arguments) != JNI_OK)
        return;
    const unsigned wanted = atomic_load(&late.wanted);
    if (wanted != late.done)
        change(vm, env, wanted);
    late.done = wanted;
    (*vm)->DetachCurrentThread(vm);
}

static void *work(void *unused) {
    const int64_t left = recorder_pause();
    while (atomic_exchange(&late.is_locked, true))
        rest();
    if (atomic_load(&late.wanted) != late.done)
        look();
    atomic_store(&late.is_locked, false);
    recorder_resume(left);
    return unused;
}

/* Any process with a JVM has these functions; other programs need not be linked with them. */
static bool start_thread(void) {
    void *create = loader_symbol(RTLD_DEFAULT, "pthread_create");
    void *detach = loader_symbol(RTLD_DEFAULT, "pthread_detach");
    __typeof__(pthread_create) *call_create;
    __typeof__(pthread_detach) *call_detach;
    pthread_t thread;
    memcpy(&call_create, &create, sizeof create);
    memcpy(&call_detach, &detach, sizeof detach);
    return create && detach && call_create(&thread, NULL, work, NULL) == 0 &&
           call_detach(thread) == 0;
}

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

/* Starts our thread with signals blocked, so that it does not take the program's. The JVM may need
 * the signals of faults, and the C library needs two for itself, for setuid and the like in all
 * threads. */
static bool start_quietly(void) {
    enum { LIBC_FIRST = 32 };
    const uint64_t faults = BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP);
    const uint64_t quiet = ~(faults | BIT(LIBC_FIRST) | BIT(LIBC_FIRST + 1));
    uint64_t before;
    if (syscall_failed(
            syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&quiet, (long)&before, sizeof before)))
        return false;
    const bool done = start_thread();
    syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
    return done;
}

/* ---- for jvm.c ------------------------------------------------------------------------------- */

void jvm_late_begin(void *created) {
    memcpy(&late.created, &created, sizeof created);
    atomic_store(&late.wanted, (atomic_load(&late.wanted) + 2) | 1);
    if (!start_quietly())
        recorder_mark(
            "its JVM cannot be asked, as no thread can be started, so its objects are not "
            "recorded");
}

void jvm_late_end(void) {
    const unsigned wanted = atomic_load(&late.wanted);
    if (wanted % 2 == 0)
        return;
    atomic_store(&late.wanted, wanted + 1);
    start_quietly();
}
