/* test_render_json.c: documents as JSON: every number, rows below rows, and what is not there. */
#include "render_fixture.h"

static cell get_texts(const table *t, const void *row) {
    static const char *const items[] = {"a\"b", "c\033"};
    (void)t;
    return (cell){.texts = {.items = items, .n = thing_of(row)->n_below ? 2 : 0}};
}

START_TEST(several_texts_are_an_array) {
    static const table_column texts[] = {{.name = "words", .kind = COLUMN_TEXTS, .get = get_texts}};
    const thing some[] = {{.n_below = 1}, {.n_below = 0}};
    const table rows = {
        .name = "rows", TABLE_COLUMNS(texts), .rows = some, .stride = sizeof *some, .n = 2};
    document d = {0};
    output o;
    document_rows(&d, &rows, IN_ALL, NULL);
    output_start(&o, OUTPUT_MEMORY);
    render_json(&o, &d);
    render_text(&o, &d, &(text_style){0});
    render_csv(&o, &d);
    output_char(&o, '\0');
    ck_assert_str_eq(o.buffer, "{\"rows\":[\n  {\"words\":[\"a\\\"b\",\"c\\u001b\"]},\n"
                               "  {\"words\":[]}]}\n"
                               "  words\n  a\"b, c?\n  \n"
                               "\n\n\n");
    output_finish(&o);
    document_free(&d);
}
END_TEST

START_TEST(json_has_every_number_and_rows_below_rows) {
    char *text = written(render_json);
    ck_assert_str_eq(
        text, "{\"things\":[\n"
              "  {\"share\":0.750000,\"value\":3072,\"low\":2972,\"high\":3172,\"samples\":3,"
              "\"word\":\"a,\\\"b\",\"history\":[0,1,2],"
              "\"function\":\"parse\",\"file\":\"a/library/parse.c\",\"line\":12,"
              "\"callers\":[{\"share\":0.250000,\"value\":1024,\"low\":1024,\"high\":1024,"
              "\"samples\":3,\"word\":null,\"history\":[0,1,2],\"function\":\"main\","
              "\"file\":\"main.c\",\"line\":3,\"callers\":[]}]},\n"
              "  {\"share\":0.250000,\"value\":1024,\"low\":1024,\"high\":1024,\"samples\":3,"
              "\"word\":null,\"history\":[0,1,2],\"function\":\"main\",\"file\":\"main.c\","
              "\"line\":3,\"callers\":[{\"share\":0.250000,\"value\":1024,\"low\":1024,"
              "\"high\":1024,\"samples\":3,\"word\":null,\"history\":[0,1,2],\"function\":null,"
              "\"file\":null,\"callers\":[]}]}]}\n");
    free(text);
}
END_TEST

START_TEST(what_a_row_does_not_have_is_left_out) {
    expect_judged(render_json, "{\"rows\":[\n"
                               "  {\"maybe\":\"w\",\"value\":10,\"low\":1,\"high\":19,"
                               "\"samples\":3,\"size\":\"1 B\"},\n"
                               "  {\"value\":10,\"low\":1,\"high\":19,\"samples\":3,"
                               "\"size\":\"10 KB\"}]}\n");
}
END_TEST

START_TEST(what_is_no_number_is_null) {
    expect_turns(render_json, turns_table(AMOUNTS_WHOLE),
                 "{\"turns\":[\n"
                 "  {\"before\":{\"value\":40960,\"low\":0,\"high\":null,\"samples\":2},"
                 "\"change\":{\"value\":-2048,\"low\":-3072,\"high\":-1024,\"samples\":2},"
                 "\"ratio\":1e-05,\"name\":\"f\"},\n"
                 "  {\"before\":{\"value\":0,\"low\":0,\"high\":null,\"samples\":2},"
                 "\"change\":{\"value\":512,\"low\":-88,\"high\":1112,\"samples\":2},"
                 "\"ratio\":null,\"more\":{\"ratio\":null},\"name\":\"g\"},\n"
                 "  {\"before\":{\"value\":0,\"low\":0,\"high\":null,\"samples\":2},"
                 "\"change\":{\"value\":0,\"low\":0,\"high\":0,\"samples\":2},"
                 "\"ratio\":null,\"name\":\"h\"}]}\n");
}
END_TEST

START_TEST(rows_of_one_nameless_text_are_strings_in_json) {
    expect_recorded(0, "{\"records\":[\n"
                       "  {\"share\":0.500000,\"do\":[\"run it with the option --long-enough\","
                       "\"look\"]},\n"
                       "  {\"share\":0.250000,\"do\":[\"run it with the option --long-enough\","
                       "\"look\"]}]}\n");
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("render_json");
    TCase *t = tcase_create("render_json");
    tcase_add_test(t, json_has_every_number_and_rows_below_rows);
    tcase_add_test(t, several_texts_are_an_array);
    tcase_add_test(t, what_a_row_does_not_have_is_left_out);
    tcase_add_test(t, what_is_no_number_is_null);
    tcase_add_test(t, rows_of_one_nameless_text_are_strings_in_json);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
