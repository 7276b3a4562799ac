/* Tests of regular expressions, against those of the C library. */
#include <regex.h>
#include <string.h>

#include "query/regex_nfa.h"
#include "random.h"
#include "unit.h"

static int compile(const char *pattern) {
    regex_nfa *nfa;
    const int error = regex_nfa_compile(&nfa, pattern);
    ck_assert((error == 0) == (nfa != NULL));
    regex_nfa_free(nfa);
    return error;
}

static void check_same(const char *pattern, const char *const *texts, size_t n) {
    regex_nfa *nfa;
    regex_t library;
    const int error = regcomp(&library, pattern, REG_EXTENDED | REG_NOSUB);
    const int own = regex_nfa_compile(&nfa, pattern);
    ck_assert_msg((own == 0) == (error == 0), "%s: %d, the library's: %d", pattern, own, error);
    for (size_t i = 0; !own && i < n; i++)
        ck_assert_msg(regex_nfa_match(nfa, texts[i]) ==
                          (regexec(&library, texts[i], 0, NULL, 0) == 0),
                      "%s in %s", pattern, texts[i]);
    if (!error)
        regfree(&library);
    regex_nfa_free(nfa);
}

START_TEST(they_mean_what_they_mean_to_the_library) {
    static const char *const patterns[] = {"",
                                           "a",
                                           "^a",
                                           "a$",
                                           "^$",
                                           "ab|cd",
                                           "a*",
                                           "^a*$",
                                           "a+b",
                                           "a?b",
                                           "(ab)+c",
                                           "^(a|b)*c$",
                                           "a{2}",
                                           "^a{2,3}$",
                                           "^a{,2}$",
                                           "^a{2,}$",
                                           "^(ab){2}$",
                                           "[abc]",
                                           "[^abc]",
                                           "[a-c]d",
                                           "[]a]",
                                           "[^]a]",
                                           "[a-]",
                                           "[[:digit:]]+",
                                           "^[[:alpha:]_][[:alnum:]_]*$",
                                           "[[.a.]-c]",
                                           "[[=a=]]",
                                           "\\.",
                                           "\\(a",
                                           "a\\|b",
                                           "\\w+",
                                           "\\W",
                                           "\\s",
                                           "\\S",
                                           "\\<ab",
                                           "ab\\>",
                                           "\\bb",
                                           "a\\Bb",
                                           "\\`a",
                                           "b\\'",
                                           "std::.*<.*>",
                                           "(a*)*b",
                                           "(a*)+$",
                                           "(|a)b",
                                           "()",
                                           "a||b",
                                           "a)",
                                           "a^b",
                                           "a$b",
                                           "a**",
                                           "[\\]",
                                           "(^a|b$)",
                                           "x*",
                                           ".",
                                           "..",
                                           "^.{3}$"};
    static const char *const wrong[] = {"(",      "(a",   "[",        "[a",   "[b-a]", "\\",
                                        "*a",     "+",    "a|*b",     "(*a)", "a{",    "a{1",
                                        "a{2,1}", "a{x}", "[[:no:]]", "{1}",  "a{1,2"};
    static const char *const texts[] = {"",
                                        "a",
                                        "b",
                                        "c",
                                        "d",
                                        "ab",
                                        "cd",
                                        "aab",
                                        "abab",
                                        "ababc",
                                        "aa",
                                        "aaa",
                                        "aaaa",
                                        "acbc",
                                        "a)",
                                        "(a",
                                        "a|b",
                                        "a.b",
                                        "]",
                                        "-",
                                        "x1",
                                        "_9",
                                        "a b",
                                        "b a",
                                        "a\nb",
                                        "^",
                                        "$",
                                        "\\",
                                        "std::vector<int>::push_back",
                                        "a-b",
                                        "ab ab",
                                        "foo_bar",
                                        "\xc3\xa9",
                                        "a*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        check_same(patterns[i], texts, sizeof texts / sizeof *texts);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(compile(wrong[i]) != 0, "%s", wrong[i]);
}
END_TEST

static char *put(char *to, const char *text) {
    const size_t size = strlen(text);
    memcpy(to, text, size);
    return to + size;
}

/* Writes a pattern of letters and whatever else makes one, but for ^ and $: within what is repeated
 * the library gets these wrong. */
static char *make(test_random *random, unsigned depth, char *to) {
    static const char *const atoms[] = {"a", "b", ".", "[ab]", "[^a]", "c"};
    static const char *const signs[] = {"*", "+", "?", "{2}", "{1,3}", "{,2}", "", "", "", ""};
    for (unsigned n = (unsigned)(test_random_u64(random) % 3) + 1; n > 0; n--) {
        if (depth > 0 && test_random_u64(random) % 3 == 0) {
            *to++ = '(';
            to = make(random, depth - 1, to);
            *to++ = ')';
        } else {
            to = put(to, atoms[test_random_u64(random) % 6]);
        }
        to = put(to, signs[test_random_u64(random) % 10]);
        if (n > 1 && test_random_u64(random) % 4 == 0)
            *to++ = '|';
    }
    *to = '\0';
    return to;
}

START_TEST(any_that_are_put_together_do) {
    test_random random = {.state = 25};
    char texts[32][12], pattern[4096];
    const char *all[32];
    for (size_t i = 0; i < 32; i++) {
        const size_t size = test_random_u64(&random) % 11;
        for (size_t j = 0; j < size; j++)
            texts[i][j] = "abc"[test_random_u64(&random) % 3];
        texts[i][size] = '\0';
        all[i] = texts[i];
    }
    for (int i = 0; i < 3000; i++) {
        make(&random, 2, pattern);
        check_same(pattern, all, 32);
    }
}
END_TEST

START_TEST(none_takes_more_than_its_share) {
    static const char *const large[] = {"((.{1,255}){1,255}){1,255}",
                                        "(.{255}){255}",
                                        "a{501}",
                                        "((((((((){255}){255}){255}){255}){255}){255}){255}){255}",
                                        "((a?){200}){200}",
                                        "a{70000}"};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        ck_assert_msg(compile(large[i]) == REG_ESIZE, "%s", large[i]);
    char *deep = malloc(200001);
    memset(deep, '(', 200000);
    deep[200000] = '\0';
    ck_assert_int_eq(compile(deep), REG_ESIZE);
    memset(deep, 'a', 200000);
    ck_assert_int_eq(compile(deep), REG_ESIZE);
    memset(deep + 1, '*', 199999);
    ck_assert_int_eq(compile(deep), REG_ESIZE);
    free(deep);
    ck_assert_int_eq(compile("(a)\\1"), REG_ESUBREG); /* would take time without bound */
}
END_TEST

/* Of these, the library's own takes time or memory that doubles with each step. */
START_TEST(all_ways_are_followed_at_once) {
    char text[4001];
    regex_nfa *nfa;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ck_assert_int_eq(regex_nfa_compile(&nfa, "^(a?){100}(a|aa)+(a*)*b$"), 0);
    ck_assert(!regex_nfa_match(nfa, text));
    text[sizeof text - 2] = 'b';
    ck_assert(regex_nfa_match(nfa, text));
    regex_nfa_free(nfa);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("regex");
    TCase *t = tcase_create("regex");
    tcase_add_test(t, they_mean_what_they_mean_to_the_library);
    tcase_add_test(t, any_that_are_put_together_do);
    tcase_add_test(t, none_takes_more_than_its_share);
    tcase_add_test(t, all_ways_are_followed_at_once);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
