/* hostile.c: what programs do to a recorder that lives in them. `hostile NAME` behaves in one way
 * and prints what came of it, which must not depend on whether somebody records. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;
static void await(void);
static void *volatile keep;

static void churn(int n) {
    void *blocks[16] = {0};
    for (int i = 0; i < n; i++) {
        int at = i % 16;
        free(blocks[at]);
        blocks[at] = malloc((size_t)(i % 1000 * 37 % 1000 + 1));
        keep = blocks[at];
    }
    for (int i = 0; i < 16; i++)
        free(blocks[i]);
}

static void *churn_thread(void *n) {
    churn((int)(long)n);
    return n;
}

/* ---- ends */

static void do_exit(void) {
    churn(2000);
    _exit(7);
}

static void do_abort(void) {
    signal(SIGABRT, SIG_DFL);
    churn(2000);
    abort();
}

static void do_kill(void) {
    churn(2000);
    raise(SIGKILL);
}

static void do_fault(void) {
    churn(2000);
    *(volatile int *)8 = 1;
}

/* At a moment that differs from run to run, while others allocate. */
static void *end_sometime(void *sig) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    usleep((useconds_t)(now.tv_nsec / 1000 % 50000));
    kill(getpid(), (int)(long)sig);
    return NULL;
}

static void end_any_time(long sig) {
    pthread_t thread;
    pthread_create(&thread, NULL, end_sometime, (void *)sig);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread, NULL, churn_thread, (void *)(long)INT_MAX);
    churn(INT_MAX);
}

static void do_kill_any_time(void) {
    end_any_time(SIGKILL);
}

static void do_fault_any_time(void) {
    end_any_time(SIGSEGV);
}

/* While threads allocate. */
static void do_busy_exit(void) {
    pthread_t thread;
    for (int i = 0; i < 4; i++)
        pthread_create(&thread, NULL, churn_thread, (void *)(long)INT_MAX);
    usleep(20000);
    exit(9);
}

static void at_end(void) {
    churn(1000);
    puts("at the end");
}

static void at_end_first(void) {
    atexit(at_end);
    churn(1000);
}

static void do_end_handlers(void) {
    atexit(at_end_first);
    churn(100);
    exit(5);
}

static void do_quick_exit(void) {
    at_quick_exit(at_end);
    churn(100);
    quick_exit(6);
}

/* An allocation in the handler that the fault of an allocator's caller led to. */
static void on_fault(int sig) {
    churn(100);
    _exit(sig);
}

static void do_alternate_stack(void) {
    stack_t stack = {.ss_sp = malloc(16384), .ss_size = 16384};
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    churn(2000);
    *(volatile int *)8 = 1;
}

static int recurse(int depth) {
    volatile char room[512];
    room[0] = 1;
    keep = malloc(24);
    free(keep);
    return recurse(depth + 1) + room[0];
}

static void do_overflow(void) {
    stack_t stack = {.ss_sp = malloc(16384), .ss_size = 16384};
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    struct rlimit limit = {262144, 262144};
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    setrlimit(RLIMIT_STACK, &limit);
    recurse(0);
}

/* ---- resources */

static void do_close_all(void) {
    churn(2000);
    for (int fd = 3; fd < 4096; fd++)
        close(fd);
    churn(2000);
    int fd = open("/dev/null", O_RDONLY);
    printf("the next descriptor is %d\n", fd);
    for (int i = 0; i < 100; i++)
        if (fcntl(i, F_GETFD) >= 0)
            printf("%d is open\n", i);
    churn(2000);
}

/* With a table of descriptors of its own. */
static void do_close_range(void) {
    churn(1000);
    printf("%d\n", close_range(3, ~0U, CLOSE_RANGE_UNSHARE));
    churn(5000);
    printf("the next descriptor is %d\n", open("/dev/null", O_RDONLY));
}

static void do_close_standard(void) {
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    churn(5000);
    _exit(10 + open("/dev/null", O_RDWR));
}

static void do_lock_memory(void) {
    pthread_t thread;
    printf("%d\n", mlockall(MCL_CURRENT | MCL_FUTURE));
    churn(20000);
    printf("%d\n", pthread_create(&thread, NULL, churn_thread, (void *)1000L));
    pthread_join(thread, NULL);
}

static void do_umask(void) {
    umask(0777);
    churn(1000);
    if (fork() == 0)
        do_exit();
    await();
}

/* As a server does that gives up its rights. */
static void do_other_user(void) {
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    churn(5000);
    printf("%d\n", setuid(65534));
    churn(5000);
}

/* Takes every descriptor, uses them, and looks that nobody wrote into one. */
static void do_descriptors(void) {
    struct rlimit limit = {200, 200};
    char name[] = "/tmp/hostile.XXXXXX";
    setrlimit(RLIMIT_NOFILE, &limit);
    int fd = mkstemp(name), n = 0;
    unlink(name);
    for (int i = fd + 1; i < 4000; i++)
        n += dup2(fd, i) == i;
    churn(20000);
    struct stat st;
    fstat(fd, &st);
    printf("%d descriptors, %ld bytes\n", n, (long)st.st_size);
    printf("one more: %d\n", open("/dev/null", O_RDONLY));
}

static void do_file_size(void) {
    struct rlimit limit = {4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    churn(20000);
    puts("alive");
}

static void do_memory(void) {
    struct rlimit limit = {200 << 20, 200 << 20};
    setrlimit(RLIMIT_AS, &limit);
    int n = 0;
    void **list = NULL, **next;
    while ((next = malloc(5000))) {
        *next = list;
        list = next;
        n++;
    }
    printf("%s after more than 30000: %d\n", strerror(errno), n > 30000);
    for (; list; list = next) {
        next = *list;
        free(list);
    }
    churn(2000);
    pthread_t thread;
    if (pthread_create(&thread, NULL, churn_thread, (void *)1000L) == 0)
        pthread_join(thread, NULL);
}

static void do_chroot(void) {
    churn(2000);
    int failed = chroot("/proc/self/fdinfo");
    for (int fd = 3; fd < 4096; fd++)
        close(fd);
    churn(20000);
    printf("chroot: %d\n", failed);
}

/* ---- threads and stacks */

static void do_small_threads(void) {
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    printf("%d\n", pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)));
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attr, churn_thread, (void *)2000L))
            puts("no thread");
        pthread_join(thread, NULL);
    }
    puts("done");
}

static void do_many_threads(void) {
    pthread_t threads[32];
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < 32; i++)
            pthread_create(&threads[i], NULL, churn_thread, (void *)100L);
        for (int i = 0; i < 32; i++)
            pthread_join(threads[i], NULL);
    }
    puts("done");
}

static pthread_key_t key;

/* Allocates when everything else of the thread is gone, and comes again. */
static void forget(void *block) {
    static _Atomic int rounds;
    churn(100);
    free(block);
    if (++rounds % 4)
        pthread_setspecific(key, malloc(30));
}

static void *key_thread(void *unused) {
    (void)unused;
    pthread_setspecific(key, malloc(20));
    churn(500);
    return NULL;
}

static void do_thread_keys(void) {
    pthread_t thread;
    pthread_key_create(&key, forget);
    for (int i = 0; i < 50; i++) {
        pthread_create(&thread, NULL, key_thread, NULL);
        pthread_join(thread, NULL);
    }
    puts("done");
}

static void clean_up(void *block) {
    free(block);
    churn(50);
}

static void *endless_thread(void *unused) {
    (void)unused;
    pthread_cleanup_push(clean_up, malloc(100));
    for (;;) {
        churn(20);
        pthread_testcancel();
    }
    pthread_cleanup_pop(1);
    return NULL;
}

static void do_cancel(void) {
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, endless_thread, NULL);
        usleep((useconds_t)i * 10);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED)
            puts("it ended by itself");
    }
    puts("done");
}

static void *raw_thread(void *unused) {
    churn(1000);
    syscall(SYS_exit, 0); /* nobody is told */
    return unused;
}

static void do_raw_exit(void) {
    pthread_t thread;
    for (int i = 0; i < 20; i++)
        pthread_create(&thread, NULL, raw_thread, NULL);
    usleep(100000);
    puts("done");
    _exit(3);
}

/* The first thread ends before the others. */
static void do_first_thread_ends(void) {
    pthread_t thread;
    pthread_key_create(&key, free);
    pthread_create(&thread, NULL, key_thread, NULL);
    churn(100);
    pthread_exit(NULL);
}

static ucontext_t main_context, other_context;

static void coroutine(void) {
    for (int i = 0; i < 100; i++) {
        churn(50);
        swapcontext(&other_context, &main_context);
    }
}

static void run_coroutine(size_t size) {
    size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    char *pages =
        mmap(NULL, guard + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *stack = pages + guard;
    mprotect(pages, guard, PROT_NONE);
    getcontext(&other_context);
    other_context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = size};
    other_context.uc_link = &main_context;
    makecontext(&other_context, coroutine, 0);
    for (int i = 0; i < 100; i++)
        swapcontext(&main_context, &other_context);
    puts("done");
}

static void do_coroutines(void) {
    run_coroutine(64 << 10);
}

static void do_small_coroutines(void) {
    run_coroutine(4 << 10);
}

static sigjmp_buf far;

static void do_long_jumps(void) {
    volatile int n = 0;
    for (n = 0; n < 500; n++)
        if (!sigsetjmp(far, 1)) {
            churn(10);
            siglongjmp(far, 1);
        }
    puts("done");
}

static volatile int handled;
static void on_tick(int sig) {
    (void)sig;
    handled++;
    free(malloc(100)); /* what no program should do, and some do */
}

/* In a handler, but not inside of malloc: sleeping threads are interrupted. */
static void do_handlers(void) {
    struct sigaction action = {.sa_handler = on_tick};
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 2000; i++)
        raise(SIGUSR1);
    printf("%d\n", handled);
}

/* ---- processes */

static void report(int status) {
    if (WIFEXITED(status))
        printf("exit %d\n", WEXITSTATUS(status));
    else
        printf("signal %d\n", WTERMSIG(status));
    fflush(stdout);
}

static void await(void) {
    int status;
    while (wait(&status) > 0)
        report(status);
}

static void do_fork(void) {
    for (int i = 0; i < 5; i++) {
        churn(1000);
        if (fork() == 0) {
            churn(1000);
            if (i % 2)
                _exit(i);
            exit(i);
        }
        await();
    }
}

static void do_fork_in_threads(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, churn_thread, (void *)200000L);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            churn(300);
            _exit(3);
        }
        int status;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 3)
            report(status);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    puts("done");
}

static void do_vfork(void) {
    for (int i = 0; i < 20; i++) {
        churn(500);
        if (vfork() == 0) {
            execl("/bin/true", "true", "a", (char *)NULL);
            _exit(9);
        }
        await();
        if (vfork() == 0) {
            execlp("no such program", "x", (char *)NULL);
            _exit(9);
        }
        await();
    }
    churn(1000);
}

/* Not allowed, and done all the same. */
static void do_vfork_malloc(void) {
    for (int i = 0; i < 20; i++) {
        if (vfork() == 0) {
            keep = malloc(100);
            free(keep);
            execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        await();
    }
}

/* Becomes itself again and again. */
static void do_exec_itself(void) {
    const char *set = getenv("HOSTILE_TIMES");
    long times = set ? strtol(set, NULL, 10) : 0;
    char number[32];
    churn(200);
    snprintf(number, sizeof number, "%ld", times + 1);
    setenv("HOSTILE_TIMES", number, 1);
    if (times < 10)
        execl("/proc/self/exe", "hostile", "exec-itself", (char *)NULL);
    printf("%ld times\n", times);
}

/* By another process, and more than once. */
static void do_stopped(void) {
    pid_t us = getpid();
    if (fork() == 0) {
        for (int i = 0; i < 3; i++) {
            usleep(10000);
            kill(us, SIGSTOP);
            usleep(10000);
            kill(us, SIGCONT);
        }
        _exit(0);
    }
    churn(200000);
    await();
}

static void do_spawn(void) {
    char *words[] = {"sh", "-c", "echo spawned; exit 4", NULL};
    pid_t pid;
    for (int i = 0; i < 5; i++) {
        churn(500);
        posix_spawnp(&pid, "sh", NULL, NULL, words, environ);
        await();
    }
}

static void do_system(void) {
    printf("%d\n", system("exit 3"));
    FILE *f = popen("echo piped; exit 5", "r");
    char line[100];
    while (fgets(line, sizeof line, f))
        fputs(line, stdout);
    printf("%d\n", pclose(f));
    f = popen("cat", "w");
    fputs("to cat\n", f);
    printf("%d\n", pclose(f));
}

static int cloned(void *unused) {
    (void)unused;
    churn(500);
    return 6;
}

static void do_clone(void) {
    static char stack[64 << 10] __attribute__((aligned(16)));
    churn(1000);
    if (clone(cloned, stack + sizeof stack, SIGCHLD, NULL) < 0)
        puts("no clone");
    await();
    if (clone(cloned, stack + sizeof stack, SIGCHLD | CLONE_VM | CLONE_VFORK, NULL) < 0)
        puts("no clone");
    await();
    churn(1000);
}

static int cloned_within(void *unused) {
    (void)unused;
    churn(100);
    return 0;
}

/* A process that shares our memory. */
static void do_clone_memory(void) {
    size_t size = 64 << 10;
    for (int i = 0; i < 10; i++) {
        char *stack = malloc(size);
        if (clone(cloned_within, stack + size, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL) < 0)
            puts("no clone");
        await();
        free(stack);
    }
}

static void do_daemon(void) {
    churn(1000);
    if (daemon(1, 0) != 0)
        puts("no daemon");
    churn(1000);
    usleep(100000);
}

static void do_clear_environment(void) {
    churn(1000);
    clearenv();
    churn(1000);
    if (fork() == 0)
        execl("/bin/echo", "echo", "a child without environment", (char *)NULL);
    await();
}

/* ---- the C library's own */

static void do_break(void) {
    void *end = sbrk(1 << 20);
    churn(10000);
    printf("%d\n", end != sbrk(0));
}

static void do_tuning(void) {
    mallopt(M_MMAP_THRESHOLD, 1000);
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_PERTURB, 42);
    unsigned char *p = malloc(500);
    printf("perturbed: %d\n", p[100]);
    free(p);
    churn(20000);
    p = malloc(100);
    printf("usable %zu, trim %d\n", malloc_usable_size(p), malloc_trim(0) >= 0);
    free(p);
    printf("in use: %d\n", (int)(mallinfo2().uordblks < 1 << 20));
}

static void do_alignments(void) {
    void *p = NULL;
    printf("%d %d\n", posix_memalign(&p, 3, 10), p == NULL);
    printf("%d\n", posix_memalign(&p, 4096, 10) || (unsigned long)p % 4096);
    free(p);
    printf("%d\n", (int)((unsigned long)(keep = aligned_alloc(64, 128)) % 64));
    free(keep);
    printf("%d\n", (int)((unsigned long)(keep = valloc(10)) % 4096));
    free(keep);
    errno = 0;
    printf("%d", malloc(PTRDIFF_MAX) == NULL);
    printf(" %s\n", strerror(errno));
    errno = 0;
    printf("%d", calloc(SIZE_MAX / 2, 3) == NULL);
    printf(" %s\n", strerror(errno));
    p = malloc(10);
    errno = 0;
    printf("%d", reallocarray(p, SIZE_MAX / 2, 3) == NULL);
    printf(" %s\n", strerror(errno));
    printf("%d\n", realloc(p, 0) == NULL);
    free(NULL);
    errno = 77;
    free(malloc(100000));
    churn(1000);
    printf("errno %d\n", errno);
}

static void do_load(void) {
    for (int i = 0; i < 50; i++) {
        void *h = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL | (i % 2 ? RTLD_DEEPBIND : 0));
        char *(*version)(void) = NULL;
        if (h) {
            *(void **)&version = dlsym(h, "zlibVersion");
            dlclose(h);
        }
        churn(200);
        if (!h || !version)
            puts("not loaded");
    }
    puts("done");
}

/* Another C library in the same process: its malloc is not ours, its threads are. */
static void do_namespace(void) {
    void *h = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
    if (!h) {
        puts("not loaded");
        return;
    }
    void *(*other_malloc)(size_t);
    void (*other_free)(void *);
    *(void **)&other_malloc = dlsym(h, "malloc");
    *(void **)&other_free = dlsym(h, "free");
    for (int i = 0; i < 5000; i++)
        other_free(other_malloc((size_t)i));
    churn(1000);
    puts("done");
}

static const struct {
    const char *name;
    void (*run)(void);
} behaviours[] = {
    {"exit", do_exit},
    {"abort", do_abort},
    {"kill", do_kill},
    {"kill-any-time", do_kill_any_time},
    {"fault", do_fault},
    {"fault-any-time", do_fault_any_time},
    {"busy-exit", do_busy_exit},
    {"end-handlers", do_end_handlers},
    {"quick-exit", do_quick_exit},
    {"alternate-stack", do_alternate_stack},
    {"overflow", do_overflow},
    {"close-all", do_close_all},
    {"close-range", do_close_range},
    {"close-standard", do_close_standard},
    {"lock-memory", do_lock_memory},
    {"umask", do_umask},
    {"other-user", do_other_user},
    {"descriptors", do_descriptors},
    {"file-size", do_file_size},
    {"memory", do_memory},
    {"chroot", do_chroot},
    {"small-threads", do_small_threads},
    {"many-threads", do_many_threads},
    {"thread-keys", do_thread_keys},
    {"cancel", do_cancel},
    {"raw-exit", do_raw_exit},
    {"first-thread-ends", do_first_thread_ends},
    {"small-coroutines", do_small_coroutines},
    {"coroutines", do_coroutines},
    {"long-jumps", do_long_jumps},
    {"handlers", do_handlers},
    {"fork", do_fork},
    {"fork-in-threads", do_fork_in_threads},
    {"vfork", do_vfork},
    {"vfork-malloc", do_vfork_malloc},
    {"exec-itself", do_exec_itself},
    {"stopped", do_stopped},
    {"spawn", do_spawn},
    {"system", do_system},
    {"clone", do_clone},
    {"clone-memory", do_clone_memory},
    {"daemon", do_daemon},
    {"clear-environment", do_clear_environment},
    {"break", do_break},
    {"tuning", do_tuning},
    {"alignments", do_alignments},
    {"load", do_load},
    {"namespace", do_namespace},
};

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof behaviours / sizeof *behaviours; i++)
        if (strcmp(behaviours[i].name, name) == 0) {
            behaviours[i].run();
            return 0;
        }
    for (size_t i = 0; i < sizeof behaviours / sizeof *behaviours; i++)
        puts(behaviours[i].name);
    return *name ? 2 : 0;
}
