/* test_table.c: columns of a table are found and compared by name. */
#include "render_fixture.h"

START_TEST(rows_compare_by_any_column) {
    document d = made();
    const table *t = &d.parts.items[1].table;
    ck_assert_ptr_null(table_find(t, "absent"));
    ck_assert_ptr_null(table_find(t, "unheard"));
    ck_assert_int_gt(table_compare(t, table_find(t, ""), &things[0], &things[1]), 0);
    ck_assert_int_gt(table_compare(t, table_find(t, "place"), &things[0], &things[1]), 0);
    ck_assert_int_gt(table_compare(t, table_find(t, "word"), &things[0], &things[1]), 0);
    ck_assert_int_eq(table_compare(t, table_find(t, "share"), &things[0], &things[0]), 0);
    document_free(&d);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("table");
    TCase *t = tcase_create("table");
    tcase_add_test(t, rows_compare_by_any_column);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
