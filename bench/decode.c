/* decode.c: the speed of decoding traces.
 *
 *     decode TRACE...
 *
 * Each trace is read from the page cache repeatedly, with backtraces and without. For comparison it
 * is also only read by read(2), in pieces as large as the reader's window. Each line has
 * medians. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "allotrace/memtrace.h"

enum { RUNS = 21, LEAST_BYTES = 8 << 20 /* a measurement reads at least that many bytes */ };

typedef struct tally {
    unsigned long long events, new_frames;
} tally;

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *path, const char *why) {
    fprintf(stderr, "decode: %s: %s\n", path, why);
    exit(EXIT_FAILURE);
}

static tally decode(const char *path, bool skip_backtraces) {
    memtrace_reader_options options = {.skip_backtraces = skip_backtraces};
    memtrace_reader *reader;
    memtrace_error error;
    if (memtrace_reader_open(path, &options, &reader, &error) != MEMTRACE_OK)
        die(path, error.reason);
    tally t = {0};
    memtrace_event event;
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK) {
        t.events++;
        t.new_frames += event.n_frames - event.common_prefix;
    }
    memtrace_reader_close(reader);
    return t;
}

static tally decode_full(const char *path) {
    return decode(path, false);
}
static tally decode_without_backtraces(const char *path) {
    return decode(path, true);
}

static tally read_only(const char *path) {
    static char window[128 * 1024];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die(path, "cannot open");
    while (read(fd, window, sizeof window) > 0)
        ;
    close(fd);
    return (tally){0};
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median time of one pass over the trace. */
static double median_seconds(tally (*pass)(const char *), const char *path, size_t size) {
    double times[RUNS];
    size_t passes = 1 + LEAST_BYTES / size;
    pass(path);
    for (int i = 0; i < RUNS; i++) {
        double start = seconds_now();
        for (size_t j = 0; j < passes; j++)
            pass(path);
        times[i] = (seconds_now() - start) / (double)passes;
    }
    qsort(times, RUNS, sizeof *times, compare_doubles);
    return times[RUNS / 2];
}

static void report(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0 || st.st_size == 0) {
        printf("  %-18s skipped: there is no such trace here\n", path);
        return;
    }
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t size = (size_t)st.st_size;
    tally t = decode_full(path);
    double full = median_seconds(decode_full, path, size),
           bare = median_seconds(decode_without_backtraces, path, size),
           read = median_seconds(read_only, path, size), mb = (double)size / 1e6;
    printf("  %-18s full %5.0f MB/s, %5.1f M events/s, %6.1f M frames/s; without backtraces"
           " %5.0f MB/s; full/read(2) alone %.1f\n",
           name, mb / full, (double)t.events / full / 1e6, (double)t.new_frames / full / 1e6,
           mb / bare, full / read);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        report(argv[i]);
    return EXIT_SUCCESS;
}
