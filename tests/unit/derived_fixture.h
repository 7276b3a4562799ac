/* derived_fixture.h: small traces, and traces derived from them. */
#ifndef DERIVED_FIXTURE_H
#define DERIVED_FIXTURE_H

#include <fcntl.h>
#include <sys/mman.h>

#include "trace/excerpt.h"
#include "trace/rewrite.h"
#include "trace_text.h"

/* The codes in the stacks of these tests. */
enum { MAIN = 1, LEAF, OTHER_LEAF, TYPED, NOWHERE, MARK, GAUGE };

static inline size_t locate(void *context, uint64_t code, memtrace_location *l, size_t max) {
    (void)context;
    ck_assert_uint_ge(max, 2);
    switch (code) {
    case MAIN:
        l[0] = (memtrace_location){.file = "src/main.c", .function = "App.main", .line = 10};
        return 1;
    case LEAF:
        l[0] = (memtrace_location){.file = "src/leaf.c", .function = "App.leaf", .line = 20};
        return 1;
    case OTHER_LEAF:
        l[0] = (memtrace_location){.file = "src/leaf.c", .function = "App.leaf", .line = 21};
        return 1;
    case TYPED:
        l[0] = (memtrace_location){.file = MEMTRACE_TYPE_FILE, .function = "table"};
        l[1] = (memtrace_location){.file = "src/leaf.c", .function = "App.leaf", .line = 22};
        return 2;
    case MARK:
        l[0] = (memtrace_location){.file = MEMTRACE_MARK_FILE, .function = "loaded"};
        return 1;
    case GAUGE:
        l[0] = (memtrace_location){.file = MEMTRACE_GAUGE_FILE, .function = "rss"};
        return 1;
    default:
        return 0;
    }
}

typedef struct tape {
    fixture f;
    memtrace_stream *streams[2]; /* by domain */
} tape;

static inline void tape_start(tape *t, const memtrace_info *info,
                              size_t (*where)(void *, uint64_t, memtrace_location *, size_t)) {
    *t = (tape){.f.hooks = {.sink = fixture_sink, .locate = where}};
    pthread_mutex_init(&t->f.lock, NULL);
    t->f.hooks.context = &t->f;
    ck_assert_int_eq(memtrace_writer_open(info, &t->f.hooks, &t->f.writer, NULL), MEMTRACE_OK);
    for (uint16_t i = 0; i < 2; i++)
        ck_assert_int_eq(memtrace_stream_open(t->f.writer, i, &t->streams[i]), MEMTRACE_OK);
}

static inline void tape_end_at(tape *t, uint64_t time) {
    for (int i = 1; i >= 0; i--)
        ck_assert_int_eq(memtrace_stream_close_at(t->streams[i], time), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(t->f.writer), MEMTRACE_OK);
}

static inline void tape_end(tape *t) {
    tape_end_at(t, 0);
}

static inline uint64_t allocate(tape *t, uint16_t domain, uint64_t time, uint64_t samples,
                                uint64_t leaf) {
    const uint64_t stack[] = {MAIN, leaf};
    uint64_t id;
    ck_assert_int_eq(memtrace_stream_alloc(t->streams[domain], time, MEMTRACE_MINOR, 10 + time,
                                           samples, stack, 2, 0, &id),
                     MEMTRACE_OK);
    return id;
}

static inline void remark(tape *t, uint16_t domain, uint64_t time, uint64_t code, uint64_t value) {
    ck_assert_int_eq(memtrace_stream_remark(t->streams[domain], time, code, value), MEMTRACE_OK);
}

static inline void promote(tape *t, uint16_t domain, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_promote(t->streams[domain], time, id), MEMTRACE_OK);
}

static inline void collect(tape *t, uint16_t domain, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_collect(t->streams[domain], time, id), MEMTRACE_OK);
}

static inline memtrace_reader *play(const tape *t) {
    return open_bytes(t->f.bytes.items, t->f.bytes.count);
}

static const memtrace_info head = {.sample_rate = 0.5,
                                   .start_time = START_TIME,
                                   .pid = 7,
                                   .executable_name = "/bin/prog",
                                   .host_name = "venus",
                                   .runtime_params = "o=80",
                                   .context = "confidential"};

static inline int result_fd(void) {
    const int fd = memfd_create("result", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static inline memtrace_reader *open_result(int fd) {
    memtrace_reader *reader;
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(memtrace_reader_open_fd(fd, NULL, &reader, NULL), MEMTRACE_OK);
    return reader;
}

/* Records blocks a (10–25), b (12, never freed), c (20–21, promoted), d (22–40), and a mark at
 * 24. */
static inline void record_stretch(tape *t) {
    tape_start(t, &head, locate);
    const uint64_t a = allocate(t, 0, 10, 3, LEAF), b = allocate(t, 0, 12, 1, OTHER_LEAF);
    promote(t, 0, 15, a);
    const uint64_t c = allocate(t, 0, 20, 2, LEAF);
    promote(t, 0, 21, c);
    collect(t, 0, 21, c);
    const uint64_t d = allocate(t, 0, 22, 1, TYPED);
    remark(t, 0, 24, MARK, 0);
    collect(t, 0, 25, a);
    collect(t, 0, 40, d);
    promote(t, 0, 41, b);
    tape_end(t);
}

static inline uint64_t duration_of(memtrace_reader *reader) {
    memtrace_event event;
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK)
        ;
    const uint64_t duration = memtrace_reader_duration(reader);
    memtrace_reader_close(reader);
    return duration;
}

#endif
