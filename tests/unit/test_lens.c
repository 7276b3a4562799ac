/* Tests of how queries see call stacks: where a block was allocated if wrappers of the allocator
 * are passed over. */
#include "hotspots_fixture.h"
#include "tape.h"
#include "unit.h"

static void check_site(const hotspots *h, size_t i, const char *function, const char *type,
                       uint64_t samples) {
    ck_assert_uint_lt(i, h->sites.count);
    const hotspots_entry *e = &h->sites.items[i].entry;
    if (function)
        ck_assert_str_eq(e->place->function, function);
    if (type)
        ck_assert_str_eq(e->type, type);
    ck_assert_uint_eq(e->cost.samples, samples);
}

START_TEST(external_blocks_belong_to_the_caller_of_the_wrapper) {
    tape t;
    profile p;
    hotspots h;
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_EXTERNAL, 9, 8, STACK(MAIN, LEAF, XMALLOC));
    allocate(&t, 2, MEMTRACE_EXTERNAL, 9, 4, STACK(MAIN, PARSE, XMALLOC, MALLOC_WITHIN));
    allocate(&t, 3, MEMTRACE_MINOR, 9, 2, STACK(MAIN, XMALLOC)); /* of a heap: as it is */
    allocate(&t, 4, MEMTRACE_EXTERNAL, 9, 1, STACK(XMALLOC, MALLOC_WITHIN)); /* nothing else */
    tape_read(&t, &p, false);
    ck_assert(hotspots_of_all(&p, HOTSPOTS_BY_LINE, &h));
    ck_assert_uint_eq(h.sites.count, 3);
    check_site(&h, 0, "leaf", NULL, 8);
    check_site(&h, 1, "parse", NULL, 4);
    check_site(&h, 2, "xmalloc", NULL, 3);
    ck_assert_str_eq(h.callers.items[h.sites.items[0].first_caller].place->function, "main");
    ck_assert_uint_eq(h.wrappers.count, 1);
    ck_assert_str_eq(h.wrappers.items[0].place->function, "xmalloc");
    ck_assert_uint_eq(h.wrappers.items[0].cost.samples, 12);
    hotspots_free(&h);
    profile_free(&p);
}
END_TEST

START_TEST(an_unnamed_function_outside_a_wrapper_is_a_site) {
    tape t;
    profile p;
    hotspots h;
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_EXTERNAL, 9, 2, STACK(MAIN, MALLOC_WITHIN, XMALLOC));
    allocate(&t, 2, MEMTRACE_EXTERNAL, 9, 1, STACK(XMALLOC, LEAF, MALLOC_WITHIN));
    tape_read(&t, &p, false);
    ck_assert(hotspots_of_all(&p, HOTSPOTS_BY_LINE, &h));
    ck_assert_uint_eq(h.sites.count, 1);
    check_site(&h, 0, "x.so+0x10", NULL, 3);
    hotspots_free(&h);
    profile_free(&p);
}
END_TEST

START_TEST(the_wrapper_is_the_type_unless_a_runtime_said_better) {
    tape t;
    profile p;
    hotspots h;
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_EXTERNAL, 9, 2, STACK(MAIN, LEAF, XMALLOC));
    allocate(&t, 2, MEMTRACE_EXTERNAL, 9, 1, STACK(MAIN, LEAF, GUEST_ARRAY));
    tape_read(&t, &p, false);
    ck_assert(hotspots_of_all(&p, HOTSPOTS_BY_TYPE, &h));
    ck_assert_uint_eq(h.sites.count, 2);
    check_site(&h, 0, NULL, "xmalloc", 2);
    check_site(&h, 1, NULL, "LoxArray", 1);
    hotspots_free(&h);
    profile_free(&p);
}
END_TEST

START_TEST(a_lens_that_shows_wrappers_sees_them_as_sites) {
    tape t;
    profile p;
    hotspots h;
    query_result q;
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_EXTERNAL, 9, 2, STACK(MAIN, LEAF, XMALLOC));
    tape_read(&t, &p, false);
    ck_assert(query_run(&q, &p, &(query_spec){.show_wrappers = true}));
    ck_assert(hotspots_query(&q, HOTSPOTS_BY_LINE, &h));
    check_site(&h, 0, "xmalloc", NULL, 2);
    ck_assert_uint_eq(h.wrappers.count, 0);
    hotspots_free(&h);
    query_free(&q);
    profile_free(&p);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("lens");
    TCase *t = tcase_create("lens");
    tcase_add_test(t, external_blocks_belong_to_the_caller_of_the_wrapper);
    tcase_add_test(t, an_unnamed_function_outside_a_wrapper_is_a_site);
    tcase_add_test(t, the_wrapper_is_the_type_unless_a_runtime_said_better);
    tcase_add_test(t, a_lens_that_shows_wrappers_sees_them_as_sites);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
