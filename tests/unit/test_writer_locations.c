/* Tests of the locations that a writer announces, and of how their names are shortened. The output
 * is judged by the independent decoder tests/decode.py. */
#include "trace/short_name.h"
#include "trace/writer_locations.h"
#include "writer_fixture.h"

static void fill(uint64_t *frames, size_t n, uint64_t first) {
    for (size_t i = 0; i < n; i++)
        frames[i] = first + i;
}

/* More names than the tables hold: 40 files, in each 40 functions. */
static size_t locate_among_many(void *context, uint64_t code, memtrace_location *l, size_t max) {
    static char files[40][16], functions[40][16];
    (void)context;
    for (unsigned i = 0; i < 40 && !files[39][0]; i++) {
        snprintf(files[i], sizeof files[i], "file%u.c", i);
        snprintf(functions[i], sizeof functions[i], "function%u", i);
    }
    const size_t n = 1 + code % 3;
    ck_assert_uint_le(n, max);
    for (size_t i = 0; i < n; i++) {
        const uint64_t r = (code + i) * UINT64_C(0x9E3779B97F4A7C15) >> 32;
        l[i] = (memtrace_location){.file = files[r % (1 + r / 64 % 40)],
                                   .function = functions[r / 4096 % (1 + r / 262144 % 40)],
                                   .line = (uint32_t)code % 1000};
    }
    return n;
}

START_TEST(codes_zero_and_all_ones) {
    fixture f = {.hooks.locate = locate_among_many};
    source_of_events s;
    begin(&f, &s, 3);
    const uint64_t a[] = {0, UINT64_MAX, 0, 0, 5}, b[] = {0, 0, 0}, c[] = {UINT64_MAX - 1};
    for (int i = 0; i < 3; i++) {
        alloc_at(&s, 1, a, 5);
        alloc_at(&s, 1, b, 3);
        alloc_at(&s, 1, c, 1);
    }
    finish(&f, &s);
}
END_TEST

START_TEST(names_move_to_the_front_and_fall_off_the_end) {
    fixture f = {.hooks.locate = locate_among_many};
    source_of_events s;
    begin(&f, &s, 3);
    random_walk(&s, 5, 6000, 20000);
    finish(&f, &s);
}
END_TEST

START_TEST(each_code_is_located_once_a_stream) {
    fixture f = {.hooks.locate = fixture_locate};
    ck_assert_int_eq(fixture_open(&f, 3), MEMTRACE_OK);
    uint64_t frames[500], id;
    for (uint16_t domain = 0; domain < 2; domain++) {
        memtrace_stream *s;
        ck_assert_int_eq(memtrace_stream_open(f.writer, domain, &s), MEMTRACE_OK);
        f.n_located = 0;
        for (int i = 0; i < 3000; i++) { /* more than the cache holds, so that codes miss again */
            fill(frames, 500, (uint64_t)(i % 100) * 500);
            ck_assert_int_eq(memtrace_stream_alloc(s, 0, MEMTRACE_MINOR, 1, 1, frames, 500, 0, &id),
                             MEMTRACE_OK);
        }
        ck_assert_int_eq(f.n_located, 50000);
        ck_assert_int_eq(memtrace_stream_close(s), MEMTRACE_OK);
    }
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    fixture_free(&f);
}
END_TEST

static size_t locate_out_of_range(void *context, uint64_t code, memtrace_location *l, size_t max) {
    (void)context;
    (void)code;
    ck_assert_uint_eq(max, MEMTRACE_MAX_LOCATIONS);
    l[0] = (memtrace_location){.file = MEMTRACE_TYPE_FILE, .function = "malloc"};
    l[1] =
        (memtrace_location){.file = "a.c", .line = UINT32_MAX, .start_char = 254, .end_char = 1024};
    l[2] = (memtrace_location){.file = "a.c",
                               .function = "g",
                               .line = MEMTRACE_MAX_LINE,
                               .start_char = UINT16_MAX,
                               .end_char = UINT16_MAX};
    return 3;
}

START_TEST(fields_are_clamped_and_missing_names_empty) {
    fixture f = {.hooks.locate = locate_out_of_range};
    ck_assert_int_eq(fixture_open(&f, 3), MEMTRACE_OK);
    memtrace_stream *s;
    uint64_t id;
    ck_assert_int_eq(memtrace_stream_open(f.writer, 0, &s), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_alloc(s, 0, MEMTRACE_MINOR, 1, 1, &(uint64_t){77}, 1, 0, &id),
                     MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_close(s), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    char *got = decode_bytes(f.bytes.items, f.bytes.count, "--changed");
    assert_same_text(got, "0000000000 0000000000 alloc 1 len=1 dom=0 depth=1    0: "
                          "malloc@<type>:0:0-0 @a.c:1048575:254-1023 g@a.c:1048575:255-1022\n");
    free(got);
    fixture_free(&f);
}
END_TEST

static char very_long[MEMTRACE_MAX_LOCATIONS][10000];

static size_t locate_at_length(void *context, uint64_t code, memtrace_location *l, size_t max) {
    (void)context;
    (void)code;
    for (size_t i = 0; i < max; i++) {
        memset(very_long[i], 'a' + (int)(i % 26), sizeof very_long[i] - 1);
        l[i] = (memtrace_location){.file = i ? very_long[i] : MEMTRACE_TYPE_FILE,
                                   .function = i ? "f" : "a type",
                                   .line = (uint32_t)i};
    }
    return max;
}

/* The short form of a name, of at most `limit` bytes. */
static const char *shortened(const char *whole, size_t limit) {
    static char text[200];
    const size_t size = strlen(whole);
    char *end = short_name_put(text, whole, size, limit);
    *end = '\0';
    ck_assert_uint_eq((size_t)(end - text), short_name_size(whole, size, limit));
    ck_assert_uint_le((size_t)(end - text), limit);
    return text;
}

/* With the digits of the hash as #. */
static const char *without_hash(const char *whole, size_t limit) {
    char *text = (char *)shortened(whole, limit), *mark = strstr(text, "…");
    ck_assert_ptr_nonnull(mark);
    mark += strlen("…");
    ck_assert_uint_eq(strspn(mark, "0123456789abcdef"), 16);
    memset(mark, '#', 16);
    return text;
}

#define WORD "an_argument_of_some_length"

START_TEST(names_are_shortened_within_their_brackets) {
    static const char *const cases[][2] = {
        {"void f<" WORD ", 1>(" WORD ", int) const", "void f<…################…>(…) const"},
        {"a::operator<< <" WORD WORD WORD ">(int)", "a::operator<< <…################…>(int)"},
        {"a<" WORD WORD ">::operator()(int) const", "a<…################…>::operator()(int) const"},
        {"f<(" WORD WORD ")->x, (a<b)>(int)", "f<(…################…)->x, (a<b)>(int)"},
        {"(anonymous namespace)::f<" WORD WORD ">()",
         "(anonymous namespace)::f<…################…>()"},
        {WORD "<" WORD WORD, "an_argument_of_some…################…ment_of_some_length"},
        {"éééééééééééééééééééééééééééééééééééé", "ééééééééé…################…ééééééééé"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(without_hash(cases[i][0], SHORT_NAME_LEAST), cases[i][1]);
    ck_assert_str_eq(shortened("f<" WORD ">()", SHORT_NAME_LEAST), "f<" WORD ">()");
}
END_TEST

START_TEST(names_that_differ_stay_different) {
    char one[200], other[200];
    snprintf(one, sizeof one, "%s",
             shortened("f<" WORD WORD WORD ", 1, " WORD ">()", SHORT_NAME_LEAST));
    snprintf(other, sizeof other, "%s",
             shortened("f<" WORD WORD WORD ", 2, " WORD ">()", SHORT_NAME_LEAST));
    ck_assert_str_ne(one, other);
    ck_assert_str_eq(one, shortened("f<" WORD WORD WORD ", 1, " WORD ">()", SHORT_NAME_LEAST));
}
END_TEST

START_TEST(long_names_are_shortened_and_cost_no_location) {
    fixture f = {.hooks.locate = locate_at_length};
    ck_assert_int_eq(fixture_open(&f, 3), MEMTRACE_OK);
    memtrace_stream *s;
    uint64_t id;
    ck_assert_int_eq(memtrace_stream_open(f.writer, 0, &s), MEMTRACE_OK);
    for (uint64_t i = 0; i < 3; i++)
        ck_assert_int_eq(memtrace_stream_alloc(s, 0, MEMTRACE_MINOR, 1, 1, &i, 1, 0, &id),
                         MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_close(s), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    assert_packets_are_small(&f);
    char *got = decode_bytes(f.bytes.items, f.bytes.count, "--changed");
    ck_assert_ptr_nonnull(strstr(got, ": a type@<type>:0:0-0 f@")); /* the type, at the front */
    const char *last = strrchr(got, '@'); /* and the innermost: with its ends */
    ck_assert_uint_eq(strspn(last + 1, "u"), 20);
    ck_assert_str_eq(last + 1 + 20 + strlen("…0123456789abcdef…"),
                     "uuuuuuuuuuuuuuuuuuuuu:254:0-0\n");
    ck_assert_ptr_nonnull(strstr(got, ":1:0-0 f@")); /* the outermost is there, too */
    free(got);
    fixture_free(&f);
}
END_TEST

static Suite *locations_suite(void) {
    Suite *s = suite_create("writer_locations");
    TCase *t = tcase_create("writer_locations");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, names_move_to_the_front_and_fall_off_the_end);
    tcase_add_test(t, each_code_is_located_once_a_stream);
    tcase_add_test(t, fields_are_clamped_and_missing_names_empty);
    tcase_add_test(t, long_names_are_shortened_and_cost_no_location);
    tcase_add_test(t, names_are_shortened_within_their_brackets);
    tcase_add_test(t, names_that_differ_stay_different);
    tcase_add_test(t, codes_zero_and_all_ones);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(locations_suite)
