/* test_render_text.c: documents as text: columns that line up, units, colours, narrow terminals,
 * records. */
#include <string.h>

#include "render_fixture.h"

static unsigned width;
static bool colored;

static void as_text(output *o, const document *d) {
    const text_style style = {.columns = width, .color = colored};
    render_text(o, d, &style);
}

START_TEST(text_lines_numbers_up_and_names_come_last) {
    width = 0;
    colored = false;
    char *text = written(as_text);
    ck_assert_str_eq(text, "4.0 KB in all\n"
                           "\nBy thing:\n"
                           "  share              B      ±  word  site\n"
                           "   75.0% ██████  3,072  ± 100  a,\"b  a/library/parse.c:12 parse\n"
                           "   25.0%         1,024                 via main.c:3 main\n"
                           "   25.0% ██      1,024               main.c:3 main\n"
                           "That was ?2 things.\n");
    free(text);
}
END_TEST

typedef struct part_row {
    estimate share;
    uint64_t of;
} part_row;

static cell get_part(const table *t, const void *row) {
    const part_row *x = row;
    (void)t;
    return (cell){.part = {.share = x->share, .samples = 1, .of_samples = x->of}};
}

START_TEST(parts_have_their_interval_and_bars_stand_below_each_other) {
    static const table_column parts[] = {
        {.name = "a", .kind = COLUMN_PART, .bar = true, .get = get_part},
        {.name = "b", .kind = COLUMN_PART, .get = get_part},
    };
    static const part_row rows[] = {{{0.5, 0.5, 0.5}, 2}, {{0.1, 0.05, 0.2}, 9}, {{0, 0, 1}, 0}};
    const table t = {
        .name = "parts", TABLE_COLUMNS(parts), .rows = rows, .stride = sizeof *rows, .n = 3};
    const text_style style = {0};
    document d = {0};
    output o;
    document_rows(&d, &t, IN_ALL, NULL);
    output_start(&o, OUTPUT_MEMORY);
    render_text(&o, &d, &style);
    output_char(&o, '\0');
    ck_assert_str_eq(o.buffer, "  a                                  b\n"
                               "   50.0%                 ██████████   50%\n"
                               "   10.0% (5.0 … 20.0)    ██           10% (5 … 20)\n"
                               "                                     \n");
    output_finish(&o);
    document_free(&d);
}
END_TEST

START_TEST(a_narrow_terminal_shortens_names_and_nothing_else) {
    width = 60;
    char *text = written(as_text);
    ck_assert_ptr_nonnull(strstr(text, "  …/parse.c:12 parse\n"));
    ck_assert_ptr_nonnull(strstr(text, "  3,072  ± 100  "));
    free(text);
}
END_TEST

START_TEST(what_is_painted_is_put_back) {
    width = 0;
    colored = true;
    char *text = written(as_text);
    size_t painted = 0, plain = 0;
    for (const char *c = text; (c = strstr(c, "\033[")); c++) {
        painted += strncmp(c, "\033[0m", 4) != 0;
        plain += strncmp(c, "\033[0m", 4) == 0;
    }
    ck_assert_uint_gt(painted, 0);
    ck_assert_uint_ge(plain, 1);
    ck_assert_ptr_null(strstr(strrchr(text, '\033'), "[1m"));
    free(text);
}
END_TEST

static void as_painted(output *o, const document *d) {
    render_text(o, d, &(text_style){.color = true});
}

/* Only what text shows makes a line faint. */
START_TEST(text_paints_what_a_cell_means_and_aligns_amounts_in_words) {
    expect_judged(as_painted, "\033[2m   size  place\n"
                              "\033[0m    \033[32m1 B\033[0m  parse (a/library/parse.c)\n"
                              "  \033[31m10 KB\033[0m  main (main.c)\n");
}
END_TEST

static void plainly(output *o, const document *d) {
    render_text(o, d, &(text_style){0});
}

START_TEST(changes_have_signs_one_unit_and_a_line_above_those_in_doubt) {
    expect_turns(plainly, turns_table(AMOUNTS_WHOLE),
                 "  before, KB  change       ±   ratio  name\n"
                 "       40.00   -2.00  ± 1.00  <0.001  f\n"
                 "In doubt:\n"
                 "        0.00   +0.50  ± 0.59          g (new)\n"
                 "        0.00    0.00                  h\n");
    expect_turns(as_painted, turns_table(AMOUNTS_WHOLE),
                 "\033[2m  before, KB  change       ±   ratio  name\n\033[0m"
                 "       40.00   \033[32m-2.00\033[0m  \033[32m± 1.00\033[0m  <0.001  f\n"
                 "In doubt:\n"
                 "\033[2m        0.00   +0.50  ± 0.59          g (new)\033[0m\n"
                 "\033[2m        0.00    0.00                  h\033[0m\n");
}
END_TEST

/* The last is narrower than the columns before the name. */
START_TEST(text_keeps_room_for_a_remark) {
    static const struct {
        unsigned columns;
        const char *name;
    } widths[] = {{0, "  a_name_of_more_than_thirty_letters (new)\n"},
                  {60, "  a_name_of_more_than_thirt… (new)\n"},
                  {30, "  a_name_of… (new)\n"}};
    const turn long_ = {.name = "a_name_of_more_than_thirty_letters", .remark = "(new)"};
    table t = turns_table(AMOUNTS_WHOLE);
    t.rows = &long_;
    t.n = 1;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        document d = {0};
        output o;
        document_rows(&d, &t, IN_ALL, NULL);
        output_start(&o, OUTPUT_MEMORY);
        render_text(&o, &d, &(text_style){.columns = widths[i].columns});
        output_char(&o, '\0');
        ck_assert_ptr_nonnull(strstr(o.buffer, widths[i].name));
        output_finish(&o);
        document_free(&d);
    }
}
END_TEST

/* In text, and in CSV. */
START_TEST(amounts_that_are_no_whole_ones_have_digits) {
    static const turn rows[] = {
        {.before = 0.125, .change = -0.0625, .error = 0.01, .name = "f", .sure = true},
        {.before = 0.5, .change = 0.25, .error = 0.5, .name = "g", .sure = true}};
    table t = turns_table(AMOUNTS_SHARES);
    t.rows = rows;
    t.n = 2;
    expect_turns(plainly, t,
                 "  before, %  change        ±  ratio  name\n"
                 "      12.50   -6.25   ± 1.00  0.000  f\n"
                 "      50.00  +25.00  ± 50.00  0.000  g\n");
    t.form = AMOUNTS_A_SECOND;
    expect_turns(plainly, t,
                 "  before, B/s  change       ±  ratio  name\n"
                 "         0.12   -0.06  ± 0.01  0.000  f\n"
                 "         0.50   +0.25  ± 0.50  0.000  g\n");
    t.form = AMOUNTS_DIVIDED;
    expect_turns(render_csv, t,
                 "before,before_low,before_high,before_samples,"
                 "change,change_low,change_high,ratio,name\n"
                 "0.125,0,,2,-0.0625,-0.0725,-0.0525,0,f\n"
                 "0.5,0,,2,0.25,-0.25,0.75,0,g\n");
    static const turn many[] = {
        {.before = 8218.25, .change = -75.25, .error = 0.5, .name = "f", .sure = true},
        {.before = 8.5, .change = 1, .error = 0.5, .name = "g", .sure = true}};
    t.rows = many;
    t.unit = UNIT_BLOCKS;
    expect_turns(plainly, t,
                 "  before, blocks  change    ±  ratio  name\n"
                 "           8,218     -75  ± 0  0.000  f\n"
                 "               8      +1  ± 0  0.000  g\n");
}
END_TEST

/* A record has its words behind a change, and its colour. */
START_TEST(an_object_has_a_change_in_words) {
    static const table_column change = {
        .name = "change", .kind = COLUMN_AMOUNT, .has_sign = true, .get = turn_change};
    table t = turns_table(AMOUNTS_WHOLE);
    t.columns = &change;
    t.n_columns = t.n = 1;
    expect_turns(as_painted, t, "  change  \033[32m-2.0 KB ± 1.0 KB, so much\033[0m\n");
    t.form = AMOUNTS_A_SECOND;
    expect_turns(plainly, t, "  change  -2.0 KB/s ± 1.0 KB/s, so much\n");
}
END_TEST

/* A number keeps its unit, what is to be copied is whole, and what there is not has no line. */
START_TEST(a_record_has_a_head_and_fields_in_paragraphs) {
    expect_recorded(29, "\n 50.0% …/parse.c:12 parse four words and 10 KB\n"
                        "       size  2.0 KB\n"
                        "       word  four words and\n"
                        "             10 KB\n"
                        "       do    run it with the option --long-enough\n"
                        "             look\n"
                        "\n 25.0% \n"
                        "          25.0%   (no call stack), …\n"
                        "       size  1.0 KB\n"
                        "       do    run it with the option --long-enough\n"
                        "             look\n"
                        "\nThat is all.\n");
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("render_text");
    TCase *t = tcase_create("render_text");
    tcase_add_test(t, text_lines_numbers_up_and_names_come_last);
    tcase_add_test(t, parts_have_their_interval_and_bars_stand_below_each_other);
    tcase_add_test(t, a_narrow_terminal_shortens_names_and_nothing_else);
    tcase_add_test(t, what_is_painted_is_put_back);
    tcase_add_test(t, text_paints_what_a_cell_means_and_aligns_amounts_in_words);
    tcase_add_test(t, changes_have_signs_one_unit_and_a_line_above_those_in_doubt);
    tcase_add_test(t, text_keeps_room_for_a_remark);
    tcase_add_test(t, amounts_that_are_no_whole_ones_have_digits);
    tcase_add_test(t, an_object_has_a_change_in_words);
    tcase_add_test(t, a_record_has_a_head_and_fields_in_paragraphs);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
