/* Allocates from pools of its own, ROUNDS times:
 *
 *   parse    100 blocks of 40 bytes of the arena "nodes", which is reset then
 *   link     50 cells of 16 bytes of "cells", of which 40 are given back
 *
 * and keeps 10 blocks of the arena at the end. target_pools ROUNDS HOW [WHAT]; HOW: silent, taken,
 * announced, mapped: what is said of chunks. WHAT:
 *
 *   threads  four threads do the same, each with its own arena, and cells that all share
 *   fork     so does a child, which also gives back cells of its parent
 *   wait     reads a line before; and one more pool, of before, has lost its name
 *   many     a pool of its own for each of 3,000 rounds, 2,000 of them with names of their own
 *   twins    two arenas, by turns at one place
 *   one      malloc and the arena's function, called by turns by one instruction
 *   grown    a chunk that is grown by realloc while it is taken
 *   signals  while a timer's handler tells of blocks, too
 *   odd      what should not be said */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target_pools.h"

static long rounds;
static struct cells cells;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void parse(struct arena *a, int n) {
    for (int i = 0; i < n; i++)
        memset(arena_give(a, 40), i, 40);
}

__attribute__((noinline)) static long link_cells(void) {
    enum { N = 50, BACK = 40 };
    void *given[N];
    pthread_mutex_lock(&lock);
    for (int i = 0; i < N; i++)
        given[i] = cells_give(&cells);
    for (int i = 0; i < BACK; i++)
        cells_take_back(&cells, given[i]);
    pthread_mutex_unlock(&lock);
    return N - BACK;
}

static void *work(void *sum_) {
    struct arena *a = (struct arena *)malloc(sizeof *a);
    long *sum = (long *)sum_;
    arena_new(a, "nodes");
    for (long i = 0; i < rounds; i++) {
        parse(a, 100);
        *sum += a->n + link_cells();
        arena_reset(a);
    }
    parse(a, 10);
    return NULL;
}

static void use_threads(long *sum) {
    enum { N = 4 };
    pthread_t threads[N];
    long sums[N] = {0};
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, work, &sums[i]);
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        *sum += sums[i];
    }
}

static void use_child(long *sum) {
    void *parents = cells_give(&cells);
    work(sum);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        cells_take_back(&cells, parents);
        allotrace_pool_free(&cells, NULL);
        work(sum);
        exit(0);
    }
    waitpid(child, NULL, 0);
}

static void use_many(void) {
    char name[80];
    for (int i = 0; i < 3000; i++) {
        struct arena *a = (struct arena *)malloc(sizeof *a);
        snprintf(name, sizeof name, "pool %04d", i);
        arena_new(a, i < 2000 ? name : "request");
        parse(a, 3);
        arena_end(a);
        free(a);
    }
}

static void use_twins(void) {
    struct arena twins[2];
    arena_new(&twins[0], "one");
    arena_new(&twins[1], "other");
    for (long i = 0; i < rounds; i++)
        arena_give(&twins[i % 3 == 0], 40);
}

typedef void *any_call(const void *first, void *second, size_t third);

__attribute__((noinline)) static void *call_any(any_call *call, const void *first, void *second) {
    void *volatile result = call(first, second, 40);
    return result;
}

static void use_one(void) {
    static char bytes[64];
    any_call *volatile calls[] = {(any_call *)(void *)malloc,
                                  (any_call *)(void *)&allotrace_pool_alloc};
    allotrace_pool_create((void *)40, "nodes");
    for (long i = 0; i < 2 * rounds; i++)
        if (calls[i % 2])
            call_any(calls[i % 2], (void *)40, bytes);
}

static void use_grown(void) {
    void *before = malloc(CHUNK / 2);
    const long outer = allotrace_pool_take_begin(), inner = allotrace_pool_take_begin();
    void *chunk = realloc(malloc(CHUNK), 3 * CHUNK);
    allotrace_pool_take_end(inner);
    chunk = realloc(chunk, 4 * CHUNK);
    free(before);
    allotrace_pool_take_end(outer);
    allotrace_pool_alloc(&rounds, chunk, 1000);
    free(chunk);
}

static volatile sig_atomic_t n_signals;

static void on_timer(int signal) {
    static char bytes[64];
    (void)signal;
    n_signals++;
    allotrace_pool_create(bytes, "of a handler");
    for (int i = 0; i < 64; i += 16)
        allotrace_pool_alloc(bytes, bytes + i, 16);
    allotrace_pool_free(bytes, bytes);
    allotrace_pool_free(&cells, bytes);
    allotrace_pool_reset(bytes);
}

static void use_signals(long *sum) {
    const struct itimerval often = {.it_interval.tv_usec = 100, .it_value.tv_usec = 100},
                           never = {0};
    signal(SIGALRM, on_timer);
    setitimer(ITIMER_REAL, &often, NULL);
    while (n_signals < 2000)
        work(sum);
    setitimer(ITIMER_REAL, &never, NULL);
    *sum = 0;
}

static void use_odd(void) {
    char bytes[64];
    allotrace_pool_create(NULL, NULL);
    allotrace_pool_alloc(NULL, bytes, 0); /* a pool like any other */
    allotrace_pool_alloc(NULL, bytes + 1, 8);
    allotrace_pool_alloc(NULL, bytes + 1, 8); /* the one before has died unseen */
    allotrace_pool_alloc(NULL, NULL, 8);
    allotrace_pool_free(NULL, bytes + 2);
    allotrace_pool_free(&bytes, bytes);
    allotrace_pool_reset(&bytes);
    allotrace_pool_destroy(&bytes);
    allotrace_pool_chunk(NULL, NULL, 0);
    allotrace_pool_chunk(NULL, bytes, sizeof bytes);
    allotrace_pool_take_end(0);
    allotrace_pool_create(NULL, "");
}

int main(int argc, char **argv) {
    const char *what = argc > 3 ? argv[3] : "";
    long sum = 0;
    rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    how = how_of(argc > 2 ? argv[2] : "");
    if (strcmp(what, "wait") == 0) {
        getchar(); /* until somebody has attached */
        cells_give(&cells);
    }
    allotrace_pool_create(&cells, "cells");
    if (strcmp(what, "threads") == 0)
        use_threads(&sum);
    else if (strcmp(what, "fork") == 0)
        use_child(&sum);
    else if (strcmp(what, "many") == 0)
        use_many();
    else if (strcmp(what, "twins") == 0)
        use_twins();
    else if (strcmp(what, "one") == 0)
        use_one();
    else if (strcmp(what, "grown") == 0)
        use_grown();
    else if (strcmp(what, "signals") == 0)
        use_signals(&sum);
    else if (strcmp(what, "odd") == 0)
        use_odd();
    else
        work(&sum);
    printf("%ld\n", sum);
    return 0;
}
