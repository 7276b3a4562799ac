/* resident.c: a program that stays, and does what the lines of its standard input say:
 *
 *     a N SIZE   keep N blocks of SIZE bytes more      f      free all of them
 *     b N        start N threads that allocate         e      end them; how often they found a
 *                                                             fault
 *     s MS       sleep; what nanosleep said            m NAME set a mark
 *     l LIBRARY  load it and call its plugin_work      q      end with status 5
 *     h          start a thread that holds the loader's lock, and wait as busily as can be, for
 *                ever
 *     i MS       interrupt malloc by a signal, and stay in its handler, as busily; 0: for ever.
 *                Answers when it is in there, and when it is not any more
 *     u LIBRARY  start a thread, ended by `e`, that loads it, calls it and unloads it over and
 *                over
 *     x RULES    install a seccomp filter: what becomes of other calls, then CALL=WHAT for some,
 *                and `needed`: all that this program and its recording need are allowed
 *     y RULES    the same in a thread that stays
 *
 * and answers each with a line. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "allotrace/mark.h"

enum { MAX_BLOCKS = 100000, MAX_THREADS = 8 };

static void *blocks[MAX_BLOCKS];
static size_t n_blocks;
static pthread_t threads[MAX_THREADS];
static size_t n_threads;
static atomic_bool end;
static atomic_long faults;

__attribute__((noinline)) static void keep(size_t size) {
    blocks[n_blocks++] = malloc(size);
}

/* What is in a block must stay there, and a block must be nobody else's. */
static void *work(void *context) {
    unsigned char mine = (unsigned char)(uintptr_t)context;
    for (size_t i = 0; !end; i++) {
        size_t size = i % 500 + 1;
        unsigned char *block = malloc(size), *string;
        memset(block, mine, size);
        block = realloc(block, size + 100);
        memset(block + size, 0, 1);
        block[0] = 'x';
        string = (unsigned char *)strdup((char *)block);
        for (size_t j = 1; j < size; j++)
            faults += block[j] != mine || string[j] != mine;
        free(string);
        free(block);
    }
    return NULL;
}

static long rest(long ms) {
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    return nanosleep(&time, NULL);
}

#ifdef STATIC
static void *load(const char *library) {
    return (void *)library;
}

static int unload(void *handle) {
    return handle == NULL;
}
#else
/* The library, whose work is done; NULL if there is none. */
static void *load(const char *library) {
    void *handle = dlopen(library, RTLD_NOW);
    void (*plugin_work)(void) = NULL;
    if (handle)
        *(void **)&plugin_work = dlsym(handle, "plugin_work");
    if (plugin_work)
        plugin_work();
    return plugin_work ? handle : NULL;
}

static int unload(void *handle) {
    return dlclose(handle);
}
#endif

/* Never comes back. */
static int hold_lock(struct dl_phdr_info *info, size_t size, void *held) {
    (void)info, (void)size;
    *(atomic_bool *)held = true;
    for (;;)
        rest(1000);
}

static void *hold(void *held) {
    return (void *)(intptr_t)dl_iterate_phdr(hold_lock, held);
}

static void *load_and_unload(void *library) {
    while (!end) {
        void *handle = load(library);
        faults += !handle || unload(handle) != 0;
    }
    free(library);
    return NULL;
}

/* ---- a signal inside malloc ------------------------------------------------------------------ */

#ifdef __x86_64__
#define INTERRUPTED_AT(context) ((uintptr_t)(context)->uc_mcontext.gregs[REG_RIP])
#else
#define INTERRUPTED_AT(context) ((uintptr_t)(context)->uc_mcontext.pc)
#endif

static uintptr_t malloc_at;
static long handler_ms; /* to stay */
static volatile sig_atomic_t was_inside;

static long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void stay(int sig, siginfo_t *info, void *context) {
    enum { NEAR = 16 * 1024 };
    uintptr_t pc = INTERRUPTED_AT((ucontext_t *)context);
    if (was_inside || pc - malloc_at + NEAR > 2 * NEAR)
        return;
    was_inside = 1;
    if (write(1, "0\n", 2) == 2)
        for (long start = now_ms(); handler_ms == 0 || now_ms() < start + handler_ms;)
            n_blocks = n_blocks;
}

static void interrupt_malloc(long ms) {
    struct itimerval timer = {.it_interval.tv_usec = 1000, .it_value.tv_usec = 1000}, never = {0};
    malloc_at = (uintptr_t)dlsym(RTLD_DEFAULT, "malloc");
    handler_ms = ms;
    was_inside = 0;
    sigaction(SIGALRM, &(struct sigaction){.sa_sigaction = stay, .sa_flags = SA_SIGINFO}, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    while (!was_inside)
        free(malloc(3000));
    setitimer(ITIMER_REAL, &never, NULL);
}

/* ---- seccomp filters ------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int number;
    bool needed;
} calls[] = {
#define NEEDED(name)                                                                               \
    { #name, SYS_##name, true }
    NEEDED(brk),
    NEEDED(clock_gettime),
    NEEDED(clock_nanosleep),
    NEEDED(clone),
    NEEDED(clone3),
    NEEDED(close),
    NEEDED(exit),
    NEEDED(exit_group),
    NEEDED(fcntl),
    NEEDED(fstat),
    NEEDED(ftruncate),
    NEEDED(futex),
    NEEDED(getcwd),
    NEEDED(getpid),
    NEEDED(getrandom),
    NEEDED(gettid),
    NEEDED(madvise),
    NEEDED(membarrier),
    NEEDED(mmap),
    NEEDED(mprotect),
    NEEDED(mremap),
    NEEDED(munmap),
    NEEDED(nanosleep),
    NEEDED(newfstatat),
    NEEDED(openat),
    NEEDED(pread64),
    NEEDED(pwrite64),
    NEEDED(prlimit64),
    NEEDED(read),
    NEEDED(readlinkat),
    NEEDED(renameat2),
    NEEDED(restart_syscall),
    NEEDED(rseq),
    NEEDED(rt_sigaction),
    NEEDED(rt_sigpending),
    NEEDED(rt_sigprocmask),
    NEEDED(rt_sigtimedwait),
    NEEDED(sched_getaffinity),
    NEEDED(sched_yield),
    NEEDED(set_robust_list),
    NEEDED(sigaltstack),
    NEEDED(uname),
    NEEDED(write),
    {"memfd_create", SYS_memfd_create},
    {"prctl", SYS_prctl},
    {"ptrace", SYS_ptrace}};

static uint32_t action_for(const char *name) {
    return strcmp(name, "allow") == 0     ? SECCOMP_RET_ALLOW
           : strcmp(name, "log") == 0     ? SECCOMP_RET_LOG
           : strcmp(name, "error") == 0   ? SECCOMP_RET_ERRNO | EPERM
           : strcmp(name, "nothing") == 0 ? SECCOMP_RET_ERRNO
           : strcmp(name, "trap") == 0    ? SECCOMP_RET_TRAP
           : strcmp(name, "trace") == 0   ? SECCOMP_RET_TRACE
           : strcmp(name, "end") == 0     ? SECCOMP_RET_KILL_THREAD
                                          : SECCOMP_RET_KILL_PROCESS;
}

static size_t add_rule(struct sock_filter *program, size_t n, int number, uint32_t action) {
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
    return n;
}

static long install(char *rules) {
    struct sock_filter program[200] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    size_t n = 1;
    char *rest, *others = strtok_r(rules, " ", &rest);
    for (char *rule; (rule = strtok_r(NULL, " ", &rest));) {
        char *what = strchr(rule, '=');
        if (what)
            *what++ = '\0';
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            if (what ? strcmp(calls[i].name, rule) == 0 : calls[i].needed)
                n = add_rule(program, n, calls[i].number, action_for(what ? what : "allow"));
    }
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action_for(others));
    struct sock_fprog filter = {.len = n, .filter = program};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

static atomic_long installed;

static void *install_and_stay(void *rules) {
    installed = install(rules);
    while (!end)
        rest(10);
    return NULL;
}

static void start(void *(*function)(void *), void *context) {
    end = false;
    pthread_create(&threads[n_threads++], NULL, function, context);
}

int main(void) {
    char line[256], name[200];
    size_t n, size;
    while (fgets(line, sizeof line, stdin)) {
        long answer = 0;
        if (sscanf(line, "a %zu %zu", &n, &size) == 2)
            for (size_t i = 0; i < n && n_blocks < MAX_BLOCKS; i++)
                keep(size);
        else if (line[0] == 'f')
            while (n_blocks > 0)
                free(blocks[--n_blocks]);
        else if (sscanf(line, "b %zu", &n) == 1)
            while (n_threads < n && n_threads < MAX_THREADS)
                start(work, (void *)('a' + n_threads));
        else if (line[0] == 'e')
            for (end = true; n_threads > 0; answer = faults)
                pthread_join(threads[--n_threads], NULL);
        else if (sscanf(line, "s %zu", &n) == 1)
            answer = rest((long)n);
        else if (sscanf(line, "i %zu", &n) == 1)
            interrupt_malloc((long)n);
        else if (sscanf(line, "m %199[^\n]", name) == 1)
            allotrace_mark_here(name);
        else if (sscanf(line, "l %199[^\n]", name) == 1)
            answer = load(name) == NULL;
        else if (sscanf(line, "u %199[^\n]", name) == 1 && n_threads < MAX_THREADS)
            start(load_and_unload, strdup(name));
        else if (sscanf(line, "x %199[^\n]", name) == 1)
            answer = install(name);
        else if (sscanf(line, "y %199[^\n]", name) == 1) {
            installed = 1;
            for (start(install_and_stay, name); installed == 1;)
                continue;
            answer = installed;
        } else if (line[0] == 'h') {
            static atomic_bool held;
            start(hold, &held);
            while (!held)
                continue;
            printf("0\n");
            fflush(stdout);
            for (;;)
                n_blocks = held;
        } else if (line[0] == 'q')
            return 5;
        printf("%ld\n", answer);
        fflush(stdout);
    }
    return 0;
}
