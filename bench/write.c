/* write.c: the cost of writing an event, and its size in the file.
 *
 * A call stack of random call sites changes by a few innermost frames from one allocation to the
 * next. Each line has medians, and each cost also as a multiple of a single collection, the
 * cheapest event. The trace is discarded. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "allotrace/memtrace.h"

enum { RUNS = 11, EVENTS = 200000, SITES = 500, MAX_DEPTH = 512, SITE_SIZE = 7 };

typedef struct bench {
    memtrace_writer *writer;
    memtrace_stream *stream;
    uint64_t random, now, bytes;
    uint64_t frames[MAX_DEPTH];
} bench;

static void check(memtrace_status status) {
    if (status != MEMTRACE_OK) {
        fprintf(stderr, "write: status %d\n", (int)status);
        exit(EXIT_FAILURE);
    }
}

static int sink(void *context, const void *packets, size_t size) {
    bench *b = context;
    (void)packets;
    b->bytes += size;
    return 0;
}

static void open_all(bench *b) {
    const memtrace_info info = {.sample_rate = 1e-5};
    const memtrace_writer_options options = {.sink = sink, .context = b};
    check(memtrace_writer_open(&info, &options, &b->writer, NULL));
    check(memtrace_stream_open(b->writer, 0, &b->stream));
}

static void close_all(bench *b) {
    check(memtrace_stream_close(b->stream));
    check(memtrace_writer_close(b->writer));
}

static uint64_t random_site(bench *b) {
    b->random = b->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 0x555555550000 + (b->random >> 33) % SITES * SITE_SIZE;
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void write_allocations(bench *b, size_t depth, size_t changed) {
    uint64_t id;
    for (int i = 0; i < EVENTS; i++) {
        for (size_t j = depth - changed; j < depth; j++)
            b->frames[j] = random_site(b);
        check(memtrace_stream_alloc(b->stream, b->now++ / 10, MEMTRACE_EXTERNAL, 10, 1, b->frames,
                                    depth, 0, &id));
    }
}

static void write_collections(bench *b) {
    for (uint64_t i = 0; i < EVENTS; i++)
        check(memtrace_stream_collect(b->stream, b->now++ / 10, i));
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median cost of an event in nanoseconds, of a collection if `depth` is 0. Sets `*size`
 * to its size in bytes. */
static double measure(size_t depth, size_t changed, double *size) {
    static bench b;
    double runs[RUNS];
    b = (bench){.random = 1};
    open_all(&b);
    for (size_t i = 0; i < depth; i++)
        b.frames[i] = random_site(&b);
    for (int i = 0; i < RUNS; i++) {
        const double start = seconds_now();
        if (depth > 0)
            write_allocations(&b, depth, changed);
        else
            write_collections(&b);
        runs[i] = (seconds_now() - start) / EVENTS * 1e9;
    }
    close_all(&b);
    *size = (double)b.bytes / ((double)EVENTS * RUNS);
    qsort(runs, RUNS, sizeof *runs, by_value);
    return runs[RUNS / 2];
}

int main(void) {
    static const size_t depths[] = {8, 32, 512}, changes[] = {1, 4};
    double size;
    const double collection = measure(0, 0, &size);
    printf("a collection: %.1f ns, %.1f bytes\n", collection, size);
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
        for (size_t j = 0; j < sizeof changes / sizeof *changes; j++) {
            const double cost = measure(depths[i], changes[j], &size);
            printf("an allocation at depth %zu, %zu new frames: %.1f ns (%.1f x), %.1f bytes\n",
                   depths[i], changes[j], cost, cost / collection, size);
        }
    return EXIT_SUCCESS;
}
