/* target: a program to be recorded. Its first argument chooses a scene; what each allocates is
 * known to test_native.py. Sizes are chosen so that nobody else in the process uses them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Keeps the compiler from leaving out an allocation that nobody looks at. */
static void *kept(void *block) {
    void *volatile hidden = block;
    return hidden;
}

static void check(int condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "target: %s\n", what);
    exit(99);
}

static void churn(int count, size_t size) {
    for (int i = 0; i < count; i++)
        free(kept(malloc(size)));
}

/* ---- every function of the malloc family, in known numbers ------------------------------- */

static void family_realloc(void) {
    for (int i = 0; i < 50; i++) {
        char *p = kept(malloc(20001));
        p[20000] = 42;
        p = kept(realloc(p, 30001));
        check(p[20000] == 42, "realloc lost the contents");
        check(!kept(realloc(p, PTRDIFF_MAX)), "an impossible realloc succeeded");
        check(!kept(reallocarray(p, SIZE_MAX / 2, 3)), "an overflowing reallocarray succeeded");
        check(p[20000] == 42, "a failed realloc lost the contents");
        p = kept(reallocarray(p, 10, 4001));
        free(p);
    }
    free(kept(realloc(NULL, 20101)));
    check(!kept(realloc(kept(malloc(20201)), 0)), "realloc to 0 gave a block");
}

static void family_aligned(void) {
    void *p;
    for (int i = 0; i < 20; i++) {
        check(posix_memalign(&p, 256, 5001) == 0 && (uintptr_t)p % 256 == 0, "posix_memalign");
        free(p);
        check((uintptr_t)(p = kept(memalign(512, 5101))) % 512 == 0, "memalign");
        free(p);
        check((uintptr_t)(p = kept(aligned_alloc(128, 5248))) % 128 == 0, "aligned_alloc");
        free(p);
        free(kept(valloc(5301)));
        free(kept(pvalloc(5401)));
    }
    check(posix_memalign(&p, 3, 100) == EINVAL, "posix_memalign took 3 for an alignment");
}

static void scene_family(void) {
    for (int i = 0; i < 1000; i++) {
        char *p = kept(malloc(10001));
        check(malloc_usable_size(p) >= 10001, "malloc_usable_size");
        if (i >= 10)
            free(p);
    }
    for (int i = 0; i < 100; i++) {
        char *p = kept(calloc(7, 1501));
        check(p[0] == 0 && p[7 * 1501 - 1] == 0, "calloc is not zero");
        free(p);
    }
    check(!kept(calloc(SIZE_MAX / 2, 3)), "an overflowing calloc succeeded");
    check(!kept(malloc(PTRDIFF_MAX)) && errno == ENOMEM, "an impossible malloc succeeded");
    check(!kept(malloc(SIZE_MAX)) && errno == ENOMEM, "an impossible malloc succeeded");
    family_realloc();
    family_aligned();
    char text[6001];
    memset(text, 'x', sizeof text);
    text[6000] = 0;
    for (int i = 0; i < 30; i++)
        free(kept(strdup(text)));
    free(NULL);
    errno = 77;
    churn(10, 10501);
    check(errno == 77, "errno changed");
    puts("family done");
}

/* ---- call stacks ------------------------------------------------------------------------- */

__attribute__((noinline)) void stack_inner(void) {
    churn(1, 11001);
    __asm__ volatile("");
}

__attribute__((noinline)) void stack_middle(void) {
    stack_inner();
    __asm__ volatile("");
}

__attribute__((noinline)) void stack_outer(void) {
    stack_middle();
    __asm__ volatile("");
}

static void scene_stack(void) {
    stack_outer();
}

__attribute__((noinline)) int stack_deep(int n) {
    if (n == 0)
        churn(1, 11101);
    else
        stack_deep(n - 1);
    __asm__ volatile("");
    return n;
}

static void scene_deep(void) {
    stack_deep(20000);
    puts("deep done");
}

/* ---- much of it, for sampling ------------------------------------------------------------ */

static void scene_much(int n) {
    for (int i = 0; i < n; i++)
        churn(1, 8 + (size_t)(i * 37 % 2000));
    puts("much done");
}

/* Long enough for the gauges to be read meanwhile, but not much: its trace is read in Python. */
static void churn_a_while(void) {
    struct timespec start, now, pause = {.tv_nsec = 1000000};
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        churn(10, 1000);
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 250);
    churn(1000, 1000);
}

static void wait_busily(long nanoseconds) {
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000000 + (now.tv_nsec - start.tv_nsec) < nanoseconds);
}

/* A block outlives a pause that follows upon many events: less than a tick of some kernels' clocks,
 * without anything else being allocated meanwhile. Then some outlive one that is far shorter. */
static void scene_pause(void) {
    const struct timespec pause = {.tv_nsec = 3000000};
    for (int busily = 0; busily < 2; busily++) {
        churn(5000, 100);
        void *block = kept(malloc(14401));
        if (busily)
            wait_busily(pause.tv_nsec);
        else
            nanosleep(&pause, NULL);
        free(block);
    }
    for (int i = 0; i < 100; i++) {
        void *block = kept(malloc(14501));
        wait_busily(30000);
        free(block);
    }
}

/* Large blocks of which each is gone before the next event, faster than a clock of microseconds. */
static long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Each block lives for two ticks of a trace's clock. */
static void scene_large(void) {
    enum { LIFE = 2000 };
    for (int i = 0; i < 2000; i++) {
        void *block = kept(malloc(40001));
        for (const long begin = now_ns(); now_ns() < begin + LIFE;)
            continue;
        free(block);
    }
}

static void scene_growth(void) {
    enum { MUCH = 64 << 20 };
    churn(1000, 1000);
    char *block = malloc(MUCH);
    memset(block, 1, MUCH);
    churn_a_while();
    free(block);
    puts("growth done");
}

/* ---- threads ----------------------------------------------------------------------------- */

enum { THREADS = 8, BLOCKS = 5000 };
static void *handed[THREADS][BLOCKS];
static pthread_barrier_t barrier;

static void *thread_work(void *argument) {
    long me = (long)argument;
    for (int i = 0; i < BLOCKS; i++)
        handed[me][i] = malloc(12001);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < BLOCKS; i++)
        free(handed[(me + 1) % THREADS][i]);
    return NULL;
}

static void scene_threads(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread_work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("threads done");
}

static void *thread_brief(void *argument) {
    churn(1, 12101);
    return argument;
}

static void scene_brief_threads(void) {
    for (int i = 0; i < 10000; i++) {
        pthread_t thread;
        check(pthread_create(&thread, NULL, thread_brief, NULL) == 0, "pthread_create");
        pthread_join(thread, NULL);
    }
    puts("brief threads done");
}

static pthread_key_t late_key;

static void late_free(void *block) {
    free(block);
    churn(1, 12301);
}

static void *thread_late(void *argument) {
    pthread_setspecific(late_key, kept(malloc(12201)));
    return argument;
}

static void scene_late_frees(void) {
    pthread_key_create(&late_key, late_free);
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, thread_late, NULL);
        pthread_join(thread, NULL);
    }
    puts("late frees done");
}

/* ---- processes --------------------------------------------------------------------------- */

static void wait_for(pid_t child) {
    int status = -1;
    check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7,
          "a child did not end as it should");
}

static void child_of(pid_t child) {
    if (child == 0) {
        churn(20, 13101);
        _exit(7);
    }
    wait_for(child);
}

static void scene_fork(void) {
    void *before = kept(malloc(13001));
    child_of(fork());
    churn(10, 13201);
    child_of((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    pid_t child = vfork();
    if (child == 0)
        _exit(7);
    wait_for(child);
    churn(10, 13201);
    child = fork();
    if (child == 0) {
        free(before);
        exit(7);
    }
    wait_for(child);
    free(before);
}

static void *thread_churning(void *argument) {
    while (!*(volatile int *)argument)
        churn(10, 100);
    return NULL;
}

static void scene_fork_storm(void) {
    static volatile int stop;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, thread_churning, (void *)&stop);
    for (int i = 0; i < 60; i++)
        child_of(fork());
    stop = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    puts("fork storm done");
}

static void scene_exec(void) {
    churn(5, 13301);
    execl("/nonexistent", "nonexistent", (char *)NULL);
    check(errno == ENOENT, "errno of a failed exec");
    churn(5, 13401);
    puts("exec goes on");
    fflush(stdout);
    setenv("SCENE", "2", 1);
    execlp("/proc/self/exe", "target", "say", "a", "b", (char *)NULL);
}

static void scene_say(char **words) {
    for (; *words; words++)
        puts(*words);
    churn(5, 13501);
}

/* More arguments than fit a small array. */
static void exec_many(void) {
#define TEN     "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"
#define HUNDRED TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN
    execl("/nonexistent", "target", HUNDRED, HUNDRED, HUNDRED, (char *)NULL);
    execl("/proc/self/exe", "target", "say", HUNDRED, HUNDRED, HUNDRED, (char *)NULL);
}

static void scene_exec_ways(void) {
    char *argv[] = {"target", "say", "way", NULL};
    char *envp[] = {"PATH=/", NULL};
    for (int way = 0; way < 7; way++) {
        pid_t child = fork();
        if (child == 0) {
            int fd = open("/proc/self/exe", O_RDONLY);
            switch (way) {
            case 0:
                execv("/proc/self/exe", argv);
                break;
            case 1:
                execve("/proc/self/exe", argv, envp);
                break;
            case 2:
                execvp("/proc/self/exe", argv);
                break;
            case 3:
                execvpe("/proc/self/exe", argv, envp);
                break;
            case 4:
                fexecve(fd, argv, envp);
                break;
            case 5:
                execle("/proc/self/exe", "target", "say", "e", (char *)NULL, envp);
                break;
            }
            exec_many();
            _exit(1);
        }
        int status;
        waitpid(child, &status, 0);
        check(status == 0, "exec");
    }
}

static void *thread_exiting(void *argument) {
    churn(5, 14001);
    exit(3);
    return argument;
}

static void at_exit(void) {
    churn(5, 14101);
}

__attribute__((destructor)) static void at_the_end(void) {
    churn(5, 14201);
}

static void scene_end(const char *way) {
    atexit(at_exit);
    at_quick_exit(at_exit);
    churn(5, 14001);
    if (strcmp(way, "_exit") == 0)
        _exit(3);
    if (strcmp(way, "_Exit") == 0)
        _Exit(3);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(3);
    if (strcmp(way, "exit") == 0)
        exit(3);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "daemon") == 0)
        daemon(1, 1);
    if (strcmp(way, "kill") == 0) {
        for (int i = 0; i < 300; i++, usleep(10000))
            churn(5, 14301);
        raise(SIGKILL);
    }
    pthread_t thread;
    pthread_create(&thread, NULL, thread_exiting, NULL);
    pthread_join(thread, NULL);
}

/* ---- signals ----------------------------------------------------------------------------- */

static volatile int handled;

/* Not allowed by POSIX, and done everywhere. To be recorded with bump.c for the allocator, which
 * does not mind. */
static void on_alarm(int signal) {
    (void)signal;
    handled++;
    churn(1, 15101);
}

static void scene_signals(void) {
    struct itimerval often = {.it_interval.tv_usec = 300, .it_value.tv_usec = 300};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &often, NULL);
    while (handled < 300)
        churn(1, 1501);
    signal(SIGALRM, SIG_IGN);
    puts("signals done");
}

/* ---- libraries that come and go ---------------------------------------------------------- */

static void use_plugin(const char *path) {
    void *handle = dlopen(path, RTLD_NOW);
    check(handle != NULL, "dlopen");
    void (*work)(void) = (void (*)(void))dlsym(handle, "plugin_work");
    check(work != NULL, "dlsym");
    work();
    dlclose(handle);
}

static void scene_plugins(char **paths) {
    for (int i = 0; i < 20; i++) {
        use_plugin(paths[0]);
        use_plugin(paths[1]);
    }
    puts("plugins done");
}

/* Each once, so that one comes to stand where the other was. */
static void scene_plugins_in_turn(char **paths) {
    for (; *paths; paths++)
        use_plugin(*paths);
    puts("plugins in turn done");
}

/* ---- files ------------------------------------------------------------------------------- */

static void scene_closes_all(const char *path) {
    churn(10, 16001);
    close_range(3, ~0U, 0);
    int fds[1100], n = 0;
    while (n < 1100 && (fds[n] = open(path, O_RDWR | O_CREAT, 0600)) >= 0)
        n++;
    churn(20000, 16101); /* many packets */
    check(lseek(fds[0], 0, SEEK_END) == 0, "somebody wrote into our file");
    printf("%d descriptors\n", n > 100);
}

static void scene_size_limit(void) {
    struct rlimit limit = {.rlim_cur = 100000, .rlim_max = 100000};
    setrlimit(RLIMIT_FSIZE, &limit);
    churn(200000, 17001);
    puts("size limit done");
}

/* From then on, one system call that others of the kind are made with ends the process, or fails.
 */
static void forbid(unsigned call, unsigned action, int by_syscall) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {.len = 4, .filter = program};
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
    long error = by_syscall ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter)
                            : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
    check(error == 0, "seccomp");
}

static void scene_sandbox(const char *kind) {
    errno = 0;
    check(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == -1 && errno == EFAULT, "probe");
    churn(10, 16301);
    if (strcmp(kind, "friendly") == 0)
        forbid(SYS_ptrace, SECCOMP_RET_KILL_PROCESS, 1);
    if (strcmp(kind, "errors") == 0)
        forbid(SYS_membarrier, SECCOMP_RET_ERRNO | EPERM, 0);
    if (strcmp(kind, "prctl") == 0)
        forbid(SYS_fstat, SECCOMP_RET_KILL_PROCESS, 0);
    if (strcmp(kind, "seccomp") == 0)
        forbid(SYS_fstat, SECCOMP_RET_KILL_PROCESS, 1);
    if (strcmp(kind, "strict") == 0)
        check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0, "strict");
    churn(50000, 16401);
    if (strcmp(kind, "strict") == 0)
        syscall(SYS_exit, 0); /* exit_group is too much */
}

static void scene_chdir(void) {
    check(chdir("/") == 0, "chdir");
    churn(10, 18001);
}

static void scene_silent(void) {
    close(1);
    close(2);
    int fd = open("/proc/self/exe", O_RDONLY);
    check(fd == 1, "open");
}

/* What the system says of this process. */
static void scene_look(void) {
    static const char *const files[] = {"/proc/self/status", "/proc/self/maps"};
    char text[4096];
    churn(1000, 16201);
    for (int i = 0; i < 2; i++) {
        int fd = open(files[i], O_RDONLY);
        check(fd == 3, "a file is open");
        for (ssize_t n; (n = read(fd, text, sizeof text)) > 0;)
            check(write(1, text, (size_t)n) == n, "write");
        close(fd);
    }
}

int main(int argc, char **argv) {
    const char *scene = argc > 1 ? argv[1] : "";
#define SCENE(name, call)                                                                          \
    if (strcmp(scene, name) == 0) {                                                                \
        call;                                                                                      \
        return 0;                                                                                  \
    }
    SCENE("family", scene_family())
    SCENE("stack", scene_stack())
    SCENE("deep", scene_deep())
    SCENE("much", scene_much((int)strtol(argv[2], NULL, 10)))
    SCENE("pause", scene_pause())
    SCENE("large", scene_large())
    SCENE("growth", scene_growth())
    SCENE("threads", scene_threads())
    SCENE("brief_threads", scene_brief_threads())
    SCENE("late_frees", scene_late_frees())
    SCENE("fork", scene_fork())
    SCENE("fork_storm", scene_fork_storm())
    SCENE("exec", scene_exec())
    SCENE("exec_ways", scene_exec_ways())
    SCENE("say", scene_say(argv + 2))
    SCENE("end", scene_end(argv[2]))
    SCENE("signals", scene_signals())
    SCENE("plugins", scene_plugins(argv + 2))
    SCENE("plugins_in_turn", scene_plugins_in_turn(argv + 2))
    SCENE("closes_all", scene_closes_all(argv[2]))
    SCENE("size_limit", scene_size_limit())
    SCENE("sandbox", scene_sandbox(argv[2]))
    SCENE("chdir", scene_chdir())
    SCENE("silent", scene_silent())
    SCENE("look", scene_look())
    fprintf(stderr, "target: no scene %s\n", scene);
    return 98;
}
