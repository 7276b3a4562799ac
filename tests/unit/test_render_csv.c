/* test_render_csv.c: documents as CSV: a row a line, and a column for each part of an amount. */
#include <math.h>

#include "render_fixture.h"

START_TEST(csv_has_a_row_a_line_and_estimates_with_their_ends) {
    char *text = written(render_csv);
    ck_assert_str_eq(text, "share,value,low,high,samples,self,self_low,self_high,self_samples,word,"
                           "function,file,line\n"
                           "0.750000,3072,2972,3172,3,3072,2972,3172,3,\"a,\"\"b\",parse,"
                           "a/library/parse.c,12\n"
                           "0.250000,1024,1024,1024,3,1024,1024,1024,3,,main,main.c,3\n");
    free(text);
}
END_TEST

static cell get_known_points(const table *t, const void *row) {
    static const double points[] = {1000000, NAN};
    (void)t;
    (void)row;
    return (cell){.line = {.items = points, .n = 2}};
}

static const char *name_of_point(const table *t, size_t i) {
    static const char *const found[] = {"a,b", "c", NULL};
    (void)t;
    return found[i];
}

START_TEST(csv_has_a_column_for_each_named_point_and_none_for_what_is_not_known) {
    static const table_column lines[] = {
        {.name = "history", .kind = COLUMN_LINE, .get = get_line},
        {.name = "word", .kind = COLUMN_TEXT, .get = get_word},
        {.name = "seen", .kind = COLUMN_LINE, .get = get_known_points, .point = name_of_point},
    };
    const table t = {
        .name = "rows", TABLE_COLUMNS(lines), .rows = things, .stride = sizeof *things, .n = 1};
    document d = {0};
    output o;
    document_rows(&d, &t, IN_ALL, NULL);
    output_start(&o, OUTPUT_MEMORY);
    render_csv(&o, &d);
    render_json(&o, &d);
    output_char(&o, '\0');
    ck_assert_str_eq(o.buffer, "word,\"a,b\",c\n\"a,\"\"b\",1000000,\n"
                               "{\"rows\":[\n  {\"history\":[0,1,2],\"word\":\"a,\\\"b\","
                               "\"seen\":[1000000,null]}]}\n");
    output_finish(&o);
    document_free(&d);
}
END_TEST

START_TEST(what_a_row_does_not_have_is_empty) {
    expect_judged(render_csv, "maybe,size\nw,1 B\n,10 KB\n");
}
END_TEST

START_TEST(what_is_no_number_is_empty) {
    expect_turns(render_csv, turns_table(AMOUNTS_WHOLE),
                 "before,before_low,before_high,before_samples,"
                 "change,change_low,change_high,ratio,name\n"
                 "40960,0,,2,-2048,-3072,-1024,1e-05,f\n"
                 "0,0,,2,512,-88,1112,,g\n"
                 "0,0,,2,0,0,0,,h\n");
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("render_csv");
    TCase *t = tcase_create("render_csv");
    tcase_add_test(t, csv_has_a_row_a_line_and_estimates_with_their_ends);
    tcase_add_test(t, csv_has_a_column_for_each_named_point_and_none_for_what_is_not_known);
    tcase_add_test(t, what_a_row_does_not_have_is_empty);
    tcase_add_test(t, what_is_no_number_is_empty);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
