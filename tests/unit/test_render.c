/* test_render.c: one table, with a row below a row and cells of all kinds, through all renderers;
 * and names where there is little room. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/page.h"
#include "render/render.h"
#include "render/shorten.h"
#include "unit.h"

/* ---- a report ---------------------------------------------------------------------------- */

typedef struct thing {
    const profile_location *place;
    double value, error;
    const char *word;
    const struct thing *below;
    size_t n_below;
} thing;

static const thing *thing_of(const void *row) {
    return row;
}

static cell get_share(const table *t, const void *row) {
    (void)t;
    return (cell){.number = thing_of(row)->value / 4096};
}

static cell get_amount(const table *t, const void *row) {
    const thing *x = row;
    (void)t;
    return (cell){.amount = {.samples = 3,
                             .value = x->value,
                             .low = x->value - x->error,
                             .high = x->value + x->error,
                             .margin = x->error}};
}

static cell get_word(const table *t, const void *row) {
    (void)t;
    return thing_of(row)->word ? (cell){.text = thing_of(row)->word} : cell_none();
}

static cell get_line(const table *t, const void *row) {
    static const double points[] = {0, 1, 2};
    (void)t;
    (void)row;
    return (cell){.line = {.items = points, .n = 3}};
}

static cell get_place(const table *t, const void *row) {
    (void)t;
    return (cell){.place = thing_of(row)->place};
}

static bool get_below(const table *t, const void *row, table *below) {
    const thing *x = row;
    below->columns = t->columns;
    below->n_columns = t->n_columns;
    below->rows = x->below;
    below->stride = sizeof *x;
    below->n = x->n_below;
    return x->n_below > 0;
}

static bool never(const table *t) {
    (void)t;
    return false;
}

static const table_column columns[] = {
    {.name = "share", .kind = COLUMN_SHARE, .get = get_share},
    {.name = "", .kind = COLUMN_AMOUNT, .get = get_amount},
    {.name = "self", .kind = COLUMN_AMOUNT, .in = IN_CSV | IN_PAGE, .get = get_amount},
    {.name = "word", .kind = COLUMN_TEXT, .get = get_word},
    {.name = "absent", .kind = COLUMN_TEXT, .get = get_word, .has = never},
    {.name = "history", .kind = COLUMN_LINE, .in = IN_JSON | IN_PAGE, .get = get_line},
    {.name = "place", .title = "site", .kind = COLUMN_PLACE, .get = get_place},
    {.name = "callers",
     .title = "via ",
     .kind = COLUMN_ROWS,
     .in = IN_TEXT | IN_JSON,
     .below = get_below},
};

static const profile_location parse = {
    .file = "a/library/parse.c", .function = "parse", .line = 12};
static const profile_location main_ = {.file = "main.c", .function = "main", .line = 3};
static const thing caller = {.place = &main_, .value = 1024, .error = 0};
static const thing nobody = {.value = 1024, .error = 0};
static const thing things[] = {
    {.place = &parse, .value = 3072, .error = 100, .word = "a,\"b", .below = &caller, .n_below = 1},
    {.place = &main_, .value = 1024, .error = 0, .below = &nobody, .n_below = 1},
};

static document made(void) {
    document d = {0};
    const table rows = {.name = "things",
                        TABLE_COLUMNS(columns),
                        .rows = things,
                        .stride = sizeof *things,
                        .n = 2,
                        .by_line = true};
    document_title(&d, "4.0 KB", " in all");
    document_rows(&d, &rows, IN_ALL, "By thing");
    document_note(&d, "That was \033%d things.", 2);
    ck_assert(!d.failed);
    return d;
}

/* What `render` writes of it, to be freed. */
static char *written(void (*render)(output *, const document *)) {
    document d = made();
    output o;
    output_start(&o, OUTPUT_MEMORY);
    render(&o, &d);
    output_char(&o, '\0');
    ck_assert_int_eq(o.error, 0);
    document_free(&d);
    return o.buffer;
}

/* ---- renderers --------------------------------------------------------------------------- */

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

/* ---- names ------------------------------------------------------------------------------- */

static char *shortened(const char *name, size_t room) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    shorten_text(&o, name, room);
    output_char(&o, '\0');
    return o.buffer;
}

/* {name, room, what is left of it} */
static const struct {
    const char *name;
    size_t room;
    const char *expected;
} names[] = {
    {"parse", 5, "parse"},
    {"parse", 4, "par…"},
    {"ns::f(int, char const*)", 12, "ns::f(…)"},
    {"ns::vec<std::pair<int, char> >::push_back(int)", 28, "ns::vec<…>::push_back(…)"},
    {"ns::vec<std::pair<int, char> >::push_back(int)", 16, "…push_back(…)"},
    {"Stdlib__Map.Make.bal", 10, "…Make.bal"},
    {"Stdlib__Map.Make.bal", 6, "…bal"},
    {"(anonymous namespace)::f(int)", 27, "(anonymous namespace)::f(…)"},
    {"std::ostream& operator<<(std::ostream&, T<int> const&)", 40, "std::ostream& operator<<(…)"},
    {"a::operator()(int, int)", 18, "a::operator()(…)"},
    {"häßlich", 4, "häß…"},
};

START_TEST(the_name_itself_stays_longest) {
    char *text = shortened(names[_i].name, names[_i].room);
    ck_assert_str_eq(text, names[_i].expected);
    free(text);
}
END_TEST

START_TEST(a_path_gives_way_before_the_name) {
    const profile_location p = {
        .file = "/usr/include/c++/12/bits/new_allocator.h", .function = "allocate", .line = 137};
    output o;
    output_start(&o, OUTPUT_MEMORY);
    shorten_place(&o, &p, true, 40);
    output_char(&o, '\n');
    shorten_place(&o, &p, false, 40);
    output_char(&o, '\0');
    ck_assert_str_eq(o.buffer, "…/12/bits/new_allocator.h:137 allocate\n"
                               "allocate (…/c++/12/bits/new_allocator.h)");
    output_finish(&o);
}
END_TEST

/* ---- fields that a row may lack, and what a cell means -----------------------------------------
 */

static cell get_maybe(const table *t, const void *row) {
    (void)t;
    return thing_of(row)->word ? (cell){.text = thing_of(row)->word} : cell_absent();
}

static cell get_verdict(const table *t, const void *row) {
    const bool good = thing_of(row)->word;
    (void)t;
    return (cell){.text = good ? "1 B" : "10 KB", .tone = good ? TONE_GOOD : TONE_BAD};
}

static document judged(void) {
    static const table_column verdicts[] = {
        {.name = "maybe", .kind = COLUMN_TEXT, .in = IN_DATA, .get = get_maybe},
        {.name = "", .kind = COLUMN_AMOUNT, .in = IN_JSON, .get = get_amount},
        {.name = "size", .kind = COLUMN_TEXT, .to_right = true, .get = get_verdict},
        {.name = "place", .kind = COLUMN_PLACE, .in = IN_TEXT, .get = get_place},
    };
    static const thing unsure[] = {
        {.place = &parse, .value = 10, .error = 9, .word = "w"},
        {.place = &main_, .value = 10, .error = 9},
    };
    document d = {0};
    const table rows = {
        .name = "rows", TABLE_COLUMNS(verdicts), .rows = unsure, .stride = sizeof *unsure, .n = 2};
    document_rows(&d, &rows, IN_ALL, NULL);
    return d;
}

static void expect_judged(void (*write)(output *, const document *), const char *expected) {
    document d = judged();
    output o;
    output_start(&o, OUTPUT_MEMORY);
    write(&o, &d);
    output_char(&o, '\0');
    ck_assert_str_eq(o.buffer, expected);
    output_finish(&o);
    document_free(&d);
}

START_TEST(json_leaves_out_what_a_row_does_not_have) {
    expect_judged(render_json, "{\"rows\":[\n"
                               "  {\"maybe\":\"w\",\"value\":10,\"low\":1,\"high\":19,"
                               "\"samples\":3,\"size\":\"1 B\"},\n"
                               "  {\"value\":10,\"low\":1,\"high\":19,\"samples\":3,"
                               "\"size\":\"10 KB\"}]}\n");
    expect_judged(render_csv, "maybe,size\nw,1 B\n,10 KB\n");
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

/* ---- changes ------------------------------------------------------------------------------- */

typedef struct turn {
    double before, change, error, ratio;
    const char *name, *remark;
    bool sure;
} turn;

static cell turn_before(const table *t, const void *row) {
    const turn *x = row;
    (void)t;
    return (cell){
        .tone = x->sure ? TONE_NONE : TONE_DOUBT,
        .amount = {.samples = 2, .value = x->before, .low = 0, .high = INFINITY, .margin = 1}};
}

static cell turn_change(const table *t, const void *row) {
    const turn *x = row;
    (void)t;
    return (cell){.remark = "so much",
                  .tone = !x->sure        ? TONE_DOUBT
                          : x->change > 0 ? TONE_BAD
                                          : TONE_GOOD,
                  .amount = {.samples = 2,
                             .value = x->change,
                             .low = x->change - x->error,
                             .high = x->change + x->error,
                             .margin = x->error}};
}

static cell turn_ratio(const table *t, const void *row) {
    const turn *x = row;
    (void)t;
    return (cell){.number = x->ratio};
}

static cell turn_name(const table *t, const void *row) {
    const turn *x = row;
    (void)t;
    return (cell){.text = x->name, .remark = x->remark};
}

static cell turn_has_more(const table *t, const void *row) {
    const turn *x = row;
    (void)t;
    return x->remark ? cell_none() : cell_absent();
}

static bool turn_more(const table *t, const void *row, table *below) {
    static const table_column more[] = {
        {.name = "ratio", .kind = COLUMN_NUMBER, .get = turn_ratio}};
    (void)t;
    *below = (table){TABLE_COLUMNS(more), .rows = row, .n = 1};
    return true;
}

static const char *turn_group(const table *t, const void *row) {
    const turn *x = row;
    (void)t;
    return x->sure ? NULL : "In doubt";
}

static const table_column turn_columns[] = {
    {.name = "before", .kind = COLUMN_AMOUNT, .no_error = true, .get = turn_before},
    {.name = "change",
     .kind = COLUMN_AMOUNT,
     .has_sign = true,
     .unsampled = true,
     .get = turn_change},
    {.name = "ratio", .kind = COLUMN_NUMBER, .get = turn_ratio},
    {.name = "more",
     .kind = COLUMN_OBJECT,
     .in = IN_JSON,
     .get = turn_has_more,
     .below = turn_more},
    {.name = "name", .kind = COLUMN_TEXT, .get = turn_name},
};

static const turn turns[] = {
    {.before = 40960, .change = -2048, .error = 1024, .ratio = 1e-5, .name = "f", .sure = true},
    {.before = 0, .change = 512.5, .error = 600, .ratio = INFINITY, .name = "g", .remark = "(new)"},
    {.before = 0, .change = 0, .error = 0, .ratio = NAN, .name = "h"},
};

static table turns_table(amount_form form) {
    return (table){.name = "turns",
                   TABLE_COLUMNS(turn_columns),
                   .rows = turns,
                   .stride = sizeof *turns,
                   .n = 3,
                   .form = form,
                   .one_unit = true,
                   .group = turn_group};
}

static void expect_turns(void (*write)(output *, const document *), table t, const char *expected) {
    document d = {0};
    output o;
    if (t.n == 1)
        document_object(&d, &t, IN_ALL);
    else
        document_rows(&d, &t, IN_ALL, NULL);
    output_start(&o, OUTPUT_MEMORY);
    write(&o, &d);
    output_char(&o, '\0');
    ck_assert_str_eq(o.buffer, expected);
    output_finish(&o);
    document_free(&d);
}

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
                  {30, "  a_name_of_more_th… (new)\n"}};
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

START_TEST(what_is_no_number_is_null_or_empty) {
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
    expect_turns(render_csv, turns_table(AMOUNTS_WHOLE),
                 "before,before_low,before_high,before_samples,"
                 "change,change_low,change_high,ratio,name\n"
                 "40960,0,,2,-2048,-3072,-1024,1e-05,f\n"
                 "0,0,,2,512,-88,1112,,g\n"
                 "0,0,,2,0,0,0,,h\n");
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

/* ---- lines with named points ------------------------------------------------------------- */

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

/* ---- records ----------------------------------------------------------------------------- */

static const char *const done[] = {"run it with the option --long-enough", "look"};

static cell get_command(const table *t, const void *row) {
    const char *const *command = row;
    (void)t;
    return (cell){.text = *command};
}

static bool get_commands(const table *t, const void *row, table *below) {
    static const table_column commands[] = {
        {.name = "", .kind = COLUMN_TEXT, .whole = true, .get = get_command}};
    (void)t;
    (void)row;
    below->columns = commands;
    below->n_columns = 1;
    below->rows = done;
    below->stride = sizeof *done;
    below->n = 2;
    return true;
}

static bool get_parts(const table *t, const void *row, table *below) {
    static const table_column parts[] = {
        {.name = "share", .kind = COLUMN_SHARE, .get = get_share},
        {.name = "place", .kind = COLUMN_PLACE, .get = get_place},
    };
    (void)t;
    below->columns = parts;
    below->n_columns = 2;
    below->rows = row;
    below->stride = sizeof(thing);
    below->n = thing_of(row)->place ? 0 : 1;
    below->omitted = 3;
    below->no_name = "(no backtrace)";
    return below->n > 0;
}

static cell get_known(const table *t, const void *row) {
    return thing_of(row)->place ? get_place(t, row) : cell_none();
}

static document recorded(void) {
    static const table_column fields[] = {
        {.name = "share", .kind = COLUMN_SHARE, .get = get_share},
        {.name = "place", .kind = COLUMN_PLACE, .in = IN_TEXT, .get = get_known},
        {.name = "name", .kind = COLUMN_TEXT, .in = IN_TEXT, .get = get_word},
        {.name = "parts",
         .title = "",
         .kind = COLUMN_ROWS,
         .in = IN_TEXT,
         .field = true,
         .below = get_parts},
        {.name = "size", .kind = COLUMN_AMOUNT, .in = IN_TEXT, .field = true, .get = get_amount},
        {.name = "word", .kind = COLUMN_TEXT, .in = IN_TEXT, .field = true, .get = get_word},
        {.name = "do", .kind = COLUMN_ROWS, .field = true, .below = get_commands},
    };
    static const thing rows[] = {
        {.place = &parse, .value = 2048, .word = "four words and 10 KB"},
        {.value = 1024},
    };
    document d = {0};
    const table t = {.name = "records",
                     TABLE_COLUMNS(fields),
                     .rows = rows,
                     .stride = sizeof *rows,
                     .n = 2,
                     .by_line = true,
                     .is_records = true};
    document_rows(&d, &t, IN_ALL, NULL);
    document_note(&d, "That is all.");
    return d;
}

static void expect_recorded(unsigned room, const char *expected) {
    document d = recorded();
    output o;
    output_start(&o, OUTPUT_MEMORY);
    if (room)
        render_text(&o, &d, &(text_style){.columns = room});
    else
        render_json(&o, &d);
    output_char(&o, '\0');
    ck_assert_str_eq(o.buffer, expected);
    output_finish(&o);
    document_free(&d);
}

/* A number keeps its unit, what is to be copied is whole, and what there is not has no line. */
START_TEST(a_record_has_a_head_and_fields_in_paragraphs) {
    expect_recorded(29, "\n 50.0% …/parse.c:12 parse four words and 10 KB\n"
                        "       size  2.0 KB\n"
                        "       word  four words and\n"
                        "             10 KB\n"
                        "       do    run it with the option --long-enough\n"
                        "             look\n"
                        "\n 25.0% \n"
                        "          25.0%   (no backtrace), …\n"
                        "       size  1.0 KB\n"
                        "       do    run it with the option --long-enough\n"
                        "             look\n"
                        "\nThat is all.\n");
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

/* ---- Markdown ------------------------------------------------------------------------------ */

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
    Suite *s = suite_create("render");
    TCase *t = tcase_create("render");
    tcase_add_test(t, json_has_every_number_and_rows_below_rows);
    tcase_add_test(t, several_texts_are_an_array);
    tcase_add_test(t, csv_has_a_row_a_line_and_estimates_with_their_ends);
    tcase_add_test(t, text_lines_numbers_up_and_names_come_last);
    tcase_add_test(t, parts_have_their_interval_and_bars_stand_below_each_other);
    tcase_add_test(t, a_narrow_terminal_shortens_names_and_nothing_else);
    tcase_add_test(t, what_is_painted_is_put_back);
    tcase_add_test(t, json_leaves_out_what_a_row_does_not_have);
    tcase_add_test(t, text_paints_what_a_cell_means_and_aligns_amounts_in_words);
    tcase_add_test(t, changes_have_signs_one_unit_and_a_line_above_those_in_doubt);
    tcase_add_test(t, text_keeps_room_for_a_remark);
    tcase_add_test(t, what_is_no_number_is_null_or_empty);
    tcase_add_test(t, the_page_gets_null_of_what_is_no_number);
    tcase_add_test(t, amounts_that_are_no_whole_ones_have_digits);
    tcase_add_test(t, an_object_has_a_change_in_words);
    tcase_add_test(t, csv_has_a_column_for_each_named_point_and_none_for_what_is_not_known);
    tcase_add_test(t, a_record_has_a_head_and_fields_in_paragraphs);
    tcase_add_test(t, rows_of_one_nameless_text_are_strings_in_json);
    tcase_add_test(t, markdown_has_what_text_has);
    tcase_add_test(t, markdown_marks_what_is_sure_and_where_groups_begin);
    tcase_add_loop_test(t, names_are_nothing_but_names_in_markdown, 0,
                        sizeof hostile / sizeof *hostile);
    tcase_add_test(t, the_page_gets_columns_and_names_once);
    tcase_add_test(t, rows_compare_by_any_column);
    tcase_add_loop_test(t, the_name_itself_stays_longest, 0, sizeof names / sizeof *names);
    tcase_add_test(t, a_path_gives_way_before_the_name);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
