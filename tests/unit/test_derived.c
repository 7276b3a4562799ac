/* Tests of traces made from traces: excerpts, merged and anonymous ones. */
#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "trace/anonymise.h"
#include "trace/merge.h"
#include "trace/rewrite.h"
#include "trace_text.h"

/* ---- small traces ---- */

/* What the codes of these tests stand for. */
enum { MAIN = 1, LEAF, OTHER_LEAF, TYPED, NOWHERE, MARK, GAUGE };

static size_t locate(void *context, uint64_t code, memtrace_location *l, size_t max) {
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

/* The same codes in another program. */
static size_t locate_elsewhere(void *context, uint64_t code, memtrace_location *l, size_t max) {
    if (code != LEAF)
        return locate(context, code, l, max);
    l[0] = (memtrace_location){.file = "twig.c", .function = "twig", .line = 5};
    return 1;
}

typedef struct tape {
    fixture f;
    memtrace_stream *streams[2]; /* by domain */
} tape;

static void tape_start(tape *t, const memtrace_info *info,
                       size_t (*where)(void *, uint64_t, memtrace_location *, size_t)) {
    *t = (tape){.f.hooks = {.sink = fixture_sink, .locate = where}};
    pthread_mutex_init(&t->f.lock, NULL);
    t->f.hooks.context = &t->f;
    ck_assert_int_eq(memtrace_writer_open(info, &t->f.hooks, &t->f.writer, NULL), MEMTRACE_OK);
    for (uint16_t i = 0; i < 2; i++)
        ck_assert_int_eq(memtrace_stream_open(t->f.writer, i, &t->streams[i]), MEMTRACE_OK);
}

static void tape_end_at(tape *t, uint64_t time) {
    for (int i = 1; i >= 0; i--)
        ck_assert_int_eq(memtrace_stream_close_at(t->streams[i], time), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(t->f.writer), MEMTRACE_OK);
}

static void tape_end(tape *t) {
    tape_end_at(t, 0);
}

static uint64_t allocate(tape *t, uint16_t domain, uint64_t time, uint64_t samples, uint64_t leaf) {
    const uint64_t stack[] = {MAIN, leaf};
    uint64_t id;
    ck_assert_int_eq(memtrace_stream_alloc(t->streams[domain], time, MEMTRACE_MINOR, 10 + time,
                                           samples, stack, 2, 0, &id),
                     MEMTRACE_OK);
    return id;
}

static void remark(tape *t, uint16_t domain, uint64_t time, uint64_t code, uint64_t value) {
    ck_assert_int_eq(memtrace_stream_remark(t->streams[domain], time, code, value), MEMTRACE_OK);
}

static void promote(tape *t, uint16_t domain, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_promote(t->streams[domain], time, id), MEMTRACE_OK);
}

static void collect(tape *t, uint16_t domain, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_collect(t->streams[domain], time, id), MEMTRACE_OK);
}

static memtrace_reader *play(const tape *t) {
    return open_bytes(t->f.bytes.items, t->f.bytes.count);
}

static const memtrace_info head = {.sample_rate = 0.5,
                                   .start_time = START_TIME,
                                   .pid = 7,
                                   .executable_name = "/bin/prog",
                                   .host_name = "venus",
                                   .runtime_params = "o=80",
                                   .context = "confidential"};

/* ---- results ---- */

static int result_fd(void) {
    const int fd = memfd_create("result", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static memtrace_reader *open_result(int fd) {
    memtrace_reader *reader;
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(memtrace_reader_open_fd(fd, NULL, &reader, NULL), MEMTRACE_OK);
    return reader;
}

/* Closes both readers. */
static memtrace_reader *excerpt_of(memtrace_reader *first, memtrace_reader *again,
                                   const excerpt_options *options, excerpt *e) {
    const int fd = result_fd();
    ck_assert_int_eq(excerpt_plan(e, first, options), MEMTRACE_OK);
    memtrace_info info = *memtrace_reader_info(again);
    excerpt_head(e, &info);
    const rewrite_input input = {
        .reader = again, .options = {.select = excerpt_select, .end = excerpt_end, .user = e}};
    memtrace_error error;
    ck_assert_msg(rewrite_traces(&info, &input, 1, fd, COMPRESSION_NONE, &error) == MEMTRACE_OK,
                  "%s", error.reason);
    memtrace_reader_close(first);
    memtrace_reader_close(again);
    return open_result(fd);
}

static void assert_excerpt(const tape *t, const excerpt_options *options, const char *expected) {
    excerpt e;
    char *text = text_of(excerpt_of(play(t), play(t), options, &e));
    ck_assert_str_eq(text, expected);
    free(text);
    excerpt_free(&e);
}

/* ---- a stretch of time ---- */

/* Blocks a (10–25), b (12, lives), c (20–21, promoted), d (22–40), and a mark at 24. */
static void record_stretch(tape *t) {
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

START_TEST(trimming_leaves_out_what_was_there_before) {
    tape t;
    record_stretch(&t);
    assert_excerpt(&t, &(excerpt_options){.from = 20, .to = 40, .keep = 1},
                   "0000000000 0000000000 alloc 2 len=30 dom=0 depth=2    0:"
                   " App.main@src/main.c:10:0-0 App.leaf@src/leaf.c:20:0-0\n"
                   "0000000001 0000000000 promote\n"
                   "0000000001 0000000000 collect\n"
                   "0000000002 0000000001 alloc 1 len=32 dom=0 depth=2    1:"
                   " table@<type>:0:0-0 App.leaf@src/leaf.c:22:0-0\n"
                   "0000000004 0000000002 mark loaded=0 dom=0\n");
    fixture_free(&t.f);
}
END_TEST

START_TEST(trimming_can_keep_what_was_alive) {
    tape t;
    record_stretch(&t);
    assert_excerpt(&t, &(excerpt_options){.from = 22, .to = 30, .keep = 1, .live = true},
                   "0000000000 0000000000 alloc 3 len=20 dom=0 depth=2    0:"
                   " App.main@src/main.c:10:0-0 App.leaf@src/leaf.c:20:0-0\n"
                   "0000000000 0000000001 alloc 1 len=22 dom=0 depth=2    1:"
                   " App.leaf@src/leaf.c:21:0-0\n"
                   "0000000000 0000000000 promote\n"
                   "0000000000 0000000002 alloc 1 len=32 dom=0 depth=2    1:"
                   " table@<type>:0:0-0 App.leaf@src/leaf.c:22:0-0\n"
                   "0000000002 0000000003 mark loaded=0 dom=0\n"
                   "0000000003 0000000000 collect\n");
    fixture_free(&t.f);
}
END_TEST

/* The record of a block that cannot go on serves a later one, which still is numbered as later. */
START_TEST(what_cannot_go_on_takes_no_room) {
    tape t;
    excerpt e;
    tape_start(&t, &head, locate);
    uint64_t brief = allocate(&t, 0, 1, 1, LEAF), old = allocate(&t, 0, 2, 2, LEAF);
    for (uint64_t time = 3; time < 1000; time++) {
        collect(&t, 0, time, brief);
        brief = allocate(&t, 0, time, 1, LEAF);
    }
    const uint64_t late = allocate(&t, 0, 1000, 3, LEAF);
    collect(&t, 0, 1003, late);
    collect(&t, 0, 1004, old);
    tape_end(&t);
    const excerpt_options options = {.from = 1001, .to = EXCERPT_END, .keep = 1, .live = true};
    char *text = text_of(excerpt_of(play(&t), play(&t), &options, &e));
    ck_assert_str_eq(text, "0000000000 0000000000 alloc 2 len=12 dom=0 depth=2    0:"
                           " App.main@src/main.c:10:0-0 App.leaf@src/leaf.c:20:0-0\n"
                           "0000000000 0000000001 alloc 1 len=1009 dom=0 depth=2    2:\n"
                           "0000000000 0000000002 alloc 3 len=1010 dom=0 depth=2    2:\n"
                           "0000000002 0000000002 collect\n"
                           "0000000003 0000000000 collect\n");
    ck_assert_uint_eq(e.blocks.count, 3);
    free(text);
    excerpt_free(&e);
    fixture_free(&t.f);
}
END_TEST

START_TEST(trimming_moves_the_start) {
    tape t;
    excerpt e;
    record_stretch(&t);
    memtrace_reader *part =
        excerpt_of(play(&t), play(&t), &(excerpt_options){.from = 20, .to = 40, .keep = 1}, &e);
    ck_assert_uint_eq(memtrace_reader_info(part)->start_time, START_TIME + 20);
    ck_assert_double_eq(memtrace_reader_info(part)->sample_rate, 0.5);
    ck_assert_uint_eq(e.n_blocks, 4);
    ck_assert_uint_eq(e.n_kept, 2);
    ck_assert_uint_eq(e.n_samples, 7);
    excerpt_free(&e);
    memtrace_reader_close(part);
    fixture_free(&t.f);
}
END_TEST

static uint64_t duration_of(memtrace_reader *reader) {
    memtrace_event event;
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK)
        ;
    const uint64_t duration = memtrace_reader_duration(reader);
    memtrace_reader_close(reader);
    return duration;
}

/* It lasts to the end of the stretch, or of the trace, even if nothing happened in it. */
START_TEST(trimming_keeps_the_end) {
    static const struct {
        uint64_t from, to, duration;
    } cases[] = {{0, 30, 30},
                 {22, 1000, 978},
                 {22, EXCERPT_END, 50000000 - 22},
                 {50, 40000000, 40000000 - 50},
                 {60000000, EXCERPT_END, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tape t;
        excerpt e;
        tape_start(&t, &head, locate);
        collect(&t, 0, 25, allocate(&t, 0, 10, 3, LEAF));
        tape_end_at(&t, 50000000);
        const excerpt_options options = {.from = cases[i].from, .to = cases[i].to, .keep = 1};
        ck_assert_uint_eq(duration_of(excerpt_of(play(&t), play(&t), &options, &e)),
                          cases[i].duration);
        excerpt_free(&e);
        fixture_free(&t.f);
    }
}
END_TEST

/* The packet of domain 1 comes first in the file. */
START_TEST(a_death_may_come_before_its_allocation) {
    tape t;
    tape_start(&t, &head, locate);
    const uint64_t early = allocate(&t, 0, 5, 1, LEAF), late = allocate(&t, 0, 30, 1, LEAF);
    collect(&t, 1, 8, early);
    collect(&t, 1, 35, late);
    tape_end(&t);
    char *text = text_of(play(&t));
    ck_assert_msg(strncmp(text, "0000000008 0000000000 collect\n", 30) == 0, "%s", text);
    free(text);
    assert_excerpt(&t, &(excerpt_options){.from = 10, .to = EXCERPT_END, .keep = 1, .live = true},
                   "0000000020 0000000000 alloc 1 len=40 dom=0 depth=2    0:"
                   " App.main@src/main.c:10:0-0 App.leaf@src/leaf.c:20:0-0\n"
                   "0000000025 0000000000 collect\n");
    fixture_free(&t.f);
}
END_TEST

/* ---- thinning ---- */

static excerpt thinner(double keep, uint64_t seed) {
    tape t;
    excerpt e;
    tape_start(&t, &head, locate);
    tape_end(&t);
    memtrace_reader *reader = play(&t);
    ck_assert_int_eq(excerpt_plan(&e, reader, &(excerpt_options){.keep = keep, .seed = seed}),
                     MEMTRACE_OK);
    memtrace_reader_close(reader);
    fixture_free(&t.f);
    return e;
}

START_TEST(how_samples_are_grouped_does_not_matter) {
    excerpt one = thinner(0.3, 1), many = thinner(0.3, 1);
    uint64_t taken = 0;
    for (uint64_t i = 0; i < 1000; i++)
        taken += excerpt_thin(&many, i % 7);
    ck_assert_uint_eq(excerpt_thin(&one, 142 * 21 + 0 + 1 + 2 + 3 + 4 + 5), taken);
    ck_assert_uint_gt(taken, 0);
}
END_TEST

/* The numbers of samples left in blocks of five follow the binomial law, to five standard errors.
 */
START_TEST(thinning_is_binomial) {
    enum { BLOCKS = 100000, K = 5 };
    static const double law[K + 1] = {0.16807, 0.36015, 0.3087, 0.1323, 0.02835, 0.00243};
    excerpt e = thinner(0.3, (uint64_t)_i);
    uint64_t counts[K + 1] = {0};
    for (int i = 0; i < BLOCKS; i++)
        counts[excerpt_thin(&e, K)]++;
    for (int k = 0; k <= K; k++) {
        const double sigma = sqrt(BLOCKS * law[k] * (1 - law[k]));
        ck_assert_double_eq_tol((double)counts[k], BLOCKS * law[k], 5 * sigma);
    }
}
END_TEST

START_TEST(keeping_all_keeps_all) {
    excerpt e = thinner(1, 0);
    ck_assert_uint_eq(excerpt_thin(&e, UINT64_C(1) << 60), UINT64_C(1) << 60);
}
END_TEST

START_TEST(seeds_and_rates_give_other_choices) {
    excerpt a = thinner(0.01, 1), b = thinner(0.01, 2), again = thinner(0.01, 1);
    ck_assert(a.gap != b.gap || a.random != b.random);
    ck_assert_uint_eq(a.random, again.random);
    ck_assert_uint_eq(a.gap, again.gap);
}
END_TEST

static bool same_frame(const memtrace_frame *a, const memtrace_frame *b) {
    if (a->code != b->code || a->n_locations != b->n_locations)
        return false;
    for (uint32_t i = 0; i < a->n_locations; i++)
        if (a->locations[i].line != b->locations[i].line ||
            strcmp(a->locations[i].file, b->locations[i].file) != 0 ||
            strcmp(a->locations[i].function, b->locations[i].function) != 0)
            return false;
    return true;
}

static bool same_stack(memtrace_reader *r, const memtrace_event *e, memtrace_reader *s,
                       const memtrace_event *f) {
    if (e->n_frames != f->n_frames)
        return false;
    for (uint32_t i = 0; i < e->n_frames; i++)
        if (!same_frame(memtrace_reader_frame(r, e->frames[i]),
                        memtrace_reader_frame(s, f->frames[i])))
            return false;
    return true;
}

/* Each event of the result is one of the original, in its order, with the same stack; allocations
 * come before whatever happens to them, and ids have no gaps. */
START_TEST(what_is_left_of_a_real_trace_is_as_it_was) {
    char path[4096];
    snprintf(path, sizeof path, "%s/traces/ocamlopt.ctf", test_data());
    excerpt e;
    const excerpt_options options = {.to = EXCERPT_END, .keep = 0.25};
    memtrace_reader *part = excerpt_of(open_path(path), open_path(path), &options, &e);
    memtrace_reader *all = open_path(path);
    ck_assert_double_eq(memtrace_reader_info(part)->sample_rate, 2e-5 / 4);
    memtrace_event kept, event;
    uint64_t n = 0;
    while (memtrace_reader_next(part, &kept) == MEMTRACE_OK) {
        do
            ck_assert_int_eq(memtrace_reader_next(all, &event), MEMTRACE_OK);
        while (event.kind != kept.kind || event.time != kept.time ||
               (kept.kind == MEMTRACE_ALLOC &&
                (event.length != kept.length || !same_stack(part, &kept, all, &event))));
        if (kept.kind == MEMTRACE_ALLOC)
            ck_assert_uint_eq(kept.id, n++);
        else
            ck_assert_uint_lt(kept.id, n);
    }
    ck_assert_uint_eq(n, e.n_kept);
    ck_assert_double_eq_tol((double)e.n_taken, 1676 / 4.0, 5 * sqrt(1676 * 0.25 * 0.75));
    size_t n_warnings;
    memtrace_reader_warnings(part, &n_warnings);
    ck_assert_uint_eq(n_warnings, 0);
    memtrace_reader_close(part);
    memtrace_reader_close(all);
    excerpt_free(&e);
}
END_TEST

/* ---- merging ---- */

static memtrace_reader *merged(const tape *a, const tape *b, merge *m) {
    memtrace_reader *first[] = {play(a), play(b)}, *again[] = {play(a), play(b)};
    const int fd = result_fd();
    memtrace_error error;
    ck_assert_int_eq(merge_start(m, first, 2, 0), MEMTRACE_OK);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(merge_plan(m, i, first[i]), MEMTRACE_OK);
    ck_assert_msg(merge_write(m, again, fd, COMPRESSION_NONE, &error) == MEMTRACE_OK, "%s",
                  error.reason);
    for (size_t i = 0; i < 2; i++) {
        memtrace_reader_close(first[i]);
        memtrace_reader_close(again[i]);
    }
    return open_result(fd);
}

static void record_pair(tape *a, tape *b, double second_rate) {
    memtrace_info later = head;
    later.start_time += 100;
    later.sample_rate = second_rate;
    later.pid = 8;
    later.executable_name = "/bin/prog2";
    tape_start(a, &head, locate);
    collect(a, 0, 50, allocate(a, 0, 3, 2, LEAF));
    tape_end(a);
    tape_start(b, &later, locate_elsewhere);
    collect(b, 1, 9, allocate(b, 0, 4, 1, LEAF));
    allocate(b, 0, 5, 1, OTHER_LEAF);
    tape_end(b);
}

START_TEST(merging_aligns_times_and_renumbers) {
    tape a, b;
    merge m;
    record_pair(&a, &b, 0.5);
    memtrace_reader *both = merged(&a, &b, &m);
    const memtrace_info *info = memtrace_reader_info(both);
    ck_assert_uint_eq(info->start_time, START_TIME);
    ck_assert_uint_eq(info->pid, 0);
    ck_assert_str_eq(info->executable_name, "/bin/prog, /bin/prog2");
    ck_assert_str_eq(info->host_name, "venus");
    ck_assert_str_eq(info->context, "2 merged traces");
    char *text = text_of(both);
    ck_assert_str_eq(text, "0000000003 0000000000 alloc 2 len=13 dom=0 depth=2    0:"
                           " App.main@src/main.c:10:0-0 App.leaf@src/leaf.c:20:0-0\n"
                           "0000000050 0000000000 collect\n"
                           "0000000104 0000000001 alloc 1 len=14 dom=1 depth=2    0:"
                           " App.main@src/main.c:10:0-0 twig@twig.c:5:0-0\n"
                           "0000000105 0000000002 alloc 1 len=15 dom=1 depth=2    1:"
                           " App.leaf@src/leaf.c:21:0-0\n"
                           "0000000109 0000000001 collect\n");
    free(text);
    merge_free(&m);
    fixture_free(&a.f);
    fixture_free(&b.f);
}
END_TEST

/* Of the traces of two processes, the first of which has ended before: what that one had is freed
 * then. Parts of one process are not two. */
START_TEST(a_process_that_ends_frees_what_it_has) {
    tape a, b;
    merge m;
    memtrace_info later = head;
    later.start_time += 100;
    later.pid += _i == 0;
    tape_start(&a, &head, locate);
    allocate(&a, 0, 3, 2, LEAF);
    collect(&a, 0, 5, allocate(&a, 0, 4, 1, LEAF));
    remark(&a, 1, 6, MARK, 0);
    tape_end_at(&a, 40);
    tape_start(&b, &later, locate);
    allocate(&b, 0, 1, 1, LEAF);
    tape_end_at(&b, 70);
    char *text = text_of(merged(&a, &b, &m));
    merge_free(&m);
    ck_assert_msg((_i == 0) == !!strstr(text, "0000000040 0000000000 collect\n"), "%s", text);
    ck_assert_msg(!strstr(text, "0000000040 0000000001 collect\n"), "%s", text);
    ck_assert_msg(!strstr(text, "0000000002 collect\n"), "%s", text);
    ck_assert_uint_eq(duration_of(merged(&a, &b, &m)), 170);
    free(text);
    merge_free(&m);
    fixture_free(&a.f);
    fixture_free(&b.f);
}
END_TEST

/* The readings of domain 2 as "time=value …". */
static char *readings_of(char *text) {
    static char readings[256];
    size_t used = 0;
    readings[0] = '\0';
    for (char *line = text; *line; line += strcspn(line, "\n") + 1) {
        uint64_t time, value;
        int domain;
        if (sscanf(line, "%" SCNu64 " %*u gauge rss=%" SCNu64 " dom=%d", &time, &value, &domain) ==
                3 &&
            domain == 2)
            used += (size_t)snprintf(readings + used, sizeof readings - used,
                                     "%" PRIu64 "=%" PRIu64 " ", time, value);
    }
    free(text);
    return readings;
}

/* Gauges of two processes become their sums, as long as there are both; of one process there is
 * nothing to sum up. Marks stay where they are. */
START_TEST(gauges_are_summed_up_over_processes) {
    tape a, b;
    merge m;
    memtrace_info later = head;
    later.start_time += 10;
    later.pid += _i == 0;
    tape_start(&a, &head, locate);
    remark(&a, 0, 3, GAUGE, 13);
    remark(&a, 0, 6, MARK, 0);
    remark(&a, 0, 20, GAUGE, 30);
    tape_end_at(&a, 40);
    tape_start(&b, &later, locate);
    remark(&b, 0, 5, GAUGE, 15);
    remark(&b, 0, 60, GAUGE, 70);
    tape_end_at(&b, 100);
    char *text = text_of(merged(&a, &b, &m));
    ck_assert_msg(strstr(text, "0000000006 0000000000 mark loaded=0 dom=0\n"), "%s", text);
    ck_assert_msg(!strstr(text, "alloc") && !strstr(text, "collect"), "%s", text);
    ck_assert_str_eq(readings_of(text),
                     _i ? "3=13 15=15 20=30 70=70 " : "3=13 15=28 20=45 41=15 70=70 ");
    merge_free(&m);
    fixture_free(&a.f);
    fixture_free(&b.f);
}
END_TEST

/* A domain in which blocks only end, and a trace without any, have numbers of their own, too. */
START_TEST(merging_keeps_domains_apart) {
    tape a, b;
    merge m;
    memtrace_info other = head;
    other.pid++;
    tape_start(&a, &head, locate);
    if (_i)
        collect(&a, 1, 5, allocate(&a, 0, 3, 2, LEAF));
    tape_end_at(&a, 50);
    tape_start(&b, &other, locate);
    collect(&b, 1, 5, allocate(&b, 0, 3, 2, LEAF));
    tape_end_at(&b, 40);
    memtrace_reader *both = merged(&a, &b, &m);
    ck_assert_uint_eq(m.parts[1].first_domain, _i ? 2 : 1);
    ck_assert_uint_eq(duration_of(both), 50);
    merge_free(&m);
    fixture_free(&a.f);
    fixture_free(&b.f);
}
END_TEST

START_TEST(merging_thins_to_the_lowest_rate) {
    tape a, b;
    merge m;
    memtrace_info dense = head;
    dense.sample_rate = 1;
    tape_start(&a, &head, locate);
    allocate(&a, 0, 1000, 1000, LEAF);
    tape_end(&a);
    tape_start(&b, &dense, locate);
    for (int i = 0; i < 1000; i++)
        allocate(&b, 0, (uint64_t)i, 10, LEAF);
    tape_end(&b);
    memtrace_reader *both = merged(&a, &b, &m);
    ck_assert_double_eq(memtrace_reader_info(both)->sample_rate, 0.5);
    ck_assert_uint_eq(m.parts[0].blocks.n_taken, 1000);
    ck_assert_double_eq_tol((double)m.parts[1].blocks.n_taken, 5000, 5 * 50);
    memtrace_reader_close(both);
    merge_free(&m);
    fixture_free(&a.f);
    fixture_free(&b.f);
}
END_TEST

START_TEST(word_sizes_do_not_mix) {
    tape a, b;
    merge m;
    memtrace_info narrow = head;
    narrow.word_size = 32;
    tape_start(&a, &head, locate);
    tape_end(&a);
    tape_start(&b, &narrow, locate);
    tape_end(&b);
    memtrace_reader *readers[] = {play(&a), play(&b)};
    ck_assert_int_eq(merge_start(&m, readers, 2, 0), MEMTRACE_USAGE);
    ck_assert_str_eq(m.hindrance, "their word sizes differ");
    merge_free(&m);
    for (size_t i = 0; i < 2; i++)
        memtrace_reader_close(readers[i]);
    fixture_free(&a.f);
    fixture_free(&b.f);
}
END_TEST

/* ---- names ---- */

static int anonymous(const tape *t, const anonymise_options *options) {
    const int fd = result_fd();
    memtrace_reader *reader = play(t);
    ck_assert_int_eq(anonymise_trace(reader, options, fd, COMPRESSION_NONE, NULL), MEMTRACE_OK);
    memtrace_reader_close(reader);
    return fd;
}

static bool contains(int fd, const char *name) {
    struct stat s;
    ck_assert_int_eq(fstat(fd, &s), 0);
    const char *bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    ck_assert(bytes != MAP_FAILED);
    return memmem(bytes, (size_t)s.st_size, name, strlen(name));
}

START_TEST(no_name_is_left) {
    static const char *const secrets[] = {"main",   "App",   "leaf",         "src",  ".c",  "table",
                                          "loaded", "venus", "confidential", "prog", "o=80"};
    tape t;
    record_stretch(&t);
    const int fd = anonymous(&t, &(anonymise_options){.key = {1, 2}});
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        ck_assert_msg(memmem(t.f.bytes.items, t.f.bytes.count, secrets[i], strlen(secrets[i])),
                      "%s", secrets[i]);
        ck_assert_msg(!contains(fd, secrets[i]), "%s", secrets[i]);
    }
    memtrace_reader *reader = open_result(fd);
    ck_assert_uint_eq(memtrace_reader_info(reader)->pid, 0);
    ck_assert_uint_eq(memtrace_reader_info(reader)->start_time, START_TIME);
    memtrace_reader_close(reader);
    fixture_free(&t.f);
}
END_TEST

START_TEST(pseudonyms_follow_from_the_key) {
    tape t;
    record_stretch(&t);
    char *one = text_of(open_result(anonymous(&t, &(anonymise_options){.key = {1, 2}})));
    char *same = text_of(open_result(anonymous(&t, &(anonymise_options){.key = {1, 2}})));
    char *other = text_of(open_result(anonymous(&t, &(anonymise_options){.key = {1, 3}})));
    ck_assert_str_eq(one, same);
    ck_assert_str_ne(one, other);
    free(one);
    free(same);
    free(other);
    fixture_free(&t.f);
}
END_TEST

/* With lines, types and structure kept, what differs is the names alone. */
START_TEST(structure_stays_on_request) {
    tape t;
    record_stretch(&t);
    const anonymise_options options = {
        .key = {1, 2}, .keep_lines = true, .keep_types = true, .keep_structure = true};
    char *text = text_of(open_result(anonymous(&t, &options)));
    char module[14], leaf[14], folder[14], file[14], found[256];
    const char *at = strstr(text, "1: table@<type>:0:0-0 ");
    ck_assert_msg(at && sscanf(at,
                               "1: table@<type>:0:0-0 %13[f0-9a-f].%13[f0-9a-f]@%13[p0-9a-f]/"
                               "%13[p0-9a-f].c:22:0-0",
                               module, leaf, folder, file) == 4,
                  "%s", text);
    snprintf(found, sizeof found, " %s.%s@%s/%s.c:20:0-0\n", module, leaf, folder, file);
    ck_assert_msg(strstr(text, found), "%s", text);
    free(text);
    fixture_free(&t.f);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("derived");
    TCase *t = tcase_create("derived");
    tcase_add_test(t, trimming_leaves_out_what_was_there_before);
    tcase_add_test(t, trimming_can_keep_what_was_alive);
    tcase_add_test(t, what_cannot_go_on_takes_no_room);
    tcase_add_test(t, trimming_moves_the_start);
    tcase_add_test(t, trimming_keeps_the_end);
    tcase_add_test(t, a_death_may_come_before_its_allocation);
    tcase_add_test(t, how_samples_are_grouped_does_not_matter);
    tcase_add_loop_test(t, thinning_is_binomial, 0, 3);
    tcase_add_test(t, keeping_all_keeps_all);
    tcase_add_test(t, seeds_and_rates_give_other_choices);
    tcase_add_test(t, what_is_left_of_a_real_trace_is_as_it_was);
    tcase_add_test(t, merging_aligns_times_and_renumbers);
    tcase_add_loop_test(t, a_process_that_ends_frees_what_it_has, 0, 2);
    tcase_add_loop_test(t, gauges_are_summed_up_over_processes, 0, 2);
    tcase_add_loop_test(t, merging_keeps_domains_apart, 0, 2);
    tcase_add_test(t, merging_thins_to_the_lowest_rate);
    tcase_add_test(t, word_sizes_do_not_mix);
    tcase_add_test(t, no_name_is_left);
    tcase_add_test(t, pseudonyms_follow_from_the_key);
    tcase_add_test(t, structure_stays_on_request);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
