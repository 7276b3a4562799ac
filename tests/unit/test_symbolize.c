/* Tests of src/symbolize: the parts that need no program to look at. */
#include <stdio.h>
#include <string.h>

#include "symbolize/allocator_frames.h"
#include "symbolize/elf_file.h"
#include "symbolize/names.h"
#include "symbolize/span_map.h"
#include "unit.h"

/* ---- span_map ---------------------------------------------------------------------------- */

START_TEST(spans_nest) {
    span_map map = {0};
    ck_assert(span_map_add(&map, 100, 200, 0));
    ck_assert(span_map_add(&map, 120, 150, 1));
    ck_assert(span_map_add(&map, 120, 130, 2));
    ck_assert(span_map_add(&map, 160, 170, 3));
    ck_assert(span_map_add(&map, 300, 300, 4)); /* empty */
    ck_assert(span_map_add(&map, 150, 160, 5));
    ck_assert(span_map_add(&map, 150, 160, 6)); /* equal: the later one is inside */
    ck_assert(span_map_seal(&map));
    static const struct {
        uint64_t address;
        uint32_t value;
    } expected[] = {{0, SPAN_NONE}, {99, SPAN_NONE},  {100, 0},         {119, 0},
                    {120, 2},       {129, 2},         {130, 1},         {149, 1},
                    {150, 6},       {159, 6},         {160, 3},         {170, 0},
                    {199, 0},       {200, SPAN_NONE}, {300, SPAN_NONE}, {UINT64_MAX, SPAN_NONE}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_uint_eq(span_map_find(&map, expected[i].address), expected[i].value);
    span_map_free(&map);
}
END_TEST

START_TEST(spans_agree_with_search) {
    enum { N = 200, LIMIT = 1000 };
    unsigned seed = 1;
    for (int round = 0; round < 50; round++) {
        span_map map = {0};
        span all[N];
        for (uint32_t i = 0; i < N; i++) {
            uint64_t a = (seed = seed * 1103515245 + 12345) >> 8 & 511;
            uint64_t b = a + 1 + ((seed = seed * 1103515245 + 12345) >> 8 & 127);
            all[i] = (span){.low = a, .high = b, .value = i};
            ck_assert(span_map_add(&map, a, b, i));
        }
        ck_assert(span_map_seal(&map));
        for (uint64_t x = 0; x < LIMIT; x++) {
            /* the one that starts last; of these the shortest; of these the last added */
            const span *best = NULL;
            for (size_t i = 0; i < N; i++) {
                const span *s = &all[i];
                if (x >= s->low && x < s->high &&
                    (!best || s->low > best->low || (s->low == best->low && s->high <= best->high)))
                    best = s;
            }
            ck_assert_uint_eq(span_map_find(&map, x), best ? best->value : SPAN_NONE);
        }
        span_map_free(&map);
    }
}
END_TEST

START_TEST(spans_reach_the_last_address) {
    span_map map = {0};
    ck_assert(span_map_add(&map, UINT64_MAX - 1, UINT64_MAX, 7));
    ck_assert(span_map_seal(&map));
    ck_assert_uint_eq(span_map_find(&map, UINT64_MAX - 2), SPAN_NONE);
    ck_assert_uint_eq(span_map_find(&map, UINT64_MAX - 1), 7);
    span_map_free(&map);
    ck_assert(span_map_seal(&map)); /* an empty one */
    ck_assert_uint_eq(span_map_find(&map, 0), SPAN_NONE);
}
END_TEST

/* ---- names ------------------------------------------------------------------------------- */

START_TEST(paths_are_joined_and_normalised) {
    static const struct {
        const char *folder, *file, *path;
    } cases[] = {
        {"/a/b", "../c/./d.c", "/a/c/d.c"},
        {"/a", "../../../x.c", "/x.c"},
        {"a", "../../b.c", "../b.c"},
        {NULL, "./x//y.c", "x/y.c"},
        {"/q", "/r/../s.c", "/s.c"},
        {"/a/..", "b.c", "/b.c"},
        {".", "x.c", "x.c"},
        {"..", "x.c", "../x.c"},
        {"../..", "../y/../x.c", "../../../x.c"},
        {"/a/b", "..x/..y", "/a/b/..x/..y"},
        {"a..", "../b", "b"},
        {"./string", "./string/strdup.c", "string/strdup.c"},
        {"./string", "../sysdeps/x.c", "sysdeps/x.c"},
        {"", "<built-in>", "<built-in>"},
    };
    intern_table strings = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(name_path(&strings, cases[i].folder, cases[i].file), cases[i].path);
    intern_free(&strings);
}
END_TEST

START_TEST(names_are_demangled) {
    static const char *const cases[][2] = {
        {"main", "main"},
        {"_Z", "_Z"},
        {"_Rebuild", "_Rebuild"},
        {"_Znwm", "operator new(unsigned long)"},
        {"_ZNSt6vectorIiSaIiEE9push_backERKi",
         "std::vector<int, std::allocator<int> >::push_back(int const&)"},
        {"_ZN5alloc5alloc5alloc17h0123456789abcdefE", "alloc::alloc::alloc"},
        {"_RNvCs15kBYyAo9fc_7mycrate3foo", "mycrate::foo"},
    };
    intern_table strings = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(name_demangle(&strings, cases[i][0]), cases[i][1]);
    intern_free(&strings);
}
END_TEST

/* Rust 1.95 allocates in functions of the allocator's own, which are no trait's. */
START_TEST(allocators_are_told_from_who_allocates) {
    static const char *const allocators[] = {
        "operator new(unsigned long)",
        "__rust_alloc",
        "alloc::alloc::alloc",
        "<alloc::alloc::Global as core::alloc::Allocator>::grow",
        "<alloc::alloc::Global>::alloc_impl_runtime",
        "alloc::raw_vec::RawVecInner<A>::finish_grow",
        "<alloc::raw_vec::RawVecInner>::finish_grow",
    };
    static const char *const others[] = {"main", "alloc::vec::Vec<T,A>::reserve",
                                         "operator new_thing", "my::alloc::alloc::Global"};
    const char *type = NULL;
    for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++)
        ck_assert_int_eq(allocator_frame(allocators[i], &type), ALLOCATOR_ALWAYS);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_int_eq(allocator_frame(others[i], &type), ALLOCATOR_NONE);
}
END_TEST

/* ---- build ids --------------------------------------------------------------------------- */

START_TEST(build_ids_are_parsed_and_printed) {
    build_id id, other;
    char text[BUILD_ID_TEXT], longest[2 * BUILD_ID_MAX + 2 + 1];
    ck_assert(build_id_parse(&id, "00fFa1", 6));
    ck_assert_uint_eq(id.size, 3);
    build_id_print(&id, text);
    ck_assert_str_eq(text, "00ffa1");
    ck_assert(build_id_parse(&other, "00ffa1xx", 6));
    ck_assert(build_id_equal(&id, &other));
    ck_assert(build_id_parse(&other, "", 0));
    ck_assert(!build_id_equal(&id, &other));
    ck_assert(!build_id_parse(&id, "abc", 3));
    ck_assert(!build_id_parse(&id, "0g", 2));
    memset(longest, 'a', sizeof longest);
    ck_assert(build_id_parse(&id, longest, 2 * BUILD_ID_MAX));
    build_id_print(&id, text);
    ck_assert_uint_eq(strlen(text), 2 * BUILD_ID_MAX);
    ck_assert(!build_id_parse(&id, longest, 2 * BUILD_ID_MAX + 2));
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("symbolize");
    TCase *t = tcase_create("parts");
    tcase_add_test(t, spans_nest);
    tcase_add_test(t, spans_agree_with_search);
    tcase_add_test(t, spans_reach_the_last_address);
    tcase_add_test(t, paths_are_joined_and_normalised);
    tcase_add_test(t, names_are_demangled);
    tcase_add_test(t, allocators_are_told_from_who_allocates);
    tcase_add_test(t, build_ids_are_parsed_and_printed);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
