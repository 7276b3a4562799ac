/* Tests of what is pushed: sums by stack in memory that follows what lives, labels, and what a URL
 * means. The receivers' side is tests/push. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "push/labels.h"
#include "push/tally.h"
#include "push/target.h"
#include "unit.h"

static const memtrace_info info = {.sample_rate = 0.5,
                                   .word_size = 64,
                                   .executable_name = "p",
                                   .host_name = "h",
                                   .runtime_params = "",
                                   .context = ""};
static const uint32_t frames[] = {0, 1};

static memtrace_event alloc(uint64_t id, uint16_t domain, uint64_t samples) {
    return (memtrace_event){.kind = MEMTRACE_ALLOC,
                            .domain = domain,
                            .id = id,
                            .source = MEMTRACE_EXTERNAL,
                            .length = 9,
                            .samples = samples,
                            .frames = frames,
                            .n_frames = 2};
}

static void add(tally *t, memtrace_event e) {
    ck_assert(tally_add(t, &e));
}

static void end(tally *t, uint64_t id) {
    add(t, (memtrace_event){.kind = MEMTRACE_COLLECT, .id = id});
}

START_TEST(live_is_what_was_not_freed) {
    tally t = {0};
    ck_assert(tally_begin(&t, &info));
    for (uint64_t id = 0; id < 10; id++)
        add(&t, alloc(id, 0, 3));
    for (uint64_t id = 0; id < 4; id++)
        end(&t, id);
    ck_assert_uint_eq(t.rows.count, 1);
    ck_assert_uint_eq(t.rows.items[0].allocated, 30);
    ck_assert_uint_eq(t.rows.items[0].live, 18);
    const double each = t.rows.items[0].allocated_blocks / 10; /* 1 / (1 - 2^-10) */
    ck_assert_double_eq_tol(each, 1024.0 / 1023, 1e-9);
    ck_assert_double_eq_tol(t.rows.items[0].live_blocks, 6 * each, 1e-6);
    tally_free(&t);
}
END_TEST

/* Domains are read one after the other. */
START_TEST(an_end_may_come_before_its_beginning) {
    tally t = {0};
    ck_assert(tally_begin(&t, &info));
    end(&t, 7);
    add(&t, alloc(7, 1, 2));
    add(&t, alloc(8, 1, 2));
    end(&t, 7); /* twice changes nothing */
    ck_assert_uint_eq(t.rows.items[0].allocated, 4);
    ck_assert_uint_eq(t.rows.items[0].live, 2);
    tally_free(&t);
}
END_TEST

START_TEST(memory_follows_what_lives) {
    tally t = {0};
    ck_assert(tally_begin(&t, &info));
    for (uint64_t id = 0; id < 200000; id++) {
        add(&t, alloc(id, 0, 1));
        if (id >= 100)
            end(&t, id - 100);
        if (id % 3 == 0)
            end(&t, (UINT64_C(1) << 40) + id); /* beginnings that were lost */
    }
    ck_assert_uint_eq(t.rows.items[0].live, 100);
    ck_assert_uint_lt(t.blocks.capacity, 20000);
    ck_assert_uint_lt(t.block_of.mask, 40000);
    tally_free(&t);
}
END_TEST

/* As it was when they were born. */
START_TEST(samples_weigh_what_their_rate_says) {
    tally t = {0};
    ck_assert(tally_begin(&t, &info));
    add(&t, alloc(1, 0, 3));
    ck_assert(tally_set_level(&t, 0, 3));
    add(&t, alloc(2, 0, 1));
    add(&t, alloc(3, 1, 1)); /* another domain has not changed */
    ck_assert(tally_set_level(&t, 0, 1));
    end(&t, 2);
    const tally_row *row = &t.rows.items[0];
    ck_assert_uint_eq(t.rows.count, 1);
    ck_assert_uint_eq(row->allocated, 3 + 8 + 1);
    ck_assert_uint_eq(row->allocated_samples, 5);
    ck_assert_uint_eq(row->live, 4);
    ck_assert_uint_eq(row->live_samples, 4);
    const double full = 1024.0 / 1023, thin = 1 / (1 - pow(1 - 0.5 / 8, 10));
    ck_assert_double_eq_tol(row->allocated_blocks, 2 * full + thin, 1e-9);
    ck_assert_double_eq_tol(row->live_blocks, 2 * full, 1e-6);
    tally_free(&t);
}
END_TEST

/* ---- spans --------------------------------------------------------------------------------- */

/* Of a trace of its own. */
static void enter(tally *t, unsigned span) {
    char name[SPAN_TEXT];
    snprintf(name, sizeof name, "%032x-%016x", span, span);
    add(t, (memtrace_event){
               .kind = MEMTRACE_SPAN, .name = span ? name : "", .frames = frames, .n_frames = 2});
}

static const tally_row *row_of_span(const tally *t, unsigned span) {
    for (size_t i = 0; i < t->rows.count; i++) {
        const uint32_t of = t->rows.items[i].span;
        if (of && t->spans.items[of - 1].ids[MEMTRACE_TRACE_ID - 1] == (span & 0xFF) &&
            t->spans.items[of - 1].ids[MEMTRACE_TRACE_ID - 2] == span >> 8)
            return &t->rows.items[i];
    }
    return NULL;
}

static bool is_even(void *context, size_t row) {
    const tally *t = context;
    return t->spans.items[t->rows.items[row].span - 1].ids[MEMTRACE_TRACE_ID - 1] % 2 == 0;
}

static void drop_none(void *context, size_t row) {
    (void)context;
    (void)row;
}

START_TEST(spans_have_rows_of_their_own) {
    tally t = {.by_span = true};
    ck_assert(tally_begin(&t, &info));
    for (unsigned round = 0; round < 2; round++)
        for (unsigned span = 0; span < 3; span++) {
            enter(&t, span);
            add(&t, alloc(10 * round + span, 0, 1 + span));
        }
    add(&t, alloc(30, 1, 5)); /* another domain is in none */
    ck_assert_uint_eq(t.rows.count, 3);
    ck_assert_uint_eq(t.rows.items[0].allocated, 2 + 5);
    ck_assert_uint_eq(row_of_span(&t, 1)->allocated, 4);
    ck_assert_uint_eq(row_of_span(&t, 2)->allocated, 6);
    end(&t, 1);
    ck_assert_uint_eq(row_of_span(&t, 1)->live, 2);
    tally_free(&t);
    t = (tally){0}; /* nobody takes them */
    ck_assert(tally_begin(&t, &info));
    enter(&t, 1);
    add(&t, alloc(1, 0, 1));
    ck_assert_uint_eq(t.rows.count, 1);
    tally_free(&t);
}
END_TEST

START_TEST(rows_of_spans_are_dropped_when_all_is_said) {
    enum { N = 2000 };
    tally t = {.by_span = true};
    ck_assert(tally_begin(&t, &info));
    for (unsigned span = 1; span <= N; span++) {
        enter(&t, span);
        add(&t, alloc(span, 0, 1));
        if (span % 4 != 0)
            end(&t, span);
    }
    ck_assert_uint_eq(t.rows.count, N + 1);
    ck_assert(tally_drop_spans(&t, is_even, drop_none, &t));
    ck_assert_uint_eq(t.n_span_rows, N * 3 / 4); /* what lives, and what is not said */
    for (unsigned span = 1; span <= N; span++) {
        const tally_row *row = row_of_span(&t, span);
        ck_assert_msg((row == NULL) == (span % 4 == 2), "span %u", span);
        ck_assert(!row || row->allocated == 1);
    }
    enter(&t, 4); /* is found again */
    add(&t, alloc(N + 1, 0, 1));
    ck_assert_uint_eq(row_of_span(&t, 4)->allocated, 2);
    for (unsigned span = N + 1; span <= N + N / 4; span++) {
        enter(&t, span);
        add(&t, alloc(2 * span, 0, 1));
    }
    ck_assert_uint_eq(t.rows.count, N + 1); /* in the place of those that are gone */
    uint64_t all = 0;
    for (size_t i = 0; i < t.rows.count; i++)
        all += t.rows.items[i].live;
    ck_assert_uint_eq(all, N / 4 + 1 + N / 4);
    tally_free(&t);
}
END_TEST

START_TEST(too_many_spans_are_none) {
    enum { TOO_MANY = 10 };
    tally t = {.by_span = true};
    ck_assert(tally_begin(&t, &info));
    for (unsigned span = 1; span <= TALLY_SPAN_ROWS + TOO_MANY; span++) {
        enter(&t, span);
        add(&t, alloc(span, 0, 1));
    }
    ck_assert_uint_eq(t.n_span_rows, TALLY_SPAN_ROWS);
    ck_assert_uint_eq(t.rows.items[0].allocated, TOO_MANY);
    tally_free(&t);
}
END_TEST

START_TEST(labels_are_replaced_by_key) {
    labels l = {0};
    ck_assert(labels_set_pair(&l, "service=a"));
    ck_assert(labels_set_pair(&l, "service.name=b=c"));
    ck_assert(labels_set_pair(&l, "x="));
    ck_assert_uint_eq(l.count, 2);
    ck_assert_str_eq(labels_get(&l, "service.name"), "b=c");
    ck_assert_str_eq(labels_get(&l, "x"), "");
    ck_assert_ptr_null(labels_get(&l, "y"));
    ck_assert(!labels_set_pair(&l, "=x") && errno == EINVAL);
    labels_free(&l);
}
END_TEST

START_TEST(the_environment_is_decoded) {
    labels l = {0};
    setenv("OTEL_RESOURCE_ATTRIBUTES", " a=1%2C2,b=%zz%4,,=c,service.name=from-list", 1);
    setenv("OTEL_SERVICE_NAME", "from-name", 1);
    ck_assert(labels_gather(&l, "/bin/prog", 1, "host", false));
    ck_assert_str_eq(labels_get(&l, "a"), "1,2");
    ck_assert_str_eq(labels_get(&l, "b"), "%zz%4");
    ck_assert_str_eq(labels_get(&l, "service.name"), "from-name");
    ck_assert_str_eq(labels_get(&l, "process.executable.name"), "prog");
    labels_free(&l);
}
END_TEST

static const struct {
    const char *url, *whole; /* NULL: refused */
    target_kind kind;
} urls[] = {
    {"http://h:4318", "http://h:4318/v1development/profiles", TARGET_OTLP},
    {"http://h:4318/", "http://h:4318/v1development/profiles", TARGET_OTLP},
    {"https://h/v1development/profiles", "https://h/v1development/profiles", TARGET_OTLP},
    {"https://h/otlp", "https://h/otlp/v1development/profiles", TARGET_OTLP},
    {"http://h/ingest", "http://h/ingest", TARGET_PYROSCOPE},
    {"http://h/a/ingest/", "http://h/a/ingest", TARGET_PYROSCOPE},
    {"http://h/profiles/writeraw", "http://h/profiles/writeraw", TARGET_PARCA},
    {"ftp://h", NULL, 0},
    {"h:4318", NULL, 0},
    {"http://", NULL, 0},
    {"http://a:b@h/", NULL, 0},
    {"http://h/a@b", "http://h/a@b/v1development/profiles", TARGET_OTLP},
};

START_TEST(a_url_says_which_protocol) {
    target t;
    const char *why = target_begin(&t, urls[_i].url);
    ck_assert(!why == !!urls[_i].whole);
    if (!why) {
        ck_assert_str_eq(t.url, urls[_i].whole);
        ck_assert_int_eq(t.kind, urls[_i].kind);
    }
    target_free(&t);
}
END_TEST

START_TEST(what_fails_is_tried_less_often) {
    target t;
    ck_assert_ptr_null(target_begin(&t, "http://h"));
    uint64_t before = 0;
    for (int i = 0; i < 40; i++) {
        target_settle(&t, &(http_request){.status = 503}, 0, 15000);
        ck_assert(t.next_ms >= before && t.next_ms <= 300000);
        before = t.next_ms;
    }
    ck_assert_uint_eq(before, 300000);
    target_settle(&t, &(http_request){.status = 204}, 1000, 15000);
    ck_assert_uint_eq(t.next_ms, 16000);
    target_free(&t);
}
END_TEST

static const struct {
    http_request answer;
    uint64_t gone_ms;
    unsigned pause_ms;
} ends[] = {
    {{.status = 503, .n_sent = 1}, 0, 100},
    {{.status = 503, .n_sent = 3}, 300, 400},
    {{.status = 503, .n_sent = 40}, 7999, 2000},
    {{.status = 503, .n_sent = 40}, 8000, 0}, /* it would come too late */
    {{.status = 500, .n_sent = 1}, UINT64_MAX / 2, 0},
    {{.status = 429, .n_sent = 1, .retry_after_ms = 3000}, 0, 3000},
    {{.status = 429, .n_sent = 1, .retry_after_ms = 86400000}, 0, 0},
    {{.status = 408, .n_sent = 2}, 0, 200},
    {{.n_sent = 2}, 5000, 200}, /* a reset */
    {{.n_sent = 1, .unreached = true}, 0, 100},
    {{.n_sent = 4, .unreached = true}, 700, 0},
    {{.n_sent = 1, .certificate = true}, 0, 0},
    {{.status = 200, .n_sent = 1}, 0, 0},
    {{.status = 200, .n_sent = 1, .answer = "<html>"}, 0, 0},
    {{.status = 502, .n_sent = 1, .answer = "<html>"}, 0, 100},
    {{.status = 400, .n_sent = 1}, 0, 0},
    {{.status = 401, .n_sent = 1}, 0, 0},
    {{.status = 404, .n_sent = 1}, 0, 0},
    {{.status = 422, .n_sent = 1}, 0, 0},
};

START_TEST(after_the_end_what_may_pass_is_tried_again) {
    target t;
    ck_assert_ptr_null(target_begin(&t, "http://h"));
    ck_assert_uint_eq(target_again(&t, &ends[_i].answer, ends[_i].gone_ms), ends[_i].pause_ms);
    target_free(&t);
}
END_TEST

START_TEST(pyroscope_may_store_it_soon) {
    target t;
    ck_assert_ptr_null(target_begin(&t, "http://h/ingest"));
    http_request r = {.status = 422, .n_sent = 1, .answer = "empty ring"};
    ck_assert_uint_eq(target_again(&t, &r, 0), 100);
    memcpy(r.answer, "parsing failed", sizeof "parsing failed");
    ck_assert_uint_eq(target_again(&t, &r, 0), 0);
    target_free(&t);
}
END_TEST

START_TEST(a_proxy_whose_server_is_down_takes_profiles) {
    target t;
    ck_assert_ptr_null(target_begin(&t, "http://h"));
    http_request r = {.status = 502, .answer = "<html>"};
    target_settle(&t, &r, 0, 15000);
    ck_assert_str_eq(t.reason, "status 502: <html>");
    r.status = 200;
    target_settle(&t, &r, 0, 15000);
    ck_assert_ptr_nonnull(strstr(t.reason, "with a web page"));
    target_free(&t);
}
END_TEST

START_TEST(a_receiver_may_ask_for_a_longer_pause) {
    target t;
    ck_assert_ptr_null(target_begin(&t, "http://h"));
    target_settle(&t, &(http_request){.status = 429, .retry_after_ms = 60000}, 0, 15000);
    ck_assert_uint_eq(t.next_ms, 60000);
    target_settle(&t, &(http_request){.status = 429, .retry_after_ms = 86400000}, 0, 15000);
    ck_assert_uint_eq(t.next_ms, 300000);
    target_free(&t);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("push");
    TCase *c = tcase_create("push");
    tcase_add_test(c, live_is_what_was_not_freed);
    tcase_add_test(c, an_end_may_come_before_its_beginning);
    tcase_add_test(c, memory_follows_what_lives);
    tcase_add_test(c, samples_weigh_what_their_rate_says);
    tcase_add_test(c, spans_have_rows_of_their_own);
    tcase_add_test(c, rows_of_spans_are_dropped_when_all_is_said);
    tcase_add_test(c, too_many_spans_are_none);
    tcase_add_test(c, labels_are_replaced_by_key);
    tcase_add_test(c, the_environment_is_decoded);
    tcase_add_loop_test(c, a_url_says_which_protocol, 0, sizeof urls / sizeof *urls);
    tcase_add_test(c, what_fails_is_tried_less_often);
    tcase_add_loop_test(c, after_the_end_what_may_pass_is_tried_again, 0,
                        sizeof ends / sizeof *ends);
    tcase_add_test(c, pyroscope_may_store_it_soon);
    tcase_add_test(c, a_proxy_whose_server_is_down_takes_profiles);
    tcase_add_test(c, a_receiver_may_ask_for_a_longer_pause);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
