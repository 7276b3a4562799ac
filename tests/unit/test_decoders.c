/* Two decoders made independently, the C reader and tests/decode.py, must agree on every event of
 * the real traces, and so must each trace and its rewritten copy. The large ones (deep-stacks.ctf
 * is 27 GB as text) are compared by the frames that change from one backtrace to the next.
 *
 * Large traces are not part of the repository: without them their tests are skipped. */
#include "trace/rewrite.h"
#include "trace_text.h"

typedef struct comparison {
    memtrace_reader *reader;
    char *line; /* of the reader */
    size_t size;
    uint64_t n_events;
} comparison;

/* The reader's next event as a line; false at the end. */
static bool next_line(comparison *c) {
    memtrace_event event;
    free(c->line);
    c->line = NULL;
    const memtrace_status status = memtrace_reader_next(c->reader, &event);
    if (status != MEMTRACE_OK) {
        ck_assert_int_eq(status, MEMTRACE_END);
        return false;
    }
    FILE *out = open_memstream(&c->line, &c->size);
    print_event(out, c->reader, &event);
    fclose(out);
    c->n_events++;
    return true;
}

static void assert_decoders_agree(const char *path) {
    comparison c = {.reader = open_path(path)};
    pid_t pid;
    FILE *other = fdopen(start_decoder(path, "--changed", &pid), "r");
    char *line = NULL;
    size_t capacity = 0;
    while (next_line(&c)) {
        const ssize_t n = getline(&line, &capacity, other);
        ck_assert_msg(n > 0, "decode.py ends at event %" PRIu64, c.n_events);
        assert_same_text(line, c.line);
    }
    const ssize_t rest = getline(&line, &capacity, other);
    ck_assert_msg(rest < 0, "decode.py goes on: %.200s", line);
    fclose(other);
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_gt(c.n_events, 1000);
    free(line);
    memtrace_reader_close(c.reader);
}

static void assert_same_frames(memtrace_reader *a, const memtrace_event *x, memtrace_reader *b,
                               const memtrace_event *y) {
    ck_assert_uint_eq(x->n_frames, y->n_frames);
    ck_assert_uint_eq(x->common_prefix, y->common_prefix);
    for (uint32_t i = x->common_prefix; i < x->n_frames; i++) {
        const memtrace_frame *f = memtrace_reader_frame(a, x->frames[i]);
        const memtrace_frame *g = memtrace_reader_frame(b, y->frames[i]);
        ck_assert_uint_eq(f->code, g->code);
        ck_assert_uint_eq(f->n_locations, g->n_locations);
        for (uint32_t j = 0; j < f->n_locations; j++) {
            const memtrace_location *l = &f->locations[j], *m = &g->locations[j];
            ck_assert_str_eq(l->file, m->file);
            ck_assert_str_eq(l->function, m->function);
            ck_assert(l->line == m->line && l->start_char == m->start_char &&
                      l->end_char == m->end_char);
        }
    }
}

static void assert_same_event(memtrace_reader *a, const memtrace_event *x, memtrace_reader *b,
                              const memtrace_event *y) {
    ck_assert_uint_eq(x->kind, y->kind);
    ck_assert_uint_eq(x->time, y->time);
    ck_assert_uint_eq(x->id, y->id);
    ck_assert_uint_eq(x->domain, y->domain);
    if (x->kind != MEMTRACE_ALLOC)
        return;
    ck_assert_uint_eq(x->source, y->source);
    ck_assert_uint_eq(x->length, y->length);
    ck_assert_uint_eq(x->samples, y->samples);
    assert_same_frames(a, x, b, y);
}

static void assert_survives(const char *path, uint16_t version) {
    char copy[] = "/tmp/allotrace-test-XXXXXX";
    const int fd = mkstemp(copy);
    ck_assert_int_ge(fd, 0);
    memtrace_reader *a = open_path(path);
    const rewrite_options options = {.version = version};
    ck_assert_int_eq(rewrite_trace(a, &options, fd, NULL), MEMTRACE_OK);
    memtrace_reader_close(a);
    close(fd);

    a = open_path(path);
    memtrace_reader *b = open_path(copy);
    memtrace_event x, y;
    while (memtrace_reader_next(a, &x) == MEMTRACE_OK) {
        ck_assert_int_eq(memtrace_reader_next(b, &y), MEMTRACE_OK);
        assert_same_event(a, &x, b, &y);
    }
    ck_assert_int_eq(memtrace_reader_next(a, &x), MEMTRACE_END);
    ck_assert_int_eq(memtrace_reader_next(b, &y), MEMTRACE_END);
    memtrace_reader_close(a);
    memtrace_reader_close(b);
    unlink(copy);
}

static const char *const names[] = {"irmin-replay", "ocamlopt", "tree-builder", "deep-stacks"};

/* Where a trace is, in the repository or beside it; NULL if it is missing. */
static const char *find_trace(int i) {
    static char path[4096];
    static const char *const folders[] = {"traces", "../../shared/traces"};
    for (size_t j = 0; j < 2; j++) {
        snprintf(path, sizeof path, "%s/%s/%s.ctf", test_data(), folders[j], names[i]);
        if (access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

START_TEST(decoders_agree) { assert_decoders_agree(find_trace(_i)); }
END_TEST

START_TEST(traces_survive_rewriting) {
    assert_survives(find_trace(_i), 2);
    assert_survives(find_trace(_i), 3);
}
END_TEST

/* Check cannot skip, so the missing traces are reported here. */
static void report_missing(void) {
    for (int i = 0; i < 4; i++)
        if (!find_trace(i))
            printf("# SKIP %s.ctf is not here\n", names[i]);
}

static Suite *decoders_suite(void) {
    Suite *s = suite_create("decoders");
    TCase *t = tcase_create("decoders");
    tcase_set_timeout(t, 280);
    report_missing();
    for (int i = 0; i < 4; i++)
        if (find_trace(i)) {
            tcase_add_loop_test(t, decoders_agree, i, i + 1);
            tcase_add_loop_test(t, traces_survive_rewriting, i, i + 1);
        }
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(decoders_suite)
