/* test_guard.c: who may ask the viewer. */
#include <stdio.h>
#include <string.h>

#include "serve/guard.h"
#include "unit.h"

START_TEST(names_of_this_machine_are_hosts) {
    guard g;
    ck_assert(guard_init(&g, "box.example", false, 8080));
    ck_assert(guard_host(&g, "localhost"));
    ck_assert(guard_host(&g, "127.0.0.1:8080"));
    ck_assert(guard_host(&g, "[::1]:9"));
    ck_assert(guard_host(&g, "BOX.example:8080"));
    ck_assert(!guard_host(&g, NULL));
    ck_assert(!guard_host(&g, ""));
    ck_assert(!guard_host(&g, "10.0.0.1"));
    ck_assert(!guard_host(&g, "example"));
    ck_assert(!guard_host(&g, "box.example.evil"));
    ck_assert(!guard_host(&g, "[::1]x"));
}
END_TEST

START_TEST(all_addresses_are_hosts_where_it_listens_at_all) {
    guard g;
    ck_assert(guard_init(&g, NULL, true, 1));
    ck_assert(guard_host(&g, "10.0.0.1:1"));
    ck_assert(guard_host(&g, "[fe80::1]:1"));
    ck_assert(!guard_host(&g, "evil.example"));
}
END_TEST

START_TEST(tokens_are_compared_as_a_whole) {
    guard g;
    char cookie[200], token[100];
    ck_assert(guard_init(&g, NULL, false, 8081));
    ck_assert_uint_eq(strlen(g.token), GUARD_TOKEN_SIZE);
    ck_assert(guard_token(&g, g.token, NULL));
    snprintf(cookie, sizeof cookie, "x=y; allotrace-8081=%s", g.token);
    ck_assert(guard_token(&g, NULL, cookie));
    ck_assert(!guard_token(&g, NULL, g.token));
    ck_assert(!guard_token(&g, "", ""));
    ck_assert(!guard_token(&g, NULL, NULL));
    for (size_t i = 0; i < GUARD_TOKEN_SIZE; i++) {
        memcpy(token, g.token, sizeof g.token);
        token[i] ^= 1;
        ck_assert(!guard_token(&g, token, NULL));
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("guard");
    TCase *t = tcase_create("guard");
    tcase_add_test(t, names_of_this_machine_are_hosts);
    tcase_add_test(t, all_addresses_are_hosts_where_it_listens_at_all);
    tcase_add_test(t, tokens_are_compared_as_a_whole);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
