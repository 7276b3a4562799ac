/* test_reader_decoders NAME: two decoders made independently, the C reader and tests/decode.py,
 * must agree on every event of a real trace, and so must the trace and its rewritten copies.
 * Backtraces are compared by the frames that change from one to the next, because as text
 * deep-stacks.ctf is 27 GB.
 *
 * The large traces are not part of the repository: where one is missing, the test is skipped. Check
 * notes each assertion it passes; hence the plain comparisons in the loops here. */
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
    if (status == MEMTRACE_END)
        return false;
    if (status != MEMTRACE_OK)
        ck_abort_msg("the reader fails: %s", memtrace_reader_error(c->reader)->reason);
    FILE *out = open_memstream(&c->line, &c->size);
    print_event(out, c->reader, &event);
    fclose(out);
    c->n_events++;
    return true;
}

static void assert_decoders_agree(const char *path) {
    comparison c = {.n_events = 0};
    const memtrace_reader_options how = {.as_written = true};
    ck_assert_int_eq(memtrace_reader_open(path, &how, &c.reader, NULL), MEMTRACE_OK);
    pid_t pid;
    FILE *other = fdopen(start_decoder(path, "--changed", &pid), "r");
    char *line = NULL;
    size_t capacity = 0;
    while (next_line(&c)) {
        if (getline(&line, &capacity, other) <= 0)
            ck_abort_msg("decode.py ends at event %" PRIu64, c.n_events);
        if (strcmp(line, c.line) != 0)
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

static bool same_location(const memtrace_location *l, const memtrace_location *m) {
    return strcmp(l->file, m->file) == 0 && strcmp(l->function, m->function) == 0 &&
           l->line == m->line && l->start_char == m->start_char && l->end_char == m->end_char;
}

static bool same_frame(const memtrace_frame *f, const memtrace_frame *g) {
    bool same = f->code == g->code && f->n_locations == g->n_locations && !f->type == !g->type &&
                (!f->type || strcmp(f->type, g->type) == 0);
    for (uint32_t i = 0; same && i < f->n_locations; i++)
        same = same_location(&f->locations[i], &g->locations[i]);
    return same;
}

/* An event of one of the readers, and its counterpart. */
typedef struct pair {
    memtrace_reader *readers[2];
    memtrace_event events[2];
} pair;

static bool same_frames(const pair *p) {
    const memtrace_event *x = &p->events[0], *y = &p->events[1];
    bool same = x->n_frames == y->n_frames && x->common_prefix == y->common_prefix;
    for (uint32_t i = x->common_prefix; same && i < x->n_frames; i++)
        same = same_frame(memtrace_reader_frame(p->readers[0], x->frames[i]),
                          memtrace_reader_frame(p->readers[1], y->frames[i]));
    return same;
}

static bool same_event(const pair *p) {
    const memtrace_event *x = &p->events[0], *y = &p->events[1];
    if (x->kind != y->kind || x->time != y->time || x->id != y->id || x->domain != y->domain)
        return false;
    if (x->kind >= MEMTRACE_MARK)
        return x->length == y->length && strcmp(x->name, y->name) == 0;
    return x->kind != MEMTRACE_ALLOC || (x->source == y->source && x->length == y->length &&
                                         x->samples == y->samples && same_frames(p));
}

static void assert_same_events(pair *p) {
    for (uint64_t n = 0;; n++) {
        const memtrace_status a = memtrace_reader_next(p->readers[0], &p->events[0]);
        const memtrace_status b = memtrace_reader_next(p->readers[1], &p->events[1]);
        if (a == MEMTRACE_END && b == MEMTRACE_END)
            return;
        if (a != MEMTRACE_OK || b != MEMTRACE_OK || !same_event(p))
            ck_abort_msg("event %" PRIu64 " differs", n);
    }
}

static void assert_survives(const char *path, uint16_t version) {
    char copy[64];
    const int fd = memfd_create("copy", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    snprintf(copy, sizeof copy, "/proc/self/fd/%d", fd);
    memtrace_reader *a = open_path(path);
    const rewrite_options options = {.version = version};
    ck_assert_int_eq(rewrite_trace(a, &options, fd, COMPRESSION_NONE, NULL), MEMTRACE_OK);
    memtrace_reader_close(a);

    pair p = {.readers = {open_path(path), open_path(copy)}};
    assert_same_events(&p);
    memtrace_reader_close(p.readers[0]);
    memtrace_reader_close(p.readers[1]);
    close(fd);
}

static const char *name;

/* Where a trace is, in the repository or beside it; NULL if it is missing. */
static const char *find_trace(void) {
    static char path[4096];
    static const char *const folders[] = {"traces", "../../shared/traces"};
    for (size_t j = 0; j < 2; j++) {
        snprintf(path, sizeof path, "%s/%s/%s.ctf", test_data(), folders[j], name);
        if (access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

START_TEST(decoders_agree) {
    assert_decoders_agree(find_trace());
}
END_TEST

START_TEST(traces_survive_rewriting) {
    assert_survives(find_trace(), 2);
    assert_survives(find_trace(), 3);
}
END_TEST

static Suite *decoders_suite(void) {
    Suite *s = suite_create("decoders");
    TCase *t = tcase_create("decoders");
    tcase_set_timeout(t, 280);
    tcase_add_test(t, decoders_agree);
    tcase_add_test(t, traces_survive_rewriting);
    suite_add_tcase(s, t);
    return s;
}

int main(int argc, char **argv) {
    name = argc > 1 ? argv[1] : "ocamlopt";
    if (find_trace())
        return unit_run(decoders_suite());
    printf("ok 1 - %s # SKIP %s.ctf is not here\n1..1\n", name, name);
    return EXIT_SUCCESS;
}
