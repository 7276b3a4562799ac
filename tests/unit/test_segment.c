/* Tests of rings: a recording that is cut into segments, and windows of these that are joined
 * again, against the recording itself. */
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "random.h"
#include "trace/cutter.h"
#include "trace/join.h"
#include "trace/rewrite.h"
#include "trace_fixture.h"

enum {
    N_DOMAINS = 3,
    N_EVENTS = 4000,
    MAX_BLOCKS = N_EVENTS,
    MAX_SEGMENTS = 32,
    RECORDING_CODES = 7
};

#define NEVER UINT64_MAX

/* What is known of a block, by its id in the recording. */
typedef struct fact {
    uint64_t born, died, length, samples, leaf;
    size_t born_at, died_at; /* events in the file before these; SIZE_MAX: there is none */
    bool there;
} fact;

typedef struct recording {
    fixture f;
    memtrace_stream *streams[N_DOMAINS];
    fact facts[MAX_BLOCKS];
    uint64_t ids[MAX_BLOCKS];
    size_t n;
    map64 rows; /* of ids */
} recording;

static size_t locate(void *context, uint64_t code, memtrace_location *l, size_t max) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
    (void)context;
    ck_assert_uint_ge(max, 1);
    l[0] = (memtrace_location){
        .file = "x.c", .function = names[code % RECORDING_CODES], .line = (uint32_t)code};
    return 1;
}

static size_t locate_remark(void *context, uint64_t code, memtrace_location *l, size_t max) {
    return segment_locate(code, l) ? 1 : locate(context, code, l, max);
}

/* One event of a program whose threads free each other's blocks; streams are written out at
 * random, so that deaths can stand before allocations. */
static void record_event(recording *r, test_random *random, uint64_t time) {
    const uint16_t domain = (uint16_t)(test_random_u64(random) % N_DOMAINS);
    memtrace_stream *stream = r->streams[domain];
    const size_t victim = r->n ? test_random_u64(random) % r->n : 0;
    if (r->n > 0 && r->facts[victim].died == NEVER && test_random_u64(random) % 5 < 2) {
        r->facts[victim].died = time;
        ck_assert_int_eq(memtrace_stream_collect(stream, time, r->ids[victim]), MEMTRACE_OK);
    } else {
        const uint64_t leaf = 1 + test_random_u64(random) % (RECORDING_CODES - 1),
                       codes[] = {1, 2, 3, leaf}, length = 1 + test_random_u64(random) % 100;
        r->facts[r->n] =
            (fact){.born = time, .died = NEVER, .length = length, .samples = 1, .leaf = leaf};
        ck_assert_int_eq(memtrace_stream_alloc(stream, time, MEMTRACE_EXTERNAL, length, 1, codes, 4,
                                               0, &r->ids[r->n]),
                         MEMTRACE_OK);
        *map64_put(&r->rows, r->ids[r->n]) = (uint32_t)r->n;
        r->n++;
    }
    if (test_random_u64(random) % 20 == 0) {
        memtrace_stream *any = r->streams[test_random_u64(random) % N_DOMAINS];
        ck_assert_int_eq(memtrace_stream_flush(any), MEMTRACE_OK);
    }
}

static void record_events(recording *r, test_random *random) {
    uint64_t time = 0;
    for (size_t i = 0; i < N_EVENTS; i++)
        record_event(r, random, time += test_random_u64(random) % 2000);
}

static recording *record_by(uint64_t seed, void (*events)(recording *r, test_random *random)) {
    recording *r = calloc(1, sizeof *r);
    test_random random = {seed};
    r->f.hooks =
        (memtrace_writer_options){.sink = fixture_sink, .locate = locate_remark, .context = &r->f};
    pthread_mutex_init(&r->f.lock, NULL);
    const memtrace_info info = {.sample_rate = 0.01,
                                .start_time = START_TIME,
                                .pid = 4711,
                                .executable_name = "server",
                                .host_name = "host",
                                .runtime_params = "",
                                .context = ""};
    ck_assert_int_eq(memtrace_writer_open(&info, &r->f.hooks, &r->f.writer, NULL), MEMTRACE_OK);
    for (uint16_t i = 0; i < N_DOMAINS; i++)
        ck_assert_int_eq(memtrace_stream_open(r->f.writer, i, &r->streams[i]), MEMTRACE_OK);
    events(r, &random);
    for (size_t i = 0; i < N_DOMAINS; i++)
        ck_assert_int_eq(memtrace_stream_close(r->streams[i]), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(r->f.writer), MEMTRACE_OK);
    return r;
}

static recording *record(uint64_t seed) {
    return record_by(seed, record_events);
}

static void drop(recording *r) {
    vec_free(&r->f.bytes);
    vec_free(&r->f.packets);
    map64_free(&r->rows);
    free(r);
}

static size_t index_of(const recording *r, uint64_t id) {
    const uint32_t row = map64_get(&r->rows, id);
    return row == MAP64_NONE ? r->n : row;
}

/* ---- cutting ------------------------------------------------------------------------------- */

typedef struct pieces {
    int fds[MAX_SEGMENTS];
    size_t n;
    size_t begins[MAX_SEGMENTS + 1];   /* events of the file before them */
    uint64_t latest[MAX_SEGMENTS + 1]; /* event before them */
    uint64_t late;                     /* how late events of the file are at most */
} pieces;

static memtrace_reader *open_reader(int fd) {
    char path[64];
    memtrace_reader *reader;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ck_assert_int_eq(
        memtrace_reader_open(path, &(memtrace_reader_options){.strict = true}, &reader, NULL),
        MEMTRACE_OK);
    return reader;
}

static void begin_piece(pieces *p, cutter *c, size_t at) {
    p->begins[p->n] = at;
    p->latest[p->n] = c->latest;
    p->fds[p->n] = memfd_create("segment", MFD_CLOEXEC);
    ck_assert_int_ge(p->fds[p->n], 0);
    ck_assert_int_eq(cutter_begin(c, p->fds[p->n]), MEMTRACE_OK);
    p->n++;
}

static void cut(recording *r, pieces *p, size_t every) {
    memtrace_reader *reader;
    memtrace_event event;
    size_t at = 0;
    cutter c = {0};
    *p = (pieces){0};
    ck_assert_int_eq(
        memtrace_reader_open_memory(r->f.bytes.items, r->f.bytes.count, NULL, &reader, NULL),
        MEMTRACE_OK);
    segment_writer_read(&c.out, reader);
    begin_piece(p, &c, 0);
    for (; memtrace_reader_next(reader, &event) == MEMTRACE_OK; at++) {
        if (at > 0 && at % every == 0) {
            ck_assert_int_eq(cutter_end(&c, NULL), MEMTRACE_OK);
            begin_piece(p, &c, at);
        }
        const size_t i = index_of(r, event.id);
        *(event.kind == MEMTRACE_COLLECT ? &r->facts[i].died_at : &r->facts[i].born_at) = at;
        ck_assert_int_eq(cutter_take(&c, &event), MEMTRACE_OK);
        p->late = c.latest - event.time > p->late ? c.latest - event.time : p->late;
    }
    p->begins[p->n] = at;
    p->latest[p->n] = c.latest;
    ck_assert_int_eq(cutter_end(&c, NULL), MEMTRACE_OK);
    cutter_free(&c);
    memtrace_reader_close(reader);
}

static void close_pieces(pieces *p) {
    for (size_t i = 0; i < p->n; i++)
        close(p->fds[i]);
}

/* ---- joining ------------------------------------------------------------------------------- */

/* What a trace says of blocks, in times of the recording. */
typedef struct reading {
    fact facts[MAX_BLOCKS]; /* as those of the recording */
    uint64_t start, duration;
    size_t n_allocs;
} reading;

static int join_some(const pieces *p, size_t from, size_t to, size_t without, join *j) {
    const int fd = memfd_create("joined", MFD_CLOEXEC);
    memtrace_reader *readers[MAX_SEGMENTS] = {NULL};
    for (size_t i = from; i < to; i++) {
        if (i == without)
            continue;
        readers[i] = open_reader(p->fds[i]);
        if (i == from)
            ck_assert_int_eq(join_begin(j, memtrace_reader_info(readers[i]), 0.01, fd),
                             MEMTRACE_OK);
        ck_assert_int_eq(join_add(j, readers[i]), MEMTRACE_OK);
    }
    ck_assert_int_eq(join_end(j), MEMTRACE_OK);
    for (size_t i = from; i < to; i++)
        memtrace_reader_close(readers[i]);
    return fd;
}

typedef struct pending {
    uint64_t block, age;
    bool carries;
} pending;

static void read_alloc(const recording *r, reading *to, memtrace_reader *reader,
                       const memtrace_event *e, pending *p, map64 *rows) {
    const uint64_t id = p->carries ? p->block : e->id;
    const size_t i = index_of(r, id);
    uint32_t *row = map64_put(rows, e->id);
    ck_assert_uint_lt(i, r->n);
    ck_assert(!to->facts[i].there);
    *row = (uint32_t)i;
    to->facts[i] = (fact){.born = to->start + e->time - (p->carries ? p->age : 0),
                          .died = NEVER,
                          .length = e->length,
                          .samples = e->samples,
                          .leaf = memtrace_reader_frame(reader, e->frames[e->n_frames - 1])->code,
                          .there = true};
    ck_assert_uint_eq(e->n_frames, 4);
    to->n_allocs++;
    p->carries = false;
}

/* Deaths may stand before their allocations, and be of blocks that are not there. */
static void read_deaths(reading *to, int fd, const map64 *rows) {
    memtrace_reader *reader = open_reader(fd);
    memtrace_event e;
    while (memtrace_reader_next(reader, &e) == MEMTRACE_OK) {
        const uint32_t row = e.kind == MEMTRACE_COLLECT ? map64_get(rows, e.id) : MAP64_NONE;
        if (row == MAP64_NONE)
            continue;
        ck_assert_uint_eq(to->facts[row].died, NEVER);
        to->facts[row].died = to->start + e.time;
    }
    memtrace_reader_close(reader);
}

static reading *read_back(const recording *r, int fd) {
    reading *to = calloc(1, sizeof *to);
    memtrace_reader *reader = open_reader(fd);
    memtrace_event e;
    memtrace_status status;
    pending pendings[N_DOMAINS] = {0};
    map64 rows = {0};
    to->start = memtrace_reader_info(reader)->start_time - START_TIME;
    while ((status = memtrace_reader_next(reader, &e)) == MEMTRACE_OK) {
        const segment_remark remark = segment_remark_of(reader, &e);
        pending *p = &pendings[e.domain];
        if (remark == SEGMENT_BLOCK)
            p->block = e.length;
        if (remark == SEGMENT_AGE)
            *p = (pending){p->block, e.length, true};
        if (e.kind == MEMTRACE_ALLOC)
            read_alloc(r, to, reader, &e, p, &rows);
    }
    ck_assert_int_eq(status, MEMTRACE_END);
    to->duration = memtrace_reader_duration(reader);
    memtrace_reader_close(reader);
    read_deaths(to, fd, &rows);
    map64_free(&rows);
    return to;
}

static uint64_t live_at(const fact *facts, size_t n, uint64_t time) {
    uint64_t words = 0;
    for (size_t i = 0; i < n; i++)
        if (facts[i].there && facts[i].born <= time && facts[i].died > time)
            words += facts[i].length;
    return words;
}

/* The recording as it would be if it had ended after `end` events of the file. */
static void truth_until(const recording *r, size_t end, fact *facts) {
    for (size_t i = 0; i < r->n; i++) {
        facts[i] = r->facts[i];
        facts[i].there = r->facts[i].born_at < end;
        if (r->facts[i].died_at >= end)
            facts[i].died = NEVER;
    }
}

static void check_blocks(const recording *r, const reading *got, const fact *truth, const pieces *p,
                         size_t from) {
    for (size_t i = 0; i < r->n; i++) {
        const fact *g = &got->facts[i], *t = &truth[i];
        const bool over = t->there && r->facts[i].died_at < p->begins[from] &&
                          r->facts[i].born_at < p->begins[from];
        ck_assert_int_eq(g->there, t->there && !over);
        if (!g->there)
            continue;
        ck_assert_uint_eq(g->born, t->born);
        ck_assert_uint_eq(g->died, t->died);
        ck_assert_uint_eq(g->length, t->length);
        ck_assert_uint_eq(g->samples, t->samples);
        ck_assert_uint_eq(g->leaf, t->leaf);
    }
}

static void check_window(const recording *r, const pieces *p, size_t from, size_t to) {
    static fact truth[MAX_BLOCKS];
    join j;
    const int fd = join_some(p, from, to, SIZE_MAX, &j);
    reading *got = read_back(r, fd);
    truth_until(r, p->begins[to], truth);
    check_blocks(r, got, truth, p, from);
    ck_assert_uint_eq(j.n_missing, 0);
    ck_assert_uint_eq(j.n_freed, 0);
    for (uint64_t t = p->latest[from]; t < p->latest[to]; t += 10007)
        ck_assert_uint_eq(live_at(got->facts, r->n, t), live_at(truth, r->n, t));
    join_free(&j);
    free(got);
    close(fd);
}

static void set_unborn(recording *r) {
    for (size_t i = 0; i < r->n; i++)
        r->facts[i].born_at = r->facts[i].died_at = SIZE_MAX;
}

START_TEST(windows_say_what_the_recording_says) {
    recording *r = record((uint64_t)_i + 1);
    pieces p;
    set_unborn(r);
    cut(r, &p, 200 + 50 * (size_t)_i);
    ck_assert_uint_gt(p.n, 4);
    ck_assert_uint_lt(p.late, CUTTER_LATE);
    for (size_t from = 0; from < p.n; from++)
        for (size_t to = from + 1; to <= p.n; to++)
            check_window(r, &p, from, to);
    close_pieces(&p);
    drop(r);
}
END_TEST

/* As symbolizing does, which puts packets in the order of their times. */
static void rewrite_pieces(pieces *p) {
    for (size_t i = 0; i < p->n; i++) {
        memtrace_reader *reader = open_reader(p->fds[i]);
        const int fd = memfd_create("rewritten", MFD_CLOEXEC);
        ck_assert_int_eq(rewrite_trace(reader, NULL, fd, COMPRESSION_NONE, NULL), MEMTRACE_OK);
        memtrace_reader_close(reader);
        close(p->fds[i]);
        p->fds[i] = fd;
    }
}

/* What happens to carried blocks may then stand in front of them. */
START_TEST(windows_of_symbolized_segments_do_so_too) {
    recording *r = record((uint64_t)_i + 1);
    pieces p;
    set_unborn(r);
    cut(r, &p, 200 + 50 * (size_t)_i);
    rewrite_pieces(&p);
    for (size_t from = 0; from < p.n; from++)
        for (size_t to = from + 1; to <= p.n; to++)
            check_window(r, &p, from, to);
    close_pieces(&p);
    drop(r);
}
END_TEST

/* Without a segment in the middle: what is live is right again from the next one on, what died
 * meanwhile is not live, and nothing is there twice. */
START_TEST(a_missing_segment_costs_itself_alone) {
    static fact truth[MAX_BLOCKS];
    recording *r = record(77);
    pieces p;
    join j;
    set_unborn(r);
    cut(r, &p, 500);
    const size_t without = p.n / 2;
    const int fd = join_some(&p, 0, p.n, without, &j);
    reading *got = read_back(r, fd);
    truth_until(r, SIZE_MAX, truth);
    ck_assert_uint_eq(j.n_missing, 1);
    ck_assert_uint_gt(j.n_freed, 0);
    for (uint64_t t = p.latest[without + 1]; t < p.latest[p.n]; t += 10007)
        ck_assert_uint_eq(live_at(got->facts, r->n, t), live_at(truth, r->n, t));
    for (uint64_t t = 0; t + CUTTER_LATE < p.latest[without]; t += 10007)
        ck_assert_uint_eq(live_at(got->facts, r->n, t), live_at(truth, r->n, t));
    for (size_t i = 0; i < r->n; i++)
        ck_assert(!got->facts[i].there || got->facts[i].born == truth[i].born);
    join_free(&j);
    free(got);
    close(fd);
    close_pieces(&p);
    drop(r);
}
END_TEST

/* What could not be read of a segment, the result says in its own times. */
START_TEST(what_a_segment_lacks_the_result_says) {
    static const char rubbish[] = "rubbish";
    recording *r = record(77);
    pieces p;
    join j;
    size_t n;
    char path[64];
    memtrace_event event;
    memtrace_reader *reader;
    cut(r, &p, 500);
    ck_assert_uint_gt(p.n, 2);
    ck_assert_int_eq(lseek(p.fds[1], 0, SEEK_END) > 0, true);
    ck_assert_int_eq(write(p.fds[1], rubbish, sizeof rubbish), sizeof rubbish);
    const int fd = join_some(&p, 0, p.n, SIZE_MAX, &j);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ck_assert_int_eq(memtrace_reader_open(path, NULL, &reader, NULL), MEMTRACE_OK);
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK)
        ;
    const memtrace_gap *gaps = memtrace_reader_gaps(reader, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(gaps->bytes, sizeof rubbish);
    ck_assert_uint_eq(gaps->of, j.n_bytes);
    ck_assert_uint_gt(gaps->from, p.latest[1]);
    ck_assert_uint_le(gaps->from, p.latest[2]);
    memtrace_reader_close(reader);
    join_free(&j);
    close(fd);
    close_pieces(&p);
    drop(r);
}
END_TEST

/* A segment is a trace: its head says what it carries, and all of that is there. */
START_TEST(a_segment_says_what_it_is) {
    recording *r = record(5);
    pieces p;
    set_unborn(r);
    cut(r, &p, 1000);
    for (size_t i = 0; i < p.n; i++) {
        memtrace_reader *reader = open_reader(p.fds[i]);
        segment_head head;
        uint64_t n_live = 0;
        ck_assert_int_eq(segment_read_head(reader, &head), MEMTRACE_OK);
        ck_assert(head.is_segment);
        ck_assert_uint_eq(head.number, i);
        ck_assert_uint_eq(head.recording, START_TIME);
        for (size_t k = 0; k < r->n; k++)
            n_live += r->facts[k].born_at < p.begins[i] && r->facts[k].died_at >= p.begins[i];
        ck_assert_uint_eq(head.n_carried, n_live);
        memtrace_reader_close(reader);
    }
    close_pieces(&p);
    drop(r);
}
END_TEST

/* ---- cuts at one time ---- */

/* As the recorder does: what some domains have is not written, which another one says. */
static void sweep(recording *r, test_random *random, uint64_t time) {
    memtrace_stream *own = r->streams[test_random_u64(random) % N_DOMAINS];
    uint64_t n_left = 0;
    for (uint64_t i = 0; i < N_DOMAINS; i++) {
        if (r->streams[i] == own)
            continue;
        if (test_random_u64(random) % 4 > 0) {
            ck_assert_int_eq(memtrace_stream_flush(r->streams[i]), MEMTRACE_OK);
            continue;
        }
        ck_assert_int_eq(memtrace_stream_remark(own, time, segment_code(SEGMENT_LEFT), i),
                         MEMTRACE_OK);
        n_left++;
    }
    ck_assert_int_eq(memtrace_stream_remark(own, time, segment_code(SEGMENT_WRITTEN), n_left),
                     MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_flush(own), MEMTRACE_OK);
}

static void record_with_sweeps(recording *r, test_random *random) {
    uint64_t time = 0;
    for (size_t i = 0; i < N_EVENTS; i++) {
        if (i % 40 == 39)
            sweep(r, random, time++);
        record_event(r, random, time += test_random_u64(random) % 3);
    }
}

/* Which domain each of them leaves out is lost. */
static void record_with_lost_sweeps(recording *r, test_random *random) {
    uint64_t time = 0;
    for (size_t i = 0; i < N_EVENTS; i++) {
        if (i % 40 == 39)
            ck_assert_int_eq(memtrace_stream_remark(r->streams[i / 40 % N_DOMAINS], time++,
                                                    segment_code(SEGMENT_WRITTEN), 1),
                             MEMTRACE_OK);
        record_event(r, random, time += test_random_u64(random) % 3);
    }
}

/* What the segment that ends now must hold. */
typedef struct stretch {
    uint64_t from, to; /* later than, and up to */
    bool is_at_time;
} stretch;

/* Plans cuts at random, and puts some of them off. */
static size_t cut_at_times(recording *r, test_random *random, pieces *p, stretch *stretches) {
    memtrace_reader *reader;
    memtrace_event event;
    cutter c = {0};
    *p = (pieces){0};
    ck_assert_int_eq(
        memtrace_reader_open_memory(r->f.bytes.items, r->f.bytes.count, NULL, &reader, NULL),
        MEMTRACE_OK);
    segment_writer_read(&c.out, reader);
    begin_piece(p, &c, 0);
    size_t n_held = 0;
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK) {
        ck_assert_int_eq(cutter_take(&c, &event), MEMTRACE_OK);
        n_held += cutter_held_bytes(&c) > 0;
        if (p->n + 1 < MAX_SEGMENTS && test_random_u64(random) % 100 == 0)
            cutter_plan(&c);
        if (test_random_u64(random) % 500 == 0)
            ck_assert_int_eq(cutter_put_off(&c), MEMTRACE_OK);
        if (!cutter_is_ripe(&c) || p->n + 1 >= MAX_SEGMENTS)
            continue;
        stretches[p->n - 1] = (stretch){c.start, c.until, true};
        ck_assert_int_eq(cutter_end(&c, NULL), MEMTRACE_OK);
        begin_piece(p, &c, 0);
        ck_assert_uint_eq(c.start, stretches[p->n - 2].to);
    }
    stretches[p->n - 1] = (stretch){c.start, UINT64_MAX, false};
    const memtrace_end end = memtrace_reader_end(reader);
    ck_assert_int_eq(cutter_end(&c, &end), MEMTRACE_OK);
    cutter_free(&c);
    memtrace_reader_close(reader);
    return n_held;
}

/* Of a segment alone: what came to be and died in its time, and what was live when it began. */
static void check_alone(const recording *r, int fd, const stretch *s) {
    reading *got = read_back(r, fd);
    ck_assert_uint_eq(got->start, s->from);
    for (size_t i = 0; i < r->n; i++) {
        const fact *g = &got->facts[i], *t = &r->facts[i];
        const bool is_first = s->from == 0;
        ck_assert_int_eq(g->there, t->born <= s->to && (is_first || t->died > s->from));
        if (!g->there)
            continue;
        ck_assert_uint_eq(g->born, t->born);
        ck_assert_uint_eq(g->died, t->died <= s->to ? t->died : NEVER);
        ck_assert_uint_eq(g->leaf, t->leaf);
        ck_assert_uint_eq(g->length, t->length);
    }
    if (s->is_at_time)
        ck_assert_uint_eq(got->start + got->duration, s->to);
    free(got);
}

static void check_end(int fd, bool is_at_time) {
    memtrace_reader *reader = open_reader(fd);
    memtrace_event event;
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK)
        ;
    const memtrace_end end = memtrace_reader_end(reader);
    ck_assert_int_eq(end.how, MEMTRACE_END_WHOLE);
    ck_assert_str_eq(end.reason, is_at_time ? SEGMENT_GOES_ON : "");
    memtrace_reader_close(reader);
}

START_TEST(a_segment_alone_is_right_if_it_is_cut_at_one_time) {
    recording *r = record_by((uint64_t)_i + 1, record_with_sweeps);
    stretch stretches[MAX_SEGMENTS];
    test_random random = {(uint64_t)_i + 1};
    pieces p;
    ck_assert_uint_gt(cut_at_times(r, &random, &p, stretches), 100);
    ck_assert_uint_gt(p.n, 10);
    for (int symbolized = 0; symbolized < 2; symbolized++) {
        for (size_t i = 0; i < p.n; i++) {
            check_alone(r, p.fds[i], &stretches[i]);
            check_end(p.fds[i], stretches[i].is_at_time);
        }
        rewrite_pieces(&p);
    }
    close_pieces(&p);
    drop(r);
}
END_TEST

/* No sweep says which of the others have nothing more: the cut waits, and is not at one time if it
 * is made nevertheless. */
START_TEST(a_cut_waits_for_what_is_not_written) {
    recording *r = record_by(3, _i ? record_with_lost_sweeps : record_events);
    memtrace_reader *reader;
    memtrace_event event;
    pieces p = {0};
    cutter c = {0};
    ck_assert_int_eq(
        memtrace_reader_open_memory(r->f.bytes.items, r->f.bytes.count, NULL, &reader, NULL),
        MEMTRACE_OK);
    segment_writer_read(&c.out, reader);
    begin_piece(&p, &c, 0);
    for (size_t i = 0; i < N_EVENTS / 2; i++) {
        ck_assert_int_eq(memtrace_reader_next(reader, &event), MEMTRACE_OK);
        ck_assert_int_eq(cutter_take(&c, &event), MEMTRACE_OK);
        if (i == N_EVENTS / 4)
            cutter_plan(&c);
        ck_assert(!cutter_is_ripe(&c));
    }
    ck_assert_uint_gt(cutter_held_bytes(&c), 0);
    ck_assert_int_eq(cutter_end(&c, NULL), MEMTRACE_OK);
    ck_assert_uint_eq(cutter_held_bytes(&c), 0);
    check_end(p.fds[0], false);
    begin_piece(&p, &c, 0);
    ck_assert_uint_lt(c.start, c.latest);
    cutter_free(&c);
    memtrace_reader_close(reader);
    close_pieces(&p);
    drop(r);
}
END_TEST

/* ---- rates that change ---- */

enum { N_ROUNDS = 400, STRETCH = 60, BLOCK_WORDS = 80 };

static const uint64_t levels[] = {0, 2, 1, 3, 3, 0};
enum { N_LEVELS = sizeof levels / sizeof *levels };

#define BASE_RATE (1.0 / 16)

static void record_block(recording *r, test_random *random, uint64_t level, uint64_t time,
                         bool dies) {
    const uint64_t codes[] = {1};
    uint64_t samples = 0;
    for (size_t w = 0; w < BLOCK_WORDS; w++)
        samples += test_random_unit(random) < ldexp(BASE_RATE, -(int)level);
    if (!samples)
        return;
    ck_assert_int_eq(memtrace_stream_alloc(r->streams[0], time, MEMTRACE_EXTERNAL, BLOCK_WORDS - 1,
                                           samples, codes, 1, 0, &r->ids[r->n]),
                     MEMTRACE_OK);
    r->facts[r->n++] = (fact){.there = dies};
}

/* The blocks of the stretch before that are to die. */
static void record_deaths(recording *r, size_t from, size_t to, uint64_t time) {
    for (size_t i = from; i < to; i++)
        if (r->facts[i].there)
            ck_assert_int_eq(memtrace_stream_collect(r->streams[0], time, r->ids[i]), MEMTRACE_OK);
}

/* A recording whose recorder thins by itself: in each stretch, each word of the blocks is sampled
 * at the rate of its level. Every second block is freed in the next stretch. */
static recording *record_levels(uint64_t seed) {
    recording *r = calloc(1, sizeof *r);
    test_random random = {seed};
    const memtrace_info info = {.sample_rate = BASE_RATE,
                                .start_time = START_TIME + seed,
                                .pid = 1,
                                .executable_name = "x",
                                .host_name = "",
                                .runtime_params = "",
                                .context = ""};
    r->f.hooks =
        (memtrace_writer_options){.sink = fixture_sink, .locate = locate_remark, .context = &r->f};
    pthread_mutex_init(&r->f.lock, NULL);
    ck_assert_int_eq(memtrace_writer_open(&info, &r->f.hooks, &r->f.writer, NULL), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_open(r->f.writer, 0, &r->streams[0]), MEMTRACE_OK);
    uint64_t time = 1;
    size_t before = 0;
    for (size_t i = 0; i < N_LEVELS; i++) {
        const size_t first = r->n;
        ck_assert_int_eq(
            memtrace_stream_remark(r->streams[0], ++time, segment_code(SEGMENT_LEVEL), levels[i]),
            MEMTRACE_OK);
        for (size_t k = 0; k < STRETCH; k++)
            record_block(r, &random, levels[i], ++time, k % 2 == 0);
        record_deaths(r, before, first, ++time);
        before = first;
    }
    ck_assert_int_eq(memtrace_stream_close(r->streams[0]), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(r->f.writer), MEMTRACE_OK);
    return r;
}

static double rate_of(int fd) {
    memtrace_reader *reader = open_reader(fd);
    const double rate = memtrace_reader_info(reader)->sample_rate;
    memtrace_reader_close(reader);
    return rate;
}

/* Words that a trace stands for: allocated, and live at its end. */
typedef struct sums {
    double words, live;
} sums;

static sums sum_up(int fd) {
    memtrace_reader *reader = open_reader(fd);
    const double rate = memtrace_reader_info(reader)->sample_rate;
    map64 samples = {0};
    memtrace_event e;
    sums s = {0, 0};
    while (memtrace_reader_next(reader, &e) == MEMTRACE_OK) {
        if (e.kind == MEMTRACE_ALLOC) {
            *map64_put(&samples, e.id) = (uint32_t)e.samples;
            s.words += (double)e.samples / rate;
            s.live += (double)e.samples / rate;
        } else if (e.kind == MEMTRACE_COLLECT && map64_get(&samples, e.id) != MAP64_NONE) {
            s.live -= (double)map64_get(&samples, e.id) / rate;
        }
    }
    map64_free(&samples);
    memtrace_reader_close(reader);
    return s;
}

/* Cuts where the rate falls, and in each stretch, so that it can rise. The first may have a lower
 * rate than it needs. */
static void cut_levels(const recording *r, pieces *p, uint8_t first_level) {
    memtrace_reader *reader;
    memtrace_event event;
    cutter c = {.first_level = first_level};
    size_t since = 0;
    *p = (pieces){0};
    ck_assert_int_eq(
        memtrace_reader_open_memory(r->f.bytes.items, r->f.bytes.count, NULL, &reader, NULL),
        MEMTRACE_OK);
    segment_writer_read(&c.out, reader);
    begin_piece(p, &c, 0);
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK) {
        ck_assert_int_eq(cutter_take(&c, &event), MEMTRACE_OK);
        if (!cutter_is_due(&c) && ++since < STRETCH / 2)
            continue;
        since = 0;
        ck_assert_int_eq(cutter_end(&c, NULL), MEMTRACE_OK);
        begin_piece(p, &c, 0);
    }
    ck_assert_int_eq(cutter_end(&c, NULL), MEMTRACE_OK);
    cutter_free(&c);
    memtrace_reader_close(reader);
}

static int join_lowest(const pieces *p) {
    const int fd = memfd_create("joined", MFD_CLOEXEC);
    memtrace_reader *readers[MAX_SEGMENTS];
    double rate = 1;
    join j;
    for (size_t i = 0; i < p->n; i++) {
        readers[i] = open_reader(p->fds[i]);
        rate = fmin(rate, memtrace_reader_info(readers[i])->sample_rate);
    }
    ck_assert_double_eq(rate, BASE_RATE / 8);
    ck_assert_int_eq(join_begin(&j, memtrace_reader_info(readers[0]), rate, fd), MEMTRACE_OK);
    for (size_t i = 0; i < p->n; i++)
        ck_assert_int_eq(join_add(&j, readers[i]), MEMTRACE_OK);
    ck_assert_uint_eq(j.n_freed, 0); /* what one leaves out, all do */
    ck_assert_int_eq(join_end(&j), MEMTRACE_OK);
    for (size_t i = 0; i < p->n; i++)
        memtrace_reader_close(readers[i]);
    join_free(&j);
    return fd;
}

typedef struct moments {
    double sum, squares;
} moments;

static void add(moments *m, double x) {
    m->sum += x;
    m->squares += x * x;
}

/* The mean is the truth to within five standard errors, and the variance that of samples that are
 * independent, which is what intervals are made of: n / rate words have n / rate^2. */
static void check(const moments *m, double truth) {
    const double mean = m->sum / N_ROUNDS, variance = m->squares / N_ROUNDS - mean * mean,
                 expected = truth / (BASE_RATE / 8) * (1 - BASE_RATE / 8);
    ck_assert_double_le(fabs(mean - truth), 5 * sqrt(expected / N_ROUNDS));
    ck_assert_double_le(fabs(variance / expected - 1), 5 * sqrt(2.0 / N_ROUNDS));
}

START_TEST(weights_stay_right_when_rates_change) {
    moments words = {0}, live = {0}, alone = {0};
    const double all = (double)N_LEVELS * STRETCH * BLOCK_WORDS,
                 left = ((N_LEVELS - 1) * 0.5 + 1) * STRETCH * BLOCK_WORDS;
    for (uint64_t round = 1; round <= N_ROUNDS; round++) {
        recording *r = record_levels(round);
        pieces p;
        const uint8_t first_level = round % 4;
        cut_levels(r, &p, first_level);
        ck_assert_double_eq(rate_of(p.fds[0]), ldexp(BASE_RATE, -first_level));
        const int fd = join_lowest(&p);
        const sums joined = sum_up(fd);
        add(&words, joined.words);
        add(&live, joined.live);
        add(&alone, sum_up(p.fds[p.n - 1]).live);
        close(fd);
        close_pieces(&p);
        drop(r);
    }
    check(&words, all);
    check(&live, left);
    check(&alone, left);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("ring");
    TCase *t = tcase_create("ring");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, windows_say_what_the_recording_says, 0, 3);
    tcase_add_loop_test(t, windows_of_symbolized_segments_do_so_too, 0, 3);
    tcase_add_test(t, a_missing_segment_costs_itself_alone);
    tcase_add_test(t, what_a_segment_lacks_the_result_says);
    tcase_add_test(t, a_segment_says_what_it_is);
    tcase_add_loop_test(t, a_segment_alone_is_right_if_it_is_cut_at_one_time, 0, 20);
    tcase_add_loop_test(t, a_cut_waits_for_what_is_not_written, 0, 2);
    tcase_add_test(t, weights_stay_right_when_rates_change);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
