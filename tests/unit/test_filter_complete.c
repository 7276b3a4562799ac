/* test_filter_complete.c: filters while they are typed. */
#include <stdio.h>

#include "query/filter_complete.h"
#include "tape.h"
#include "unit.h"

START_TEST(terms_are_found_in_any_text) {
    filter_spans s;
    const char *text = "  fn:\"a b\",/c d/  -heap:minor alloc:1s.. nonsense:x promoted";
    ck_assert(filter_find_terms(text, &s));
    ck_assert_uint_eq(s.count, 5);
    ck_assert_uint_eq(s.items[0].start, 2);
    ck_assert_uint_eq(s.items[0].end, 16);
    ck_assert(s.items[1].negated);
    ck_assert_uint_eq(s.items[1].name - s.items[1].start, 1);
    ck_assert_uint_eq(s.items[1].name_size, 4);
    ck_assert_uint_eq(s.items[4].end, strlen(text));
    vec_free(&s);
    ck_assert(filter_find_terms("fn:\"open", &s));
    ck_assert_uint_eq(s.items[0].end, 8);
    vec_free(&s);
}
END_TEST

/* The cursor is at the `|`. The items, separated by blanks. */
static void expect_completion(const profile *p, const char *text, size_t start, size_t end,
                              const char *items) {
    char plain[100], got[400] = "";
    size_t cursor = strcspn(text, "|");
    filter_completion c;
    snprintf(plain, sizeof plain, "%.*s%s", (int)cursor, text, text + cursor + 1);
    ck_assert(filter_complete(plain, cursor, p, 100, &c));
    for (size_t i = 0; i < c.choices.count; i++) {
        size_t used = strlen(got);
        snprintf(got + used, sizeof got - used, "%s%s", i ? " " : "", c.choices.items[i].text);
    }
    ck_assert_str_eq(got, items);
    ck_assert_uint_eq(c.start, start);
    ck_assert_uint_eq(c.end, end);
    filter_completion_free(&c);
}

START_TEST(what_could_stand_at_the_cursor) {
    tape t;
    profile p;
    tape_start(&t, 0.5);
    allocate(&t, 0, MEMTRACE_MINOR, 9, 1, STACK(MAIN, PARSE, LEAF));
    allocate(&t, 0, MEMTRACE_EXTERNAL, 9, 1, STACK(MAIN, PARSE, XMALLOC));
    allocate(&t, 0, MEMTRACE_MINOR, 9, 1, STACK(MAIN, EVAL));
    allocate(&t, 0, MEMTRACE_MINOR, 9, 1, STACK(MAIN, LIB_MAP));
    tape_read_blocks(&t, &p, false);
    expect_completion(&p, "he|", 0, 2, "heap:");
    expect_completion(&p, "pro|", 0, 3, "promoted");
    expect_completion(&p, "fn:main -li|fe:x", 9, 14, "live: life:");
    expect_completion(&p, "|", 0, 0,
                      "alloc: live: size: life: heap: fn: file: module: type: thread: scope: "
                      "trace: span: domain: "
                      "promoted survived hide: "
                      "hide-file: hide-module: below: above: path: recursion: repeats:");
    expect_completion(&p, "heap:minor,m|", 11, 12, "minor major");
    expect_completion(&p, "heap:m|,major", 5, 6, "minor major");
    expect_completion(&p, "alloc:1s..@p|", 10, 12, "@peak");
    expect_completion(&p, "fn:a|", 3, 4, "main parse leaf xmalloc eval List.map");
    expect_completion(&p, "fn:ma| promoted", 3, 5, "main xmalloc List.map");
    expect_completion(&p, "fn:/ma|", 3, 6, "");
    expect_completion(&p, "file:ev|", 5, 7, "eval.c");
    expect_completion(&p, "hide:@|", 5, 6, "@library");
    expect_completion(&p, "nonsense:x|", 9, 10, "");
    expect_completion(&p, "size:1|", 5, 6, "");
    profile_free(&p);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("filter_complete");
    TCase *t = tcase_create("filter_complete");
    tcase_add_test(t, terms_are_found_in_any_text);
    tcase_add_test(t, what_could_stand_at_the_cursor);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
