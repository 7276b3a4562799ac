/* tape.h: for tests of queries: a trace with two domains, written to memory and read into a
 * profile. */
#ifndef TAPE_H
#define TAPE_H

#include <string.h>

#include "allotrace/memtrace.h"
#include "profile/profile.h"
#include "unit.h"

typedef struct tape {
    VEC(unsigned char) bytes;
    memtrace_writer *writer;
    memtrace_stream *streams[2]; /* by domain */
} tape;

static inline int tape_keep(void *context, const void *packets, size_t size) {
    tape *t = context;
    ck_assert(vec_reserve(&t->bytes, size));
    memcpy(t->bytes.items + t->bytes.count, packets, size);
    t->bytes.count += size;
    return 0;
}

/* The codes in the stacks of these tests. */
enum {
    MAIN = 1,
    LEAF,
    LEAF_ELSEWHERE,
    INLINED,
    TYPED,
    NOWHERE,
    MARK,
    GAUGE,
    ANONYMOUS,
    STOPPED,
    XMALLOC,
    MALLOC_WITHIN,
    GUEST_ARRAY,
    PARSE,
    EVAL,
    LIB_MAP,
    EVAL_WITHIN,
    WORKER,
    SPAN_PARTS /* and the next four codes; the last means no span */
};

typedef struct tape_place {
    uint64_t code;
    memtrace_location outer, inner; /* no function: there is no such location */
} tape_place;

static const tape_place tape_places[] = {
    {MAIN, {"main.c", "main", 10, 0, 0}, {0}},
    {LEAF, {"leaf.c", "leaf", 20, 0, 0}, {0}},
    {LEAF_ELSEWHERE, {"leaf.c", "leaf", 21, 0, 0}, {0}},
    {INLINED, {"help.c", "helper", 30, 0, 0}, {"leaf.c", "leaf", 20, 0, 0}},
    {TYPED, {MEMTRACE_TYPE_FILE, "table", 0, 0, 0}, {"leaf.c", "leaf", 22, 0, 0}},
    {MARK, {MEMTRACE_MARK_FILE, "loaded", 0, 0, 0}, {0}},
    {GAUGE, {MEMTRACE_GAUGE_FILE, "rss", 0, 0, 0}, {0}},
    {ANONYMOUS, {MEMTRACE_GAUGE_FILE, "anonymous", 0, 0, 0}, {0}},
    {STOPPED, {MEMTRACE_MARK_FILE, "sampling stopped", 0, 0, 0}, {0}},
    {WORKER, {MEMTRACE_THREAD_FILE, "worker", 0, 0, 0}, {0}},
    {XMALLOC, {MEMTRACE_TYPE_FILE, "malloc", 0, 0, 0}, {"util.c", "xmalloc", 5, 0, 0}},
    {MALLOC_WITHIN,
     {MEMTRACE_TYPE_FILE, "malloc", 0, 0, 0},
     {"/lib/x.so[ab]", "x.so+0x10", 0, 0, 0}},
    {GUEST_ARRAY, {MEMTRACE_TYPE_FILE, "LoxArray", 0, 0, 0}, {"util.c", "xmalloc", 5, 0, 0}},
    {PARSE, {"parse.c", "parse", 40, 0, 0}, {0}},
    {EVAL, {"eval.c", "eval", 50, 0, 0}, {0}},
    {LIB_MAP, {"lib/list.ml", "List.map", 60, 0, 0}, {0}},
    {SPAN_PARTS, {MEMTRACE_SPAN_FILE, "bytes 0", 0, 0, 0}, {0}},
    {SPAN_PARTS + 1, {MEMTRACE_SPAN_FILE, "bytes 6", 0, 0, 0}, {0}},
    {SPAN_PARTS + 2, {MEMTRACE_SPAN_FILE, "bytes 12", 0, 0, 0}, {0}},
    {SPAN_PARTS + 3, {MEMTRACE_SPAN_FILE, "bytes 18", 0, 0, 0}, {0}},
    {SPAN_PARTS + 4, {MEMTRACE_SPAN_FILE, MEMTRACE_NO_SCOPE, 0, 0, 0}, {0}},
    {EVAL_WITHIN, {"eval.c", "eval.fun", 50, 0, 0}, {0}}, /* a local function on eval's line */
};

static inline size_t tape_locate(void *context, uint64_t code, memtrace_location *l, size_t max) {
    (void)context;
    ck_assert_uint_ge(max, 2);
    for (size_t i = 0; i < sizeof tape_places / sizeof *tape_places; i++) {
        const tape_place *p = &tape_places[i];
        if (p->code != code)
            continue;
        l[0] = p->outer;
        l[1] = p->inner;
        return p->inner.function ? 2 : 1;
    }
    return 0;
}

static inline void tape_start(tape *t, double rate) {
    const memtrace_info info = {.sample_rate = rate,
                                .executable_name = "prog",
                                .host_name = "host",
                                .runtime_params = "",
                                .context = "a test"};
    const memtrace_writer_options options = {
        .sink = tape_keep, .locate = tape_locate, .context = t};
    *t = (tape){0};
    ck_assert_int_eq(memtrace_writer_open(&info, &options, &t->writer, NULL), MEMTRACE_OK);
    for (uint16_t i = 0; i < 2; i++)
        ck_assert_int_eq(memtrace_stream_open(t->writer, i, &t->streams[i]), MEMTRACE_OK);
}

#define STACK(...) (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8

static inline uint64_t allocate(tape *t, uint64_t time, memtrace_source source, uint64_t length,
                                uint64_t samples, const uint64_t *stack, size_t n) {
    uint64_t id;
    ck_assert_int_eq(
        memtrace_stream_alloc(t->streams[0], time, source, length, samples, stack, n, 0, &id),
        MEMTRACE_OK);
    return id;
}

static inline void remark(tape *t, uint64_t time, uint64_t code, uint64_t value) {
    ck_assert_int_eq(memtrace_stream_remark(t->streams[0], time, code, value), MEMTRACE_OK);
}

/* Closes the streams, the later domain first if `reversed`, and reads the trace. */
static inline void tape_read_with(tape *t, profile *p, bool reversed,
                                  const profile_options *options) {
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(memtrace_stream_close(t->streams[reversed ? 1 - i : i]), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(t->writer), MEMTRACE_OK);
    memtrace_reader *reader;
    ck_assert_int_eq(
        memtrace_reader_open_memory(t->bytes.items, t->bytes.count, NULL, &reader, NULL),
        MEMTRACE_OK);
    *p = (profile){0};
    ck_assert_int_eq(profile_read(p, reader, options), MEMTRACE_OK);
    memtrace_reader_close(reader); /* the profile owns everything that it returns */
    vec_free(&t->bytes);
}

static inline void tape_read(tape *t, profile *p, bool reversed) {
    tape_read_with(t, p, reversed, &(profile_options){.track_promotion = true});
}

static inline void tape_read_blocks(tape *t, profile *p, bool reversed) {
    tape_read_with(t, p, reversed, &(profile_options){.keep_blocks = true});
}

#endif
