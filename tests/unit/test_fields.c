/* test_fields.c: what is said of the data of a document: each field of JSON and each column of CSV
 * that it has, those below rows included, and no other. */
#include "render/fields.h"
#include "render_fixture.h"

static void describe(output *o, const document *d) {
    document fields = {0};
    fields_document(&fields, d);
    ck_assert(!fields.failed);
    render_json(o, &fields);
    document_free(&fields);
}

START_TEST(fields_are_those_of_json_and_csv) {
    char *text = written(describe);
    ck_assert_str_eq(text,
                     "{\"json\":[\n"
                     "  {\"name\":\"things[].share\",\"meaning\":\"of all\"},\n"
                     "  {\"name\":\"things[].value, low, high, samples\",\"meaning\":null},\n"
                     "  {\"name\":\"things[].word\",\"meaning\":null},\n"
                     "  {\"name\":\"things[].history[]\",\"meaning\":null},\n"
                     "  {\"name\":\"things[].function, file, line\",\"meaning\":null},\n"
                     "  {\"name\":\"things[].callers[]\",\"meaning\":null}],\n"
                     " \"csv\":[\n"
                     "  {\"name\":\"share\",\"meaning\":\"of all\"},\n"
                     "  {\"name\":\"value,low,high,samples\",\"meaning\":null},\n"
                     "  {\"name\":\"self,self_low,self_high,self_samples\",\"meaning\":null},\n"
                     "  {\"name\":\"word\",\"meaning\":null},\n"
                     "  {\"name\":\"function,file,line\",\"meaning\":null}]}\n");
    free(text);
}
END_TEST

/* ---- rows below rows --------------------------------------------------------------------- */

static const table_column inner_columns[] = {
    {.name = "rate", .kind = COLUMN_RATE, .get = get_amount, .help = "a second"},
};

/* The first thing has none. */
static bool inner_below(const table *t, const void *row, table *below) {
    (void)t;
    below->columns = inner_columns;
    below->n_columns = 1;
    below->rows = row;
    below->stride = sizeof(thing);
    below->n = 1;
    return row != things;
}

static const char *no_point(const table *t, size_t i) {
    (void)t;
    (void)i;
    return NULL;
}

START_TEST(what_is_below_some_row_is_found) {
    static const table_column list[] = {
        {.name = "inner", .kind = COLUMN_OBJECT, .below = inner_below},
        {.name = "seen", .kind = COLUMN_LINE, .in = IN_CSV, .get = get_line, .point = no_point},
        {.name = "paged", .kind = COLUMN_TEXT, .in = IN_PAGE | IN_TEXT, .get = get_word},
    };
    const table t = {
        .name = "", TABLE_COLUMNS(list), .rows = things, .stride = sizeof *things, .n = 2};
    const table hidden = {
        .name = "hidden", TABLE_COLUMNS(list), .rows = things, .stride = sizeof *things, .n = 2};
    document d = {0};
    output o;
    document_object(&d, &t, IN_DATA);
    document_rows(&d, &hidden, IN_TEXT, NULL);
    output_start(&o, OUTPUT_MEMORY);
    describe(&o, &d);
    output_char(&o, '\0');
    ck_assert_str_eq(o.buffer, "{\"json\":[\n"
                               "  {\"name\":\"inner\",\"meaning\":null},\n"
                               "  {\"name\":\"inner.rate.value, low, high, samples\","
                               "\"meaning\":\"a second\"}]}\n");
    output_finish(&o);
    document_free(&d);
}
END_TEST

START_TEST(a_document_that_is_not_whole_has_no_fields) {
    document d = {.failed = true}, fields = {0};
    fields_document(&fields, &d);
    ck_assert(fields.failed);
    document_free(&fields);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("fields");
    TCase *t = tcase_create("fields");
    tcase_add_test(t, fields_are_those_of_json_and_csv);
    tcase_add_test(t, what_is_below_some_row_is_found);
    tcase_add_test(t, a_document_that_is_not_whole_has_no_fields);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
