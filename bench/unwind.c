/* unwind.c: the cost of capturing one stack: by our unwinder with all its rows cached (warm), and
 * with none (cold, with the page faults of an untouched cache), and, for comparison, by glibc's
 * backtrace() and libunwind's unw_backtrace(), if that is installed. The methods take turns in each
 * round, and the medians of all rounds are printed. libunwind is opened at run time, because it
 * would replace glibc's backtrace() if it were linked. */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "platform/pages.h"
#include "platform/unwind.h"

enum { ROUNDS = 301, CAPTURES = 200, FRAMES_MAX = 512, FUNCTIONS = 32 };

static unwind_cache *cache;
static uintptr_t stack_low, stack_high;
static void *frames[FRAMES_MAX];
static int (*libunwind_backtrace)(void **, int);

static size_t capture_ours(void) {
    struct unwind_start start;
    unwind_here(&start);
    return unwind_stack(cache, &start, stack_low, stack_high, (uintptr_t *)frames, FRAMES_MAX,
                        NULL);
}

static size_t capture_careful(void) {
    struct unwind_start start;
    unwind_here(&start);
    return unwind_stack(cache, &start, 0, 0, (uintptr_t *)frames, FRAMES_MAX, NULL);
}

static size_t capture_glibc(void) {
    return (size_t)backtrace(frames, FRAMES_MAX);
}

static size_t capture_libunwind(void) {
    return (size_t)libunwind_backtrace(frames, FRAMES_MAX);
}

enum { OURS, COLD, CAREFUL, GLIBC, LIBUNWIND, METHODS };

static const struct method {
    const char *name;
    size_t (*capture)(void);
} methods[METHODS] = {
    [OURS] = {"rows, warm", capture_ours},
    [COLD] = {"rows, cold", capture_ours},
    [CAREFUL] = {"rows, stack bounds unknown", capture_careful},
    [GLIBC] = {"glibc backtrace()", capture_glibc},
    [LIBUNWIND] = {"libunwind unw_backtrace()", capture_libunwind},
};

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double samples[METHODS][ROUNDS];
static size_t frame_counts[METHODS];

static double time_one(size_t m) {
    int repeats = m == COLD ? 1 : CAPTURES;
    if (m == COLD)
        unwind_cache_flush(cache);
    double start = now_ns();
    for (int i = 0; i < repeats; i++)
        frame_counts[m] = methods[m].capture();
    return (now_ns() - start) / repeats;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(void) {
    for (int round = 0; round < ROUNDS; round++)
        for (size_t m = 0; m < METHODS; m++)
            if (m != LIBUNWIND || libunwind_backtrace)
                samples[m][round] = time_one(m);
    for (size_t m = 0; m < METHODS; m++)
        qsort(samples[m], ROUNDS, sizeof(double), ascending);
    double ours = samples[OURS][ROUNDS / 2] / (double)frame_counts[OURS];
    for (size_t m = 0; m < METHODS; m++) {
        double capture = samples[m][ROUNDS / 2], frame = capture / (double)frame_counts[m];
        if (frame_counts[m])
            printf("%-28s %4zu frames %10.0f ns %8.2f ns/frame %8.1f x\n", methods[m].name,
                   frame_counts[m], capture, frame, frame / ours);
    }
}

/* A chain of different functions with frames of different sizes. Each calls the next. */
typedef int link_function(int depth);
static link_function *const chain[FUNCTIONS];

static int descend(int depth, int from) {
    if (depth == 0) {
        measure();
        return 0;
    }
    return chain[(from + 1) % FUNCTIONS](depth - 1);
}

#define LINK(n)                                                                                    \
    static __attribute__((noinline)) int link_##n(int depth) {                                     \
        volatile char locals[16 + 8 * n];                                                          \
        locals[0] = (char)depth;                                                                   \
        int result = descend(depth, n);                                                            \
        return result + locals[0];                                                                 \
    }
/* clang-format off */
#define LINKS(X)                                                                                   \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)              \
    X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21)             \
    X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
/* clang-format on */
LINKS(LINK)
#define LINK_NAME(n) link_##n,
static link_function *const chain[FUNCTIONS] = {LINKS(LINK_NAME)};

int main(void) {
    void *libunwind = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (libunwind)
        *(void **)&libunwind_backtrace = dlsym(libunwind, "unw_backtrace");
    else
        puts("libunwind is not installed: left out");
    cache = pages_alloc(unwind_cache_size());
    if (!cache || !unwind_stack_bounds(&stack_low, &stack_high))
        return EXIT_FAILURE;
    chain[0](20);
    puts("");
    chain[0](60);
    return EXIT_SUCCESS;
}
