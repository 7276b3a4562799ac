/* test_render_markdown.c: documents as Markdown, whatever stands in names. */
#include <stdio.h>

#include "render_fixture.h"

START_TEST(markdown_has_what_text_has) {
    char *text = written(render_markdown);
    ck_assert_str_eq(text, "**4.0 KB** in all\n\n"
                           "**By thing**\n\n"
                           "| share | B | ± | word | site |\n"
                           "| --- | ---: | ---: | --- | --- |\n"
                           "| 75.0% ██████ | 3,072 | ± 100 | a,\"b | "
                           "`a/library/parse.c:12 parse` |\n"
                           "| 25.0% | 1,024 |  |  | &emsp;via `main.c:3 main` |\n"
                           "| 25.0% ██ | 1,024 |  |  | `main.c:3 main` |\n\n"
                           "That was ?2 things.\n");
    free(text);
}
END_TEST

START_TEST(markdown_marks_what_is_sure_and_where_groups_begin) {
    table record = turns_table(AMOUNTS_WHOLE);
    expect_turns(render_markdown, record,
                 "| before, KB | change | ± | ratio | name |\n"
                 "| ---: | ---: | ---: | ---: | --- |\n"
                 "| 40.00 | **-2.00** | **± 1.00** | &lt;0.001 | `f` |\n"
                 "| | | | | *In doubt:* |\n"
                 "| 0.00 | +0.50 | ± 0.59 |  | `g` (new) |\n"
                 "| 0.00 | 0.00 |  |  | `h` |\n");
    record.n = 1;
    expect_turns(render_markdown, record,
                 "|  | |\n| --- | --- |\n"
                 "| before | 40.0 KB (0 B … inf EB) |\n"
                 "| change | **-2.0 KB ± 1.0 KB, so much** |\n"
                 "| ratio | &lt;0.001 |\n"
                 "| name | f |\n");
}
END_TEST

/* {a name in a trace, what stands in a cell, and in a sentence} */
static const struct {
    const char *name, *code, *words;
} hostile[] = {
    {"a|b", "`a\\|b`", "a\\|b"},
    {"`", "`` ` ``", "\\`"},
    {"``x`", "``` ``x` ```", "\\`\\`x\\`"},
    {"<img src=x>&", "`<img src=x>&`", "&lt;img src=x&gt;&amp;"},
    {"[l](http://e.x)", "`[l](http://e.x)`", "\\[l\\](http://e.x)"},
    {"*_~$\\", "`*_~$\\`", "\\*\\_\\~\\$\\\\"},
    {"@you #1", "`@you #1`", "@\u200Byou #\u200B1"},
    {"a\n| b |", "`a?\\| b \\|`", "a?\\| b \\|"},
};

START_TEST(names_are_nothing_but_names_in_markdown) {
    static const table_column name[] = {{.name = "n", .kind = COLUMN_TEXT, .get = turn_name}};
    const turn row = {.name = hostile[_i].name};
    const table t = {.name = "t", TABLE_COLUMNS(name), .rows = &row, .n = 1};
    char expected[200];
    document d = {0};
    output o;
    document_rows(&d, &t, IN_ALL, NULL);
    document_note(&d, "%s", hostile[_i].name);
    document_hint(&d, "%s", "h");
    output_start(&o, OUTPUT_MEMORY);
    render_markdown(&o, &d);
    output_char(&o, '\0');
    snprintf(expected, sizeof expected, "| n |\n| --- |\n| %s |\n\n%s\\\n*h*\n", hostile[_i].code,
             hostile[_i].words);
    ck_assert_str_eq(o.buffer, expected);
    output_finish(&o);
    document_free(&d);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("render_markdown");
    TCase *t = tcase_create("render_markdown");
    tcase_add_test(t, markdown_has_what_text_has);
    tcase_add_test(t, markdown_marks_what_is_sure_and_where_groups_begin);
    tcase_add_loop_test(t, names_are_nothing_but_names_in_markdown, 0,
                        sizeof hostile / sizeof *hostile);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
