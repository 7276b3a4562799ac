/* Tests of the names of scopes: each has one number, whoever asks. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "record/scope.h"
#include "unit.h"

START_TEST(a_name_has_one_number) {
    char name[] = "GET /cart";
    const uint16_t cart = scope_number(name);
    ck_assert_uint_ne(cart, SCOPE_NONE);
    name[0] = 'P'; /* it is copied */
    ck_assert_str_eq(scope_text(cart), "GET /cart");
    ck_assert_uint_eq(scope_number("GET /cart"), cart);
    ck_assert_uint_ne(scope_number(name), cart);
    ck_assert_uint_eq(scope_number(""), SCOPE_NONE);
    ck_assert_str_eq(scope_text(SCOPE_NONE), "");
}
END_TEST

START_TEST(long_names_are_cut_between_characters) {
    char name[100];
    memset(name, 'x', sizeof name);
    name[99] = '\0';
    const uint16_t number = scope_number(name);
    ck_assert_uint_eq(strlen(scope_text(number)), SCOPE_NAME_SIZE - 1);
    name[90] = '\0';
    ck_assert_uint_eq(scope_number(name), number);
    memcpy(name + SCOPE_NAME_SIZE - 2, "\xc3\xa4", 3); /* two bytes, of which one has room */
    ck_assert_uint_eq(strlen(scope_text(scope_number(name))), SCOPE_NAME_SIZE - 2);
}
END_TEST

static void *ask(void *numbers_) {
    uint16_t *numbers = numbers_;
    char name[32];
    for (int i = 0; i < SCOPE_NAMES + 100; i++) {
        snprintf(name, sizeof name, "scope %d", i);
        numbers[i] = scope_number(name);
    }
    return NULL;
}

START_TEST(threads_get_the_same_numbers) {
    enum { THREADS = 4, N = SCOPE_NAMES + 100 };
    static uint16_t numbers[THREADS][N];
    pthread_t threads[THREADS];
    char name[32];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask, numbers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int n_other = 0;
    for (int i = 0; i < N; i++) {
        for (int t = 1; t < THREADS; t++)
            if (numbers[t][i] != SCOPE_NAMES && numbers[0][i] != SCOPE_NAMES) /* one came late */
                ck_assert_uint_eq(numbers[t][i], numbers[0][i]);
        snprintf(name, sizeof name, "scope %d", i);
        const char *text = scope_text(numbers[0][i]);
        n_other += strcmp(text, "(other scopes)") == 0;
        ck_assert_msg(strcmp(text, name) == 0 || strcmp(text, "(other scopes)") == 0, "%s: %s",
                      name, text);
    }
    ck_assert_int_ge(n_other, N - (SCOPE_NAMES - 1)); /* numbers of those that were late are lost */
    ck_assert_int_lt(n_other, N / 2);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("scope");
    TCase *t = tcase_create("scope");
    tcase_add_test(t, a_name_has_one_number);
    tcase_add_test(t, long_names_are_cut_between_characters);
    tcase_add_test(t, threads_get_the_same_numbers);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
