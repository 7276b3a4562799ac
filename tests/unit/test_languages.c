/* Tests of languages: what tools know of each. */
#include <string.h>

#include "languages/language.h"
#include "unit.h"

static void check_setting(const char *program, const char *wanted) {
    const char *setting = languages_whole_malloc(program);
    if (wanted ? !setting || strcmp(setting, wanted) != 0 : setting != NULL)
        ck_abort_msg("%s: %s", program, setting ? setting : "none");
}

START_TEST(take_all_memory_from_malloc) {
    check_setting("php8.2", "USE_ZEND_ALLOC=0");
    check_setting("python3.11", "PYTHONMALLOC=malloc");
    check_setting("python3.14t", NULL); /* free-threaded: it would not start */
    check_setting("perl", NULL);
    check_setting("", NULL);
}
END_TEST

START_TEST(have_files) {
    ck_assert(languages_have_file("java/util/ArrayList.java"));
    ck_assert(languages_have_file("<frozen importlib._bootstrap>"));
    ck_assert(languages_have_file("/usr/lib/python3.11/json/decoder.py"));
    ck_assert(!languages_have_file("/usr/lib/python3.11/site-packages/x/y.py"));
    ck_assert(languages_have_file("/rustc/90b35a6/library/alloc/src/raw_vec.rs"));
    ck_assert(languages_have_file("/usr/lib/go-1.22/src/strings/builder.go"));
    ck_assert(!languages_have_file("/home/me/go/src/tree/builder.go"));
    ck_assert(!languages_have_file("main.c"));
    ck_assert(!languages_have_file(""));
}
END_TEST

START_TEST(begin_somewhere) {
    ck_assert(languages_begin_in("caml_main"));
    ck_assert(languages_begin_in("script"));
    ck_assert(!languages_begin_in("main"));
}
END_TEST

START_TEST(are_told_apart) {
    for (size_t i = 0; i < N_LANGUAGES; i++) {
        ck_assert_str_ne(languages[i]->name, "");
        ck_assert_int_eq(!languages[i]->rough, !languages[i]->rough_hint);
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(languages[i]->name, languages[k]->name);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("languages");
    TCase *t = tcase_create("languages");
    tcase_add_test(t, take_all_memory_from_malloc);
    tcase_add_test(t, have_files);
    tcase_add_test(t, begin_somewhere);
    tcase_add_test(t, are_told_apart);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
