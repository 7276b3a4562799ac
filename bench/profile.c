/* profile.c: the cost of making a profile of a trace, and of filtered queries on it.
 *
 *     profile [MILLIONS OF EVENTS [FILE [SURPRISES]]]
 *     profile TRACE
 *
 * The trace is given, or is made up and kept in an unnamed file. A given trace should not be
 * compressed, since decompression would be measured as well. With FILE, the made-up trace is only
 * written there, and nothing is measured.
 *
 * In the made-up trace, four domains take turns. Call stacks are about 30 frames deep and change by
 * a few frames. Of 64 calls, SURPRISES (3) are not the usual one: with 18, half of the stacks are
 * new. Most blocks die young; one in eight is promoted, and most of these die late.
 *
 * Each measurement is a process of its own, so that its memory can be measured. The memory of the
 * table of blocks is the difference between a profile with it and one without. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "query/query.h"

enum {
    RUNS = 5,
    DEFAULT_MILLIONS = 4,
    DEFAULT_SURPRISES = 3,
    DOMAINS = 4,
    SLICE = 4096, /* allocations of a domain in its turn */
    DEPTH = 30,
    CODES = 1 << 13, /* the lower half are callers, the upper half allocate */
    YOUNG = 1 << 12, /* young blocks of a domain; each allocation ends or promotes a random one */
    OLD = 1 << 20,   /* promoted blocks of all; each promotion ends a random one */
};

static _Noreturn void die(const char *why) {
    fprintf(stderr, "profile: %s\n", why);
    exit(EXIT_FAILURE);
}

static void check(memtrace_status status) {
    if (status != MEMTRACE_OK)
        die("out of memory, or of room for the trace in the folder of temporary files");
}

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Returns CPU time, which does not depend on what else runs on the machine. */
static double seconds_now(void) {
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- the trace --------------------------------------------------------------------------- */

typedef struct maker {
    int fd;
    memtrace_writer *writer;
    memtrace_stream *streams[DOMAINS];
    uint64_t random, time, n_events, n_blocks, surprises;
    uint64_t frames[DOMAINS][DEPTH];
    uint64_t young[DOMAINS][YOUNG], old[OLD]; /* ids + 1; 0: none yet */
} maker;

static uint64_t next_random(maker *m) {
    m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return m->random >> 33;
}

static int sink(void *context, const void *packets, size_t size) {
    const maker *m = context;
    return write(m->fd, packets, size) == (ssize_t)size ? 0 : 1;
}

static size_t locate(void *context, uint64_t code, memtrace_location *l, size_t max) {
    static char names[CODES][2][16];
    char(*name)[16] = names[code];
    (void)context;
    (void)max;
    snprintf(name[0], sizeof name[0], "file%d.c", (int)code % 64);
    snprintf(name[1], sizeof name[1], "f%d", (int)code);
    *l = (memtrace_location){.file = name[0], .function = name[1], .line = (uint32_t)code % 999};
    return 1;
}

/* Changes the innermost frames, always including the last, which allocates. The others are callers.
 * A function usually makes the same call, and otherwise one of a few others. */
static size_t change_stack(maker *m, uint64_t frames[DEPTH], size_t *depth) {
    size_t keep = *depth - 1 - next_random(m) % 4, back = next_random(m) % 64;
    keep = back == 0 || keep > DEPTH ? *depth / 2 : keep;
    *depth = keep + 1 + next_random(m) % 4;
    *depth = *depth < DEPTH ? *depth : DEPTH;
    for (size_t i = keep; i < *depth; i++) {
        const uint64_t r = next_random(m) % 64 + m->surprises;
        const uint64_t choice = r < 64 ? 0 : r - 63;
        const uint64_t caller = i > 0 ? frames[i - 1] : 0;
        frames[i] =
            (caller * 31 + choice * 977 + i) % (CODES / 2) + (i + 1 == *depth ? CODES / 2 : 0);
    }
    return keep;
}

static void bury(maker *m, memtrace_stream *stream, uint64_t block) {
    if (block == 0)
        return;
    if (next_random(m) % 8 > 0) {
        check(memtrace_stream_collect(stream, m->time, block - 1));
        m->n_events++;
        return;
    }
    uint64_t *place = &m->old[next_random(m) % OLD];
    check(memtrace_stream_promote(stream, m->time, block - 1));
    m->n_events++;
    if (*place > 0) {
        check(memtrace_stream_collect(stream, m->time, *place - 1));
        m->n_events++;
    }
    *place = block;
}

static void make_events(maker *m, uint64_t n_events) {
    size_t depths[DOMAINS] = {0};
    for (unsigned domain = 0; m->n_events < n_events; domain = (domain + 1) % DOMAINS)
        for (int i = 0; i < SLICE; i++) {
            memtrace_stream *stream = m->streams[domain];
            const size_t kept = change_stack(m, m->frames[domain], &depths[domain]);
            const uint64_t length = 1 + next_random(m) % (next_random(m) % 64 ? 8 : 5000);
            uint64_t id, *place = &m->young[domain][next_random(m) % YOUNG];
            m->time += next_random(m) % 4;
            check(memtrace_stream_alloc(stream, m->time, MEMTRACE_MINOR, length, 1,
                                        m->frames[domain], depths[domain], kept, &id));
            m->n_events++;
            m->n_blocks++;
            bury(m, stream, *place);
            *place = id + 1;
        }
}

static void make_trace(maker *m, uint64_t n_events) {
    const memtrace_info info = {.sample_rate = 1e-3};
    const memtrace_writer_options options = {.sink = sink, .locate = locate, .context = m};
    check(memtrace_writer_open(&info, &options, &m->writer, NULL));
    for (unsigned i = 0; i < DOMAINS; i++)
        check(memtrace_stream_open(m->writer, (uint16_t)i, &m->streams[i]));
    make_events(m, n_events);
    for (unsigned i = 0; i < DOMAINS; i++)
        check(memtrace_stream_close(m->streams[i]));
    check(memtrace_writer_close(m->writer));
}

static int temporary_file(void) {
    const char *folder = getenv("TMPDIR");
    const int fd = open(folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        die("cannot make a temporary file");
    return fd;
}

/* ---- what is measured -------------------------------------------------------------------- */

/* Each term, alone and with others. */
static const char *const filters[] = {
    "alloc:1s..5s",
    "live:1s..2s",
    "live:@peak",
    "life:<1ms",
    "size:>=64",
    "heap:major",
    "domain:2",
    "promoted",
    "survived",
    "fn:f7",
    "file:/file[0-9].c/",
    "type:block",
    "hide:f7",
    "alloc:1s..5s size:>=64 -promoted",
    "fn:f7,f77 life:>=1ms",
    "survived file:/file[0-9].c/",
    "type:block heap:major",
    "live:@peak domain:1,2",
    "live:@peak fn:f7,f77 size:>=64 -promoted",
};

enum { N_FILTERS = sizeof filters / sizeof *filters };

/* The results of one process. */
typedef struct findings {
    double seconds, query_seconds[N_FILTERS];
    double peak_seconds, peak_elapsed; /* for a query that must find the peak first */
    size_t n_nodes, n_kept[N_FILTERS];
    long peak; /* KB */
} findings;

static void read_profile(profile *p, int fd, bool keep_blocks) {
    memtrace_reader *reader;
    if (lseek(fd, 0, SEEK_SET) != 0)
        die("cannot rewind");
    check(memtrace_reader_open_fd(dup(fd), NULL, &reader, NULL));
    check(profile_read(p, reader, &(profile_options){.keep_blocks = keep_blocks}));
    memtrace_reader_close(reader);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void ask(const profile *p, const char *text, size_t n, double *seconds, size_t *n_kept) {
    filter *f;
    filter_error error;
    query_result q;
    if (!filter_parse(text, &f, &error))
        die(error.reason);
    double runs[RUNS];
    for (size_t i = 0; i < n; i++) {
        const double start = seconds_now();
        if (!query_run(&q, p, &(query_spec){.filter = f}))
            die("out of memory");
        runs[i] = seconds_now() - start;
        *n_kept = q.selection.n_kept;
        query_free(&q);
    }
    qsort(runs, n, sizeof *runs, by_value);
    *seconds = runs[n / 2];
    filter_free(f);
}

static void take_measures(int fd, bool keep_blocks, bool queries, findings *found) {
    profile p = {0};
    struct rusage usage;
    const double start = seconds_now();
    read_profile(&p, fd, keep_blocks);
    found->seconds = seconds_now() - start;
    found->n_nodes = cct_count(&p.tree);
    getrusage(RUSAGE_SELF, &usage);
    found->peak = usage.ru_maxrss;
    size_t n_kept;
    const double before = seconds_of(CLOCK_MONOTONIC);
    if (queries)
        ask(&p, "live:@peak", 1, &found->peak_seconds, &n_kept);
    found->peak_elapsed = seconds_of(CLOCK_MONOTONIC) - before;
    for (int i = 0; queries && i < N_FILTERS; i++)
        ask(&p, filters[i], RUNS, &found->query_seconds[i], &found->n_kept[i]);
    profile_free(&p);
}

static findings measure_apart(int fd, bool keep_blocks, bool queries) {
    int ends[2], status;
    findings found;
    if (pipe(ends) != 0)
        die("cannot make a pipe");
    const pid_t child = fork();
    if (child == 0) {
        take_measures(fd, keep_blocks, queries, &found);
        _exit(write(ends[1], &found, sizeof found) == sizeof found ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &found, sizeof found) != sizeof found)
        die("a measurement failed");
    close(ends[0]);
    waitpid(child, &status, 0);
    return found;
}

static int by_seconds(const void *a, const void *b) {
    const double x = ((const findings *)a)->seconds, y = ((const findings *)b)->seconds;
    return (x > y) - (x < y);
}

/* Returns the run with the median time. */
static findings measure_all(int fd, bool keep_blocks) {
    findings runs[RUNS];
    for (int i = 0; i < RUNS; i++)
        runs[i] = measure_apart(fd, keep_blocks, keep_blocks && i == 0);
    findings first = runs[0];
    qsort(runs, RUNS, sizeof *runs, by_seconds);
    memcpy(runs[RUNS / 2].query_seconds, first.query_seconds, sizeof first.query_seconds);
    runs[RUNS / 2].peak_seconds = first.peak_seconds;
    runs[RUNS / 2].peak_elapsed = first.peak_elapsed;
    memcpy(runs[RUNS / 2].n_kept, first.n_kept, sizeof first.n_kept);
    return runs[RUNS / 2];
}

/* Makes a trace, in FILE if it is given. Returns the file, ready to be read. */
static int make_file(double millions, const char *name, uint64_t surprises) {
    maker *m = calloc(1, sizeof *m);
    if (!m)
        die("out of memory");
    m->surprises = surprises;
    m->fd = name ? open(name, O_RDWR | O_CREAT | O_TRUNC, 0600) : temporary_file();
    make_trace(m, (uint64_t)(millions * 1e6));
    const int fd = m->fd;
    free(m);
    return fd;
}

static void count_events(int fd, double *events, double *blocks) {
    memtrace_reader *reader;
    memtrace_event event;
    memtrace_status status;
    if (lseek(fd, 0, SEEK_SET) != 0)
        die("cannot rewind");
    check(memtrace_reader_open_fd(dup(fd), NULL, &reader, NULL));
    for (*events = *blocks = 0; (status = memtrace_reader_next(reader, &event)) == MEMTRACE_OK;
         ++*events)
        *blocks += event.kind == MEMTRACE_ALLOC;
    if (status != MEMTRACE_END)
        die("the trace cannot be read to its end");
    memtrace_reader_close(reader);
}

int main(int argc, char **argv) {
    const double millions = argc > 1 ? strtod(argv[1], NULL) : DEFAULT_MILLIONS;
    const char *file = argc > 2 ? argv[2] : NULL;
    const uint64_t surprises = argc > 3 ? strtoull(argv[3], NULL, 10) : DEFAULT_SURPRISES;
    const int fd =
        millions > 0 ? make_file(millions, file, surprises) : open(argv[1], O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die("neither a number of events nor a trace");
    if (millions > 0 && file)
        return EXIT_SUCCESS;
    double events, blocks;
    count_events(fd, &events, &blocks);
    const findings tree = measure_all(fd, false), table = measure_all(fd, true);
    printf("  %.1f M events, %.1f M blocks, %.1f MB, %zu nodes\n", events / 1e6, blocks / 1e6,
           (double)lseek(fd, 0, SEEK_END) / 1e6, tree.n_nodes);
    printf("  profile without blocks %5.1f M events/s\n", events / tree.seconds / 1e6);
    printf("  profile with blocks    %5.1f M events/s, %.1f bytes a block at the peak\n",
           events / table.seconds / 1e6, (double)(table.peak - tree.peak) * 1024 / blocks);
    printf("  query live:@peak, the first time %22.1f ms for 10 M blocks, %.1f ms elapsed\n",
           table.peak_seconds * 1e3 / blocks * 1e7, table.peak_elapsed * 1e3 / blocks * 1e7);
    for (int i = 0; i < N_FILTERS; i++)
        printf("  query %-41s %6.1f ms for 10 M blocks, %.1f %% kept\n", filters[i],
               table.query_seconds[i] * 1e3 / blocks * 1e7, (double)table.n_kept[i] / blocks * 100);
    close(fd);
    return EXIT_SUCCESS;
}
