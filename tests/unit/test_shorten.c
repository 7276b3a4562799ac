/* test_shorten.c: names and places where there is little room. */
#include "render/shorten.h"
#include "unit.h"

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

static Suite *suite(void) {
    Suite *s = suite_create("shorten");
    TCase *t = tcase_create("shorten");
    tcase_add_loop_test(t, the_name_itself_stays_longest, 0, sizeof names / sizeof *names);
    tcase_add_test(t, a_path_gives_way_before_the_name);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
