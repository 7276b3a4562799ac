/* jvm_late.c: the thread, and when it may become one of the JVM's. */
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
    pthread_mutex_t lock;    /* of what follows; only our own threads take it */
    unsigned done;           /* what was wanted when one last looked */
    _Atomic unsigned wanted; /* odd: a recording; each has a number of its own */
} late = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- is the JVM far enough? ------------------------------------------------------------------ */

static bool thread_is(int tasks, const char *id, const char *name) {
    char path[64], text[32];
    const size_t length = strlen(id), n_name = strlen(name);
    if (length > 20)
        return false;
    memcpy(path, id, length);
    memcpy(path + length, "/comm", sizeof "/comm");
    const int file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = file < 0 ? -1 : read(file, text, sizeof text);
    if (file >= 0)
        close(file);
    return n >= (ssize_t)n_name && memcmp(text, name, n_name) == 0;
}

struct entry { /* linux_dirent64 */
    uint64_t inode, next;
    uint16_t size;
    unsigned char type;
    char name[];
};

static bool some_thread_is(int tasks, const char *name) {
    _Alignas(struct entry) char entries[4096];
    long n;
    while ((n = syscall4(SYS_getdents64, tasks, (long)entries, sizeof entries, 0)) > 0 &&
           !syscall_failed(n))
        for (long at = 0; at < n; at += ((const struct entry *)(entries + at))->size)
            if (thread_is(tasks, ((const struct entry *)(entries + at))->name, name))
                return true;
    return false;
}

/* Before 21, a JVM counts as created when its creation has begun. This thread of its own, which
 * each HotSpot has, is one of the first that are objects of Java, as ours is to be. */
static bool has_java_threads(void) {
    const int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool has = tasks < 0 || some_thread_is(tasks, "Reference Handl");
    if (tasks >= 0)
        close(tasks);
    return has;
}

static void rest(void) {
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
}

/* NULL: there is none. */
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
    pthread_mutex_lock(&late.lock);
    if (atomic_load(&late.wanted) != late.done)
        look();
    pthread_mutex_unlock(&late.lock);
    recorder_resume(left);
    return unused;
}

LIBC_MAY_LACK(pthread_create);
LIBC_MAY_LACK(pthread_attr_setstacksize);
LIBC_MAY_LACK(pthread_sigmask);

static bool start_thread(void) {
    enum { STACK = 1 << 20 };
    pthread_t thread;
    pthread_attr_t how;
    if (!pthread_create || !pthread_attr_setstacksize || pthread_attr_init(&how) != 0)
        return false;
    pthread_attr_setstacksize(&how, STACK);
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    const bool done = pthread_create(&thread, &how, work, NULL) == 0;
    pthread_attr_destroy(&how);
    return done;
}

/* The program's signals are not for our thread, but the JVM may need those of faults. */
static bool start_quietly(void) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t quiet, before;
    sigfillset(&quiet);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&quiet, faults[i]);
    if (!pthread_sigmask || pthread_sigmask(SIG_SETMASK, &quiet, &before) != 0)
        return false;
    const bool done = start_thread();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
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
