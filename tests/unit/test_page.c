/* test_page.c: tables as the columns that the page gets. */
#include "render/page.h"
#include "render_fixture.h"

START_TEST(the_page_gets_columns_and_names_once) {
    document d = made();
    place_list places = {0};
    static const uint32_t order[] = {1, 0};
    const page_rows rows = {.table = &d.parts.items[1].table, .rows = order, .n = 2};
    profile p = {0};
    output o;
    output_start(&o, OUTPUT_MEMORY);
    ck_assert(page_names(&places, &rows));
    ck_assert_uint_eq(places.places.count, 2);
    page_columns(&o, &places, &rows, "rows");
    output_char(&o, '\0');
    ck_assert_str_eq(o.buffer, "\"rows\":{\"share\":[0.25,0.75],\n\"value\":[1024,3072],\n"
                               "\"low\":[1024,2972],\n\"high\":[1024,3172],\n\"samples\":[3,3],\n"
                               "\"self\":[1024,3072],\n\"self_low\":[1024,2972],\n"
                               "\"self_high\":[1024,3172],\n\"self_samples\":[3,3],\n"
                               "\"word\":[0,1],\n\"history\":[[0,1,2],[0,1,2]],\n"
                               "\"place\":[0,1]}");
    output_finish(&o);
    place_list_free(&places);
    profile_free(&p);
    document_free(&d);
}
END_TEST

START_TEST(the_page_gets_null_of_what_is_no_number) {
    static const uint32_t order[] = {1};
    const table t = turns_table(AMOUNTS_DIVIDED);
    const page_rows rows = {.table = &t, .rows = order, .n = 1};
    place_list places = {0};
    output o;
    output_start(&o, OUTPUT_MEMORY);
    ck_assert(page_names(&places, &rows));
    page_columns(&o, &places, &rows, "rows");
    output_char(&o, '\0');
    ck_assert_str_eq(o.buffer, "\"rows\":{\"before\":[0],\n\"before_low\":[0],\n"
                               "\"before_high\":[null],\n\"before_samples\":[2],\n"
                               "\"change\":[512.5],\n\"change_low\":[-87.5],\n"
                               "\"change_high\":[1112.5],\n\"ratio\":[null],\n\"name\":[1]}");
    output_finish(&o);
    place_list_free(&places);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("page");
    TCase *t = tcase_create("page");
    tcase_add_test(t, the_page_gets_null_of_what_is_no_number);
    tcase_add_test(t, the_page_gets_columns_and_names_once);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
