/* Tests of the reader of settings: what it takes apart, and where it says that something is wrong.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/toml.h"
#include "unit.h"

/* Writes down all that it is told. */
typedef struct notes {
    char text[4096];
    size_t used;
} notes;

__attribute__((format(printf, 2, 3))) static void note(notes *n, const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    n->used += (size_t)vsnprintf(n->text + n->used, sizeof n->text - n->used, format, rest);
    va_end(rest);
}

static bool take_table(void *context, const char *name, bool is_list, unsigned line,
                       toml_error *error) {
    note(context, is_list ? "%u [[%s]] " : "%u [%s] ", line, name);
    return strcmp(name, "wrong") != 0 || toml_refuse(error, "no such table");
}

static bool take_key(void *context, const char *key, int *number, toml_error *error) {
    note(context, "%s=", key);
    *number = key[0];
    return key[0] != '?' || toml_refuse(error, "no such key");
}

static bool take_value(void *context, int key, const toml_value *v, toml_error *error) {
    bool is_true = false;
    if (v->kind == TOML_LIST)
        for (size_t i = 0; i < v->n_items; i++)
            note(context, "'%s',", v->items[i]);
    if (v->kind == TOML_BOOL && toml_take_bool(v, &is_true, error))
        note(context, "%s", is_true ? "yes" : "no");
    if (v->kind == TOML_NUMBER && toml_is_number(v, error))
        note(context, "%g", v->number);
    if (v->kind == TOML_STRING && toml_is_string(v, error))
        note(context, "'%s'", v->text);
    note(context, " ");
    if (key == 's')
        return toml_is_string(v, error);
    if (key == 'n')
        return toml_is_number(v, error);
    return key == 'b' ? toml_take_bool(v, &is_true, error)
                      : v->kind != TOML_NOTHING || toml_refuse(error, "no value");
}

static bool take_end(void *context, toml_error *error) {
    const notes *n = context;
    return !strstr(n->text, "unfinished") || toml_refuse(error, "something is missing");
}

/* What is told, and, if it is refused, where and why. */
static void check(const char *text, const char *expected) {
    static intern_table strings;
    notes n = {.used = 0};
    toml_error error;
    const toml_taker taker = {.table = take_table,
                              .key = take_key,
                              .value = take_value,
                              .end = take_end,
                              .context = &n,
                              .strings = &strings};
    if (!toml_parse(text, &taker, &error))
        note(&n, "%u:%u %s", error.line, error.column, error.reason);
    ck_assert_str_eq(n.text, expected);
}

START_TEST(values_are_strings_numbers_booleans_and_lists) {
    check("", "");
    check("# nothing\n\n  \r\n", "");
    check("a = 1.5e3 # so it is\nb= true\nc =false\nd='x # y'", "a=1500 b=yes c=no d='x # y' ");
    check("[one]\na = \"\\\"\\\\\\t\\n\"\n  [[two]]\r\na=''",
          "1 [one] a='\"\\\t\n' 3 [[two]] a='' ");
    check("a = []\nc = [ 'x' , \"y\",]", "a= c='x','y', ");
    check("a = ['x',\t'y']", "a='x','y', ");
}
END_TEST

START_TEST(what_is_wrong_is_pointed_at) {
    check("a", "a=1:2 expected `=`");
    check("a = x", "a= 1:5 no value");
    check("s = 1", "s=1 1:5 expected a string");
    check("n = 'x'", "n='x' 1:5 expected a number");
    check("b = 1", "b=1 1:5 expected true or false");
    check("a = 1 2", "a=1 1:7 expected the end of the line");
    check("a = truely", "a=yes 1:9 expected the end of the line");
    check("a = 'x\n'", "a=1:7 the string is not closed");
    check("a = \"\\x\"", "a=1:7 this escape is not supported");
    check("a = ['x'", "a=1:9 expected `,` or `]`");
    check("a = [1]", "a=1:6 expected a string, or `]`");
    check("a = ['x',\n'y']", "a=1:10 expected a string, or `]`");
    check("\n[one", "2:5 expected `]`");
    check("[[one]", "1:6 expected `]]`");
    check("[[one]] x", "1 [[one]] 1:9 expected the end of the line");
    check("\n  [wrong]", "2 [wrong] 2:3 no such table");
    check("[one]\n ?x = 1", "1 [one] ?x=2:2 no such key");
    check("unfinished = 1\n", "unfinished=1 2:1 something is missing");
}
END_TEST

START_TEST(sizes_have_limits) {
    char text[2 * TOML_STRING_MAX], expected[64];
    memset(text, 'x', sizeof text);
    memcpy(text, "a = '", 5);
    text[5 + TOML_STRING_MAX - 1] = '\'';
    text[5 + TOML_STRING_MAX] = '\0';
    static intern_table strings;
    notes n = {.used = 0};
    toml_error error;
    const toml_taker taker = {.table = take_table,
                              .key = take_key,
                              .value = take_value,
                              .end = take_end,
                              .context = &n,
                              .strings = &strings};
    ck_assert(toml_parse(text, &taker, &error));
    text[5 + TOML_STRING_MAX - 1] = 'x';
    text[5 + TOML_STRING_MAX] = '\'';
    text[5 + TOML_STRING_MAX + 1] = '\0';
    snprintf(expected, sizeof expected, "a=1:%d the string is too long", 5 + TOML_STRING_MAX);
    check(text, expected);
    size_t used = (size_t)snprintf(text, sizeof text, "a = [");
    for (int i = 0; i < TOML_LIST_MAX + 1; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "'',");
    snprintf(text + used, sizeof text - used, "]");
    snprintf(expected, sizeof expected, "a=1:%d the list is too long", 6 + 3 * TOML_LIST_MAX);
    check(text, expected);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("toml");
    TCase *t = tcase_create("toml");
    tcase_add_test(t, values_are_strings_numbers_booleans_and_lists);
    tcase_add_test(t, what_is_wrong_is_pointed_at);
    tcase_add_test(t, sizes_have_limits);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
