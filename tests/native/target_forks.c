/* Children of forks that go on allocating: `threads N` forks N children, each of which starts
 * threads that allocate all at once; `handler N [US]` forks N times in a signal handler that
 * interrupts malloc or free, the first time after so many microseconds, and both processes go on
 * from there. Says how many children did not end well; of the second, also how many blocks the
 * parent has allocated.
 *
 * `programs N BLOCKS` starts N programs that allocate so many blocks each, `children` a child that
 * forks N children that do, having allocated a little itself, `offspring` forks them itself,
 * `aside` in a thread that has allocated nothing, and `crews` starts N programs of which several
 * threads do. Fails if one of them did not end well.
 *
 * `pages N` forks N children that allocate one block each, and says how many page faults such a
 * child and its parent had for it, at the least. */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, BLOCKS = 200, SHORT_SIZE = 504 };

static pthread_barrier_t barrier;
static volatile pid_t child;
static volatile sig_atomic_t has_forked;

static void allocate(int n) {
    for (int i = 0; i < n; i++) {
        void *volatile block = malloc(64);
        free(block);
    }
}

static void *thread(void *unused) {
    pthread_barrier_wait(&barrier);
    allocate(BLOCKS);
    return unused;
}

static void start_threads(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void fork_here(int sig) {
    (void)sig;
    child = fork();
    has_forked = 1;
}

static int ended_badly(void) {
    int status;
    waitpid(child, &status, 0);
    return status != 0;
}

static int with_threads(void) {
    child = fork();
    if (child == 0) {
        start_threads();
        _exit(0);
    }
    return ended_badly();
}

static int with_handler(int us, long *blocks) {
    struct itimerval soon = {.it_value.tv_usec = us};
    has_forked = 0;
    setitimer(ITIMER_REAL, &soon, NULL);
    for (; !has_forked; ++*blocks)
        allocate(1);
    allocate(BLOCKS);
    *blocks += BLOCKS;
    if (child == 0)
        _exit(0);
    return ended_badly();
}

static void *allocate_shortly(void *blocks) {
    for (int i = 0; i < *(int *)blocks; i++) {
        void *volatile block = malloc(SHORT_SIZE);
        free(block);
    }
    return NULL;
}

static int live_shortly(int blocks, int n_threads) {
    pthread_t threads[THREADS];
    blocks /= n_threads + 1;
    for (int i = 0; i < n_threads; i++)
        pthread_create(&threads[i], NULL, allocate_shortly, &blocks);
    allocate_shortly(&blocks);
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static int start_program(const char *program, const char *mode, const char *blocks) {
    child = fork();
    if (child == 0) {
        execl(program, program, mode, blocks, NULL);
        _exit(1);
    }
    return ended_badly();
}

static int fork_shortly(int n, int blocks) {
    int bad = 0;
    for (int i = 0; i < n; i++)
        if ((child = fork()) == 0)
            _exit(live_shortly(blocks, 0));
        else
            bad += ended_badly();
    return bad;
}

static int fork_later(int n, int blocks) {
    int one = 1;
    allocate_shortly(&one);
    return fork_shortly(n, blocks);
}

static int with_children(int n, int blocks) {
    child = fork();
    if (child == 0)
        _exit(fork_later(n, blocks) != 0);
    return ended_badly();
}

struct aside {
    int n, blocks, bad;
};

static void *fork_in_thread(void *asked) {
    struct aside *a = asked;
    a->bad = fork_shortly(a->n, a->blocks);
    return NULL;
}

static int fork_aside(int n, int blocks) {
    struct aside a = {n, blocks, 1};
    pthread_t forker;
    if (pthread_create(&forker, NULL, fork_in_thread, &a) == 0)
        pthread_join(forker, NULL);
    return a.bad;
}

static long own_faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static int count_pages(int n) {
    long least = LONG_MAX, least_own = LONG_MAX;
    struct rusage usage;
    for (int i = 0, status; i < n; i++) {
        const long before = own_faults();
        if ((child = fork()) == 0) {
            allocate(1);
            _exit(0);
        }
        wait4(child, &status, 0, &usage);
        const long own = own_faults() - before;
        least = usage.ru_minflt < least ? usage.ru_minflt : least;
        least_own = own < least_own ? own : least_own;
    }
    printf("%ld %ld\n", least, least_own);
    return 0;
}

/* -1: it is another mode */
static int short_lives(char **argv, int n) {
    int bad = 0;
    if (strcmp(argv[1], "children") == 0)
        return with_children(n, (int)strtol(argv[3], NULL, 10));
    if (strcmp(argv[1], "offspring") == 0)
        return fork_later(n, (int)strtol(argv[3], NULL, 10));
    if (strcmp(argv[1], "aside") == 0)
        return fork_aside(n, (int)strtol(argv[3], NULL, 10));
    if (strcmp(argv[1], "pages") == 0)
        return count_pages(n);
    if (strcmp(argv[1], "alone") == 0 || strcmp(argv[1], "crew") == 0)
        return live_shortly(n, strcmp(argv[1], "crew") == 0 ? 3 : 0);
    if (strcmp(argv[1], "programs") != 0 && strcmp(argv[1], "crews") != 0)
        return -1;
    for (int i = 0; i < n; i++)
        bad += start_program(argv[0], argv[1][0] == 'p' ? "alone" : "crew", argv[3]);
    return bad;
}

int main(int argc, char **argv) {
    int bad = 0, n = (int)strtol(argv[2], NULL, 10),
        us = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 500;
    long blocks = 0;
    if ((bad = short_lives(argv, n)) >= 0)
        return bad != 0;
    bad = 0;
    signal(SIGALRM, fork_here);
    for (int i = 0; i < n; i++)
        bad += strcmp(argv[1], "threads") == 0 ? with_threads() : with_handler(us + i * 3, &blocks);
    printf("%d %ld\n", bad, blocks);
    return 0;
}
