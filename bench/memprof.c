/* memprof.c: the cost of the sampling engine, as a ratio to the same loop without it, and that of
 * its cold paths in nanoseconds. The loops use the simplest possible allocator, which bumps a
 * pointer, so the ratios are the worst for any host. malloc is measured for comparison. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "allotrace/memprof.h"
#include "memprof/gap.h"

enum { ROUNDS = 21, OPERATIONS = 4000000, SPACE = 1 << 16 };

static memprof_filter filter = MEMPROF_FILTER_INIT;
static memprof_thread self;
static memprof *engine;
static _Alignas(64) char space[SPACE];
static uint64_t sampled;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *reallocate(void *context, void *old, size_t old_size, size_t size) {
    (void)context, (void)old_size;
    if (size)
        return realloc(old, size);
    free(old);
    return NULL;
}

static void *remember(void *context, memprof_thread *thread, const memprof_allocation *info) {
    (void)context, (void)thread;
    sampled += info->n_samples;
    return &sampled;
}

static void start(double rate) {
    const memprof_tracker tracker = {.alloc_major = remember};
    if (memprof_start(engine, &self, &(memprof_options){.rate = rate, .seed = 1}, &tracker))
        exit(1);
}

static void stop(void) {
    if (memprof_stop(engine, &self))
        exit(1);
}

/* ---- the loops ------------------------------------------------------------------------------- */

__attribute__((noinline)) static void cold(uintptr_t address, uint64_t words) {
    uint64_t k = memprof_sample(engine, &self, words);
    if (k)
        memprof_track(
            engine, &self,
            &(memprof_birth){
                .address = address, .size = words - 1, .n_samples = k, .heap = MEMPROF_MAJOR});
}

/* Allocates by bumping a pointer that wraps around. A block gets a header and zeroed fields. */
static inline char *bump(size_t *at, size_t size) {
    char *block = space + (*at & (SPACE - 1));
    *at += size;
    memset(block, 0, size);
    *(uint64_t *)block = size;
    __asm__ volatile("" : : "r"(block) : "memory");
    return block;
}

__attribute__((noinline)) static void bump_plain(void) {
    for (size_t i = 0, at = 0; i < OPERATIONS; i++)
        bump(&at, 64);
}

__attribute__((noinline)) static void bump_counted(void) {
    for (size_t i = 0, at = 0; i < OPERATIONS; i++) {
        char *block = bump(&at, 64);
        if (memprof_count(&self, 5))
            cold((uintptr_t)block, 5);
    }
}

__attribute__((noinline)) static void malloc_plain(void) {
    for (size_t i = 0; i < OPERATIONS; i++) {
        void *block = malloc(32);
        __asm__ volatile("" : : "r"(block) : "memory");
        free(block);
    }
}

__attribute__((noinline)) static void malloc_counted(void) {
    for (size_t i = 0; i < OPERATIONS; i++) {
        void *block = malloc(32);
        if (memprof_count(&self, 5))
            cold((uintptr_t)block, 5);
        __asm__ volatile("" : : "r"(block) : "memory");
        if (memprof_is_tracked(&filter, block))
            memprof_freed(engine, &self, (uintptr_t)block);
        free(block);
    }
}

/* ---- measuring --------------------------------------------------------------------------------
 */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n) {
    qsort(values, n, sizeof *values, ascending);
    return values[n / 2];
}

static double time_of(void (*loop)(void)) {
    double begin = now();
    loop();
    return now() - begin;
}

/* Runs the two loops in turn, and prints the median of the ratios of adjacent runs. */
static void compare(const char *name, void (*plain)(void), void (*counted)(void)) {
    double ratios[ROUNDS], extra[ROUNDS];
    plain();
    counted();
    for (int i = 0; i < ROUNDS; i++) {
        double a = time_of(plain), b = time_of(counted);
        ratios[i] = b / a;
        extra[i] = (b - a) / OPERATIONS;
    }
    double ns = median(extra, ROUNDS);
    printf("%-34s x %.3f   %+7.2f ns\n", name, median(ratios, ROUNDS), ns);
}

static void compare_at(double rate) {
    char name[64];
    if (rate > 0)
        start(rate);
    if (rate == 0 || rate < 1e-3) {
        snprintf(name, sizeof name, rate > 0 ? "bump, rate %g" : "bump, inactive", rate);
        compare(name, bump_plain, bump_counted);
    }
    snprintf(name, sizeof name, rate > 0 ? "malloc + free, rate %g" : "malloc + free, inactive",
             rate);
    compare(name, malloc_plain, malloc_counted);
    if (rate > 0)
        stop();
}

static void report(const char *name, double begin, double n) {
    printf("%-34s           %7.2f ns\n", name, (now() - begin) / n);
}

static void measure_cold(void) {
    enum { N = 2000000 };
    static gap_source gaps;
    gap_seed(&gaps, 1, 1);
    gap_set_rate(&gaps, 1e-3);
    double begin = now();
    for (int i = 0; i < N; i++)
        sampled += (uint64_t)gap_next(&gaps);
    report("a gap", begin, N);
    begin = now();
    for (int i = 0; i < N; i++)
        sampled += gap_binomial(&gaps, 1000000);
    report("a binomial count (np = 1000)", begin, N);
    start(1);
    begin = now();
    for (int i = 0; i < N; i++)
        if (memprof_count(&self, 5))
            sampled += memprof_sample(engine, &self, 5);
    report("memprof_sample at rate 1", begin, N);
    begin = now();
    for (uintptr_t i = 1; i <= N; i++) {
        memprof_track(
            engine, &self,
            &(memprof_birth){
                .address = i % 1000 * 64 + 64, .size = 4, .n_samples = 1, .heap = MEMPROF_MAJOR});
        memprof_freed(engine, &self, i % 1000 * 64 + 64);
    }
    report("memprof_track + memprof_freed", begin, N);
    stop();
}

int main(void) {
    engine = memprof_create(&(memprof_host){.reallocate = reallocate, .filter = &filter});
    if (!engine)
        return 1;
    compare("malloc + free, the same loop twice", malloc_plain, malloc_plain);
    const double rates[] = {0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        compare_at(rates[i]);
    measure_cold();
    memprof_destroy(engine);
    return sampled == 1;
}
