/* trace_fixture.h: for tests of the writer: a trace in memory, and the text that a decoder must
 * print for it. The Nth call of the sink, or the Nth request for memory, can be made to fail. */
#ifndef TRACE_FIXTURE_H
#define TRACE_FIXTURE_H

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allotrace/memtrace.h"
#include "base/vec.h"
#include "unit.h"

#define START_TIME UINT64_C(1700000000123456)

typedef struct span {
    size_t offset, size;
} span;

typedef struct fixture {
    memtrace_writer_options hooks;
    memtrace_writer *writer;

    pthread_mutex_t lock; /* protects the rest */
    VEC(uint8_t) bytes;
    VEC(span) packets;                /* the bytes of each call of the sink, the head first */
    int fail_sink_at, fail_memory_at; /* the Nth call fails, and all later ones; 0: none */
    int n_sinks, n_memories;
    size_t memory_in_use, memory_peak;
    int n_located;
} fixture;

static inline int fixture_sink(void *context, const void *packets, size_t size) {
    fixture *f = context;
    pthread_mutex_lock(&f->lock);
    const int error = f->fail_sink_at && ++f->n_sinks >= f->fail_sink_at ? ENOSPC : 0;
    if (!error) {
        const bool room =
            vec_push(&f->packets, ((span){f->bytes.count, size})) && vec_reserve(&f->bytes, size);
        ck_assert(room);
        memcpy(f->bytes.items + f->bytes.count, packets, size);
        f->bytes.count += size;
    }
    pthread_mutex_unlock(&f->lock);
    return error;
}

static inline int fixture_sink_spread(void *context, const void *bytes, size_t size, size_t hole,
                                      size_t times) {
    fixture *f = context;
    if (f->fail_sink_at && ++f->n_sinks >= f->fail_sink_at)
        return ENOSPC;
    const bool room = vec_reserve(&f->bytes, (hole + size) * times);
    ck_assert(room);
    for (; times > 0; times--) {
        memset(f->bytes.items + f->bytes.count, 0, hole);
        memcpy(f->bytes.items + f->bytes.count + hole, bytes, size);
        f->bytes.count += hole + size;
    }
    return 0;
}

/* Fresh memory is filled with garbage, and freed memory is overwritten. */
static inline void *fixture_reallocate(void *context, void *old, size_t old_size, size_t size) {
    fixture *f = context;
    pthread_mutex_lock(&f->lock);
    void *memory = NULL;
    if (size > 0 && !(f->fail_memory_at && ++f->n_memories >= f->fail_memory_at)) {
        memory = malloc(size);
        memset(memory, 0xA5, size);
        f->memory_in_use += size;
        if (f->memory_in_use > f->memory_peak)
            f->memory_peak = f->memory_in_use;
    }
    if (old && memory)
        memcpy(memory, old, old_size < size ? old_size : size);
    if (old && (memory || size == 0)) {
        memset(old, 0x5A, old_size);
        free(old);
        f->memory_in_use -= old_size;
    }
    pthread_mutex_unlock(&f->lock);
    return memory;
}

/* Makes up places: a code has 0 to 3 locations, whose names recur as in real programs. */
static inline size_t fixture_locate(void *context, uint64_t code, memtrace_location *l,
                                    size_t max) {
    static const char *const files[] = {"a.c", "b.c", "src/deep/c.c", "", "d.ml", "e/f.ml", "g.rs"};
    static const char *const functions[] = {"main", "f", "List.map", "operator new(unsigned long)",
                                            "",     "g", "x::y<z>"};
    fixture *f = context;
    pthread_mutex_lock(&f->lock);
    f->n_located++;
    pthread_mutex_unlock(&f->lock);
    const size_t n = code % 4;
    ck_assert_uint_le(n, max);
    for (size_t i = 0; i < n; i++)
        l[i] = (memtrace_location){
            .file = files[(code / 4 + i) % 7],
            .function = functions[(code / 28 + i) % 7],
            .line = (uint32_t)(code % 3001),
            .start_char = (uint16_t)(code % 256),
            .end_char = (uint16_t)(code % 1023),
        };
    return n;
}

/* Opens the writer. The head of the trace is then written, unless the fixture was told to fail. */
static inline memtrace_status fixture_open(fixture *f, uint16_t version) {
    pthread_mutex_init(&f->lock, NULL);
    if (!f->hooks.sink)
        f->hooks.sink = fixture_sink;
    f->hooks.reallocate = fixture_reallocate;
    f->hooks.context = f;
    const memtrace_info info = {
        .version = version,
        .sample_rate = 1e-4,
        .start_time = START_TIME,
        .pid = 4711,
        .executable_name = "/bin/program",
        .host_name = "host",
        .runtime_params = "",
        .context = "a test",
    };
    return memtrace_writer_open(&info, &f->hooks, &f->writer, NULL);
}

static inline void fixture_free(fixture *f) {
    ck_assert_uint_eq(f->memory_in_use, 0);
    vec_free(&f->bytes);
    vec_free(&f->packets);
    pthread_mutex_destroy(&f->lock);
}

/* ---- the expected text ---- */

typedef struct expectation {
    FILE *out;
    char *text;
    size_t size;
    VEC(uint64_t) previous;
} expectation;

static inline void expectation_open(expectation *e) {
    *e = (expectation){0};
    e->out = open_memstream(&e->text, &e->size);
}

static inline void expect_frame(expectation *e, fixture *f, uint64_t code) {
    memtrace_location l[MEMTRACE_MAX_LOCATIONS];
    const size_t n = f->hooks.locate ? f->hooks.locate(f, code, l, MEMTRACE_MAX_LOCATIONS) : 0;
    if (n == 0)
        fprintf(e->out, " $%" PRId64, (int64_t)code);
    for (size_t i = 0; i < n; i++)
        fprintf(e->out, " %s@%s:%u:%u-%u", l[i].function, l[i].file, l[i].line, l[i].start_char,
                l[i].end_char);
}

static inline void expect_alloc(expectation *e, fixture *f, uint64_t time, uint64_t id,
                                memtrace_source source, uint64_t length, uint64_t samples,
                                uint16_t domain, const uint64_t *frames, size_t n) {
    static const char *const kinds[] = {"alloc", "alloc_major", "alloc_ext"};
    size_t common = 0;
    while (common < n && common < e->previous.count && frames[common] == e->previous.items[common])
        common++;
    fprintf(e->out,
            "%010" PRIu64 " %010" PRIu64 " %s %" PRIu64 " len=%" PRIu64 " dom=%u depth=%zu % 4d:",
            time, id, kinds[source], samples, length, domain, n, (int)common);
    for (size_t i = common; i < n; i++)
        expect_frame(e, f, frames[i]);
    fputc('\n', e->out);
    vec_clear(&e->previous);
    const bool room = vec_reserve(&e->previous, n);
    ck_assert(room);
    if (n > 0)
        memcpy(e->previous.items, frames, n * sizeof *frames);
    e->previous.count = n;
}

static inline void expect_other(expectation *e, const char *kind, uint64_t time, uint64_t id) {
    fprintf(e->out, "%010" PRIu64 " %010" PRIu64 " %s\n", time, id, kind);
}

/* ---- the independent decoder ---- */

static inline void write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    const size_t written = fwrite(bytes, 1, size, file);
    ck_assert_uint_eq(written, size);
    ck_assert_int_eq(fclose(file), 0);
}

static inline const char *test_data(void) {
    const char *folder = getenv("TEST_DATA");
    return folder ? folder : "tests";
}

/* Starts tests/decode.py. Returns a pipe with its standard output and error. */
static inline int start_decoder(const char *path, const char *option, pid_t *pid) {
    char script[4096];
    snprintf(script, sizeof script, "%s/decode.py", test_data());
    const char *arguments[] = {"/usr/bin/python3", script, option, path, NULL};
    int ends[2];
    posix_spawn_file_actions_t actions;
    ck_assert_int_eq(pipe(ends), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    ck_assert_int_eq(
        posix_spawn(pid, arguments[0], &actions, NULL, (char *const *)arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    return ends[0];
}

/* Returns what tests/decode.py prints for a file; the caller frees it. */
static inline char *decode_file(const char *path, const char *option) {
    pid_t pid;
    const int from = start_decoder(path, option, &pid);
    VEC(char) text = {0};
    ssize_t got;
    do {
        const bool room = vec_reserve(&text, 65536);
        ck_assert(room);
        got = read(from, text.items + text.count, 65535);
        ck_assert_int_ge(got, 0);
        text.count += (size_t)got;
    } while (got > 0);
    close(from);
    text.items[text.count] = '\0';
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(status == 0, "decode.py refuses the trace: %.300s", text.items);
    return text.items;
}

static inline char *decode_bytes(const void *bytes, size_t size, const char *option) {
    char path[64]; /* of an unnamed file, which the decoder inherits */
    const int fd = memfd_create("trace", 0);
    ck_assert_int_ge(fd, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    write_file(path, bytes, size);
    char *text = decode_file(path, option);
    close(fd);
    return text;
}

static inline int line_length(const char *s) {
    const size_t n = strcspn(s, "\n");
    return n < 1000 ? (int)n : 1000;
}

/* Fails, and shows the first line that differs. */
static inline void assert_same_text(const char *got, const char *want) {
    size_t i = 0, line = 0;
    for (size_t at = 0; got[at] && got[at] == want[at]; at++)
        if (got[at] == '\n') {
            i = at + 1;
            line++;
        }
    ck_assert_msg(strcmp(got, want) == 0, "line %zu\n got: %.*s\nwant: %.*s", line + 1,
                  line_length(got + i), got + i, line_length(want + i), want + i);
}

/* Checks that the independent decoder prints the expected text for the trace. Frees the text. */
static inline void assert_decodes_to(const fixture *f, expectation *e) {
    fclose(e->out);
    char *got = decode_bytes(f->bytes.items, f->bytes.count, "--changed");
    assert_same_text(got, e->text);
    free(got);
    free(e->text);
    vec_free(&e->previous);
}

static inline uint64_t next_random(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* ---- a domain's events, written and expected together ---- */

typedef struct source_of_events {
    fixture *f;
    memtrace_stream *stream;
    uint16_t domain;
    expectation expected;
} source_of_events;

static inline void open_events(source_of_events *s, fixture *f, uint16_t domain) {
    *s = (source_of_events){.f = f, .domain = domain};
    ck_assert_int_eq(memtrace_stream_open(f->writer, domain, &s->stream), MEMTRACE_OK);
    expectation_open(&s->expected);
}

static inline uint64_t alloc_of(source_of_events *s, uint64_t time, memtrace_source source,
                                uint64_t length, uint64_t samples, const uint64_t *frames, size_t n,
                                size_t promise) {
    uint64_t id = 0;
    ck_assert_int_eq(
        memtrace_stream_alloc(s->stream, time, source, length, samples, frames, n, promise, &id),
        MEMTRACE_OK);
    expect_alloc(&s->expected, s->f, time, id, source, length, samples, s->domain, frames, n);
    return id;
}

static inline uint64_t alloc_at(source_of_events *s, uint64_t time, const uint64_t *frames,
                                size_t n) {
    return alloc_of(s, time, MEMTRACE_EXTERNAL, 10, 1, frames, n, 0);
}

static inline void collect_at(source_of_events *s, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_collect(s->stream, time, id), MEMTRACE_OK);
    expect_other(&s->expected, "collect", time, id);
}

static inline void promote_at(source_of_events *s, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_promote(s->stream, time, id), MEMTRACE_OK);
    expect_other(&s->expected, "promote", time, id);
}

/* Writes random walks of a call stack that exercise all cases of the encoding: more call sites than
 * the cache has buckets, loops, returns, single events, jumps of time. */
static inline void random_walk(source_of_events *s, uint64_t seed, size_t n_events,
                               uint64_t n_sites) {
    uint64_t frames[400], time = 0, last = 0;
    size_t depth = 0;
    for (size_t i = 0; i < n_events; i++) {
        const uint64_t r = next_random(&seed);
        time += r % 64 == 0 ? next_random(&seed) % 40000000 : r % 512;
        size_t keep = depth ? depth - next_random(&seed) % depth : 0;
        if (r % 100 == 3)
            keep = 0;
        depth = keep + next_random(&seed) % (r % 1000 == 7 ? 300 : 6);
        if (depth > 400)
            depth = 400;
        for (size_t j = keep; j < depth; j++)
            frames[j] = 0x55550000 + (next_random(&seed) % n_sites) * 5;
        const uint64_t length = (r >> 16) % 20;
        last = alloc_of(s, time, r >> 8 & 1 ? MEMTRACE_MINOR : (r >> 9) % 3, length,
                        1 + (r >> 32) % (length ? 2 : 1), frames, depth, 0);
        if (r >> 40 & 1)
            collect_at(s, time, last - (r >> 48) % (last + 1));
        if ((r >> 41) % 4 == 0)
            promote_at(s, time, last / 2);
    }
}

#endif
