/* test_advise.c: the names that rules of advice know, how growth is recognised, and that advice on
 * real traces adds up. Which rule applies to which program is tested in tests/advise/. */
#include <math.h>
#include <string.h>

#include "advice/advise.h"
#include "tape.h"
#include "trace_fixture.h"

/* ---- names ------------------------------------------------------------------------------- */

START_TEST(return_types_are_passed_over) {
    static const char *const names[][2] = {
        {"void std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(int const&)",
         "std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(int const&)"},
        {"std::basic_string<char, std::char_traits<char> > std::operator+<char>(char const*)",
         "std::operator+<char>(char const*)"},
        {"std::ostream& std::operator<< <char>(std::ostream&, char)",
         "std::operator<< <char>(std::ostream&, char)"},
        {"bool my::f<std::vector<int> >(int)", "my::f<std::vector<int> >(int)"},
        {"(anonymous namespace)::f(int)", "(anonymous namespace)::f(int)"},
        {"operator new(unsigned long)", "operator new(unsigned long)"},
        {"main::{lambda(int)#1}::operator()(int) const",
         "main::{lambda(int)#1}::operator()(int) const"},
        {"Stdlib.(@)", "Stdlib.(@)"},
        {"Causes.let*", "Causes.let*"},
        {"a name", "a name"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_str_eq(name_bare(names[i][0]), names[i][1]);
}
END_TEST

START_TEST(copies_are_told_from_other_functions) {
    static const char *const copies[] = {
        "Record::Record(Record const&)",
        "Record::operator=(Record const&)",
        "Record& Record::operator=(Record const&)",
        "my::Pair<int, std::vector<int> >::Pair(my::Pair<int, std::vector<int> > const&)",
        "(anonymous namespace)::A::A((anonymous namespace)::A const&)",
    };
    static const char *const others[] = {
        "Record::Record(Record&&)",
        "Record::Record(int)",
        "Record::merge(Record const&)",
        "Record::Record(RecordSet const&)",
        "Record(Record const&)",
        "copy(Record const&)",
        "Record::operator==(Record const&)",
        "a::Record(b const&)",
        "Record.copy",
        "Stdlib.(@)",
        "",
    };
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        ck_assert_msg(name_is_copy(copies[i]), "%s", copies[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!name_is_copy(others[i]), "%s", others[i]);
}
END_TEST

START_TEST(names_are_in_their_sets) {
#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
    static const struct {
        const char *name;
        name_sets in;
    } names[] = {
        {"Stdlib.(@)", NAMES(LIBRARY) | NAMES(LIST_APPEND)},
        {"[deeper than the recorder looks]", NAMES(LIBRARY)},
        {"Stdlib.(^)", NAMES(LIBRARY) | NAMES(STRING_CONCAT)},
        {"Stdlib__Bytes.get_int32_be", NAMES(LIBRARY) | NAMES(READ_INT)},
        {"Stdlib__String.get_int64_le", NAMES(LIBRARY) | NAMES(READ_INT)},
        {"Stdlib__Bytes.get_uint16_be", NAMES(LIBRARY)},
        {"Stdlib__Int64.succ", NAMES(LIBRARY) | NAMES(BOXED_INT)},
        {"Stdlib__Random.State.float", NAMES(LIBRARY) | NAMES(BOXED_FLOAT)},
        {"CamlinternalFormat.make_printf.(fun)", NAMES(LIBRARY) | NAMES(FORMATTING)},
        {"CamlinternalMenhirLib.Engine.Make.reduce", 0},
        {"Stdlib__set.Make.bal", NAMES(LIBRARY) | NAMES(TREE_UPDATE)}, /* as older compilers */
        {"Stdlib__Set.Make.mem", NAMES(LIBRARY) | NAMES(COMPARING)},
        {"Stdlib__Hashtbl.insert_all_buckets", NAMES(LIBRARY) | NAMES(HASHTBL_GROWTH)},
        {"Stdlib__Hashtbl.MakeSeeded.key_index", NAMES(LIBRARY) | NAMES(COMPARING)},
        {"Stdlib__Hashtbl.find_opt", NAMES(LIBRARY) | NAMES(LOOKUP) | NAMES(ITERATOR)},
        {"Stdlib__Buffer.resize", NAMES(LIBRARY) | NAMES(BUFFER_GROWTH)},
        {"Stdlib__Buffer.create", NAMES(LIBRARY) | NAMES(BUFFER_MADE)},
        {"Stdlib__List.iter", NAMES(LIBRARY) | NAMES(ITERATOR)},
        {"Stdlib__Option.bind", NAMES(LIBRARY) | NAMES(BINDER)},
        {"Program.let*", NAMES(BINDER)},
        {"Program.Syntax.(>>=)", NAMES(BINDER)},
        {"Program.Syntax.(>|=)", NAMES(BINDER)},
        {"Program.letter", 0},
        {"Program.compare", NAMES(KEY_FUNCTION)},
        {"Program.compare_files", 0},
        {"Program.hash", NAMES(KEY_HASH)},
        {"Program.rehash", 0},
        {"caml_curry3_1", NAMES(LIBRARY) | NAMES(PARTIAL)},
        {"$47349391073476", NAMES(LIBRARY)},
        {"$-3", NAMES(LIBRARY)},
        {"void std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(int)",
         NAMES(LIBRARY) | NAMES(VECTOR_GROWTH) | NAMES(REALLOC)}, /* which is for types alone */
        {"std::vector<int, std::allocator<int> >::vector(std::vector<int, std::allocator<int> > "
         "const&)",
         NAMES(LIBRARY) | NAMES(VECTOR_COPY)},
        {"std::vector<int, std::allocator<int> >::vector(unsigned long, int const&)",
         NAMES(LIBRARY)},
        {STRING "::basic_string(" STRING " const&)", NAMES(LIBRARY) | NAMES(STD_STRING_COPY)},
        {STRING "::basic_string(char const*, std::allocator<char> const&)",
         NAMES(LIBRARY) | NAMES(STD_STRING_MADE)},
        {"void " STRING "::_M_construct<char*>(char*, char*, std::forward_iterator_tag)",
         NAMES(LIBRARY) | NAMES(STD_STRING_COPY)},
        {"void " STRING "::_M_construct<char const*>(char const*, char const*)",
         NAMES(LIBRARY) | NAMES(STD_STRING_MADE)},
        {STRING "::_M_mutate(unsigned long, unsigned long, char const*, unsigned long)",
         NAMES(LIBRARY) | NAMES(STRING_GROWTH)},
        {STRING " std::operator+<char, std::char_traits<char> >(char const*)",
         NAMES(LIBRARY) | NAMES(STRING_PLUS)},
        {"alloc::raw_vec::RawVec<T,A>::grow_one", NAMES(LIBRARY) | NAMES(VECTOR_GROWTH)},
        {"<alloc::string::String as core::clone::Clone>::clone", NAMES(LIBRARY) | NAMES(RUST_COPY)},
        {"alloc::slice::<impl [T]>::to_vec_in", NAMES(LIBRARY) | NAMES(RUST_COPY)},
        {"<[u8]>::to_vec_in::<alloc::alloc::Global>", NAMES(RUST_COPY)}, /* by its file */
        {"<str as alloc::borrow::ToOwned>::to_owned", NAMES(RUST_COPY)},
        {"<program::Item as core::clone::Clone>::clone", 0}, /* the program's own */
        {"my::copy(std::vector<int> const&)", 0},
        {"std::vector<int> my::make<int>(int)", 0}, /* what a template returns is not its name */
        {"start_thread", NAMES(START)},
        {"clone3", NAMES(START)},
        {"__libc_start_main_impl", NAMES(START)},
        {"std::sys::backtrace::__rust_begin_short_backtrace", NAMES(LIBRARY) | NAMES(START)},
        {"std::sys_common::backtrace::__rust_begin_short_backtrace", NAMES(LIBRARY) | NAMES(START)},
        {"<std::sys::thread::unix::Thread>::new::thread_start", NAMES(START)},
        {"core::ops::function::FnOnce::call_once{{vtable.shim}}", NAMES(LIBRARY) | NAMES(START)},
        {"start_threads", 0},
        {"array_clone", 0},
        {"realloc", NAMES(REALLOC)},
        {"xrealloc", NAMES(REALLOC)},
        {"malloc", 0},
        {"strdup", NAMES(STRDUP)},
        {"__strndup", NAMES(STRDUP)},
        {"LoxArray", NAMES(GUEST_ARRAY)},
        {"LoxArrayStorage", NAMES(GUEST_ARRAY_STORE)},
        {"LoxBoundMethod", NAMES(GUEST_BOUND_METHOD)},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(name_sets_of(names[i].name) == names[i].in, "%s: %#lx", names[i].name,
                      (unsigned long)name_sets_of(names[i].name));
}
END_TEST

START_TEST(files_of_the_library) {
    ck_assert(name_is_library_file("/usr/include/c++/12/bits/stl_vector.h"));
    ck_assert(name_is_library_file("/lib/x86_64-linux-gnu/libstdc++.so.6"));
    ck_assert(name_is_library_file("/lib/x86_64-linux-gnu/libc.so.6[ab12]"));
    ck_assert(name_is_library_file("/rustc/9fc6b431/library/alloc/src/raw_vec.rs"));
    ck_assert(
        name_is_library_file("/usr/src/rustc-1.63.0/library/alloc/src/slice.rs")); /* Debian */
    ck_assert(name_is_library_file("/home/u/lib/rustlib/src/rust/library/core/src/str.rs"));
    ck_assert(name_is_library_file("/usr/local/go/src/runtime/proc.go"));
    ck_assert(name_is_library_file("/usr/lib/go-1.19/src/net/http/server.go"));
    ck_assert(name_is_library_file(
        "/home/u/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.26.8.linux-amd64/src/fmt/print.go"));
    ck_assert(name_is_library_file("runtime/malloc.go"));
    ck_assert(!name_is_library_file("/home/u/go/src/example.org/net/server.go"));
    ck_assert(!name_is_library_file("/home/u/cargo/src/runtime/main.go"));
    ck_assert(!name_is_library_file("example.org/net/server.go"));
    ck_assert(!name_is_library_file("runtime/memory.c"));
    ck_assert(!name_is_library_file("/home/u/rustc-tool/library/mine/src/slice.rs"));
    ck_assert(!name_is_library_file("src/vector.c"));
    ck_assert(!name_is_library_file("/lib/x86_64-linux-gnu/libcurl.so.4"));
    ck_assert(!name_is_library_file(""));
}
END_TEST

/* ---- rules ------------------------------------------------------------------------------- */

START_TEST(rules_are_whole) {
    for (size_t i = 0; i < advise_n_rules; i++) {
        const advise_rule *r = &advise_rules[i];
        filter_error error;
        filter *f = NULL;
        ck_assert_msg(r->name && r->title && r->why && r->what_to_do && r->evidence, "rule %zu", i);
        ck_assert_msg(r->within || r->owner || r->caller || r->type || r->shape ||
                          r->min_brief > 0 || r->min_blocks || r->min_promoted > 0,
                      "%s applies to everything", r->name);
        ck_assert_msg((r->most > 0) + r->by_growth + r->by_promotion + r->by_calls ==
                          (strcmp(r->name, "ocaml-heap") != 0), /* another trace says that */
                      "%s: what does it gain?", r->name);
        ck_assert_msg(r->most <= 1, "%s", r->name);
        ck_assert_msg(!r->filter || filter_parse(r->filter, &f, &error), "%s: %s", r->name,
                      error.reason);
        filter_free(f);
    }
}
END_TEST

/* ---- growth ------------------------------------------------------------------------------ */

enum { N_ROWS = 40 };

typedef struct rows {
    profile p;
    uint32_t node[N_ROWS], length[N_ROWS], index[N_ROWS];
    uint16_t samples[N_ROWS], domain[N_ROWS];
    uint8_t source[N_ROWS];
    uint32_t born[N_ROWS], died[N_ROWS];
} rows;

/* A table of no blocks, with room. */
static void rows_init(rows *r) {
    *r = (rows){.p.table = {.node = r->node,
                            .length = r->length,
                            .samples = r->samples,
                            .domain = r->domain,
                            .source = r->source,
                            .times = {{.low = r->born}, {0}, {.low = r->died}},
                            .capacity = N_ROWS}};
}

static void rows_add(rows *r, uint32_t length, uint64_t born, uint64_t died) {
    const size_t i = r->p.table.count++;
    r->length[i] = length;
    r->samples[i] = 1;
    blocks_set_time(&r->p.table, BLOCKS_BORN, i, born);
    blocks_set_time(&r->p.table, BLOCKS_DIED, i, died);
    r->index[i] = (uint32_t)i;
}

static advise_growth growth_of(rows *r) {
    advise_growth g;
    ck_assert(advise_growth_of(&r->p, r->index, r->p.table.count, &g));
    return g;
}

START_TEST(a_chain_grows) {
    rows r;
    rows_init(&r);
    for (uint32_t i = 0; i < 8; i++)
        rows_add(&r, 16u << i, 1000 * i, i < 7 ? 1000 * (i + 1) - i % 2 : BLOCKS_NEVER);
    const advise_growth g = growth_of(&r);
    ck_assert_double_eq_tol(g.share, 100 * 7 / 8., 1e-9);
    ck_assert_double_eq(g.ratio, 2);
    ck_assert_double_eq(g.step, 16 << 3); /* the one in the middle */
}
END_TEST

START_TEST(what_only_follows_does_not_grow) {
    rows r;
    rows_init(&r);
    rows_add(&r, 64, 0, 1000);
    rows_add(&r, 64, 1000, 2000);          /* not larger */
    rows_add(&r, 32, 2000, 3000);          /* smaller */
    rows_add(&r, 128, 3100, BLOCKS_NEVER); /* too late */
    rows_add(&r, 256, 900, BLOCKS_NEVER);  /* too early */
    r.domain[r.p.table.count] = 1;
    rows_add(&r, 512, 3000, BLOCKS_NEVER); /* elsewhere */
    const advise_growth g = growth_of(&r);
    ck_assert_double_eq(g.share, 0);
    ck_assert_double_eq(g.ratio, 1);
    ck_assert_double_eq(g.step, 0);
}
END_TEST

START_TEST(a_successor_counts_once) {
    rows r;
    rows_init(&r);
    for (int i = 0; i < 9; i++)
        rows_add(&r, 10, (uint64_t)i, 1000);
    rows_add(&r, 20, 1001, BLOCKS_NEVER);
    ck_assert_double_eq_tol(growth_of(&r).share, 10, 1e-9);
}
END_TEST

START_TEST(nothing_does_not_grow) {
    rows r;
    rows_init(&r);
    ck_assert_double_eq(growth_of(&r).share, 0);
}
END_TEST

/* ---- real traces ------------------------------------------------------------------------- */

static void read_trace(profile *p, const char *name) {
    char path[4096];
    memtrace_reader *reader;
    memtrace_error error;
    snprintf(path, sizeof path, "%s/traces/%s.ctf", test_data(), name);
    ck_assert_int_eq(memtrace_reader_open(path, NULL, &reader, &error), MEMTRACE_OK);
    *p = (profile){.duration = 0};
    ck_assert_int_eq(profile_read(p, reader, &(profile_options){.keep_blocks = true}), MEMTRACE_OK);
    memtrace_reader_close(reader);
}

static uint64_t samples_kept(const profile *p, const char *text) {
    filter *f;
    filter_error error;
    selection s;
    uint64_t sum = 0;
    ck_assert_msg(filter_parse(text, &f, &error), "%s: %s", text, error.reason);
    ck_assert(filter_select(f, p, &s));
    for (size_t i = 0; i < p->table.count; i++)
        sum += s.kept[i] ? blocks_samples(&p->table, i) : 0;
    selection_free(&s);
    filter_free(f);
    return sum;
}

static void check_item(const profile *p, const advice_list *a, const advice *item) {
    uint64_t samples = 0;
    for (uint32_t i = 0; i < item->n_places; i++) {
        samples += a->places.items[item->first_place + i].cost.samples;
        ck_assert(i == 0 || a->places.items[item->first_place + i].cost.samples <=
                                a->places.items[item->first_place + i - 1].cost.samples);
    }
    ck_assert_uint_eq(samples, item->cost.samples);
    const uint64_t kept = samples_kept(p, item->filter);
    ck_assert_msg(kept >= item->cost.samples, "%s keeps %lu of %lu", item->filter,
                  (unsigned long)kept, (unsigned long)item->cost.samples);
    ck_assert(item->blocks.min_words <= item->blocks.words);
    ck_assert(item->blocks.words <= item->blocks.max_words);
    ck_assert(item->rule || !item->worth);
    ck_assert(item->few == (item->cost.samples < ADVISE_SAMPLES));
    ck_assert(item->gain >= 0 && item->gain <= 1);
}

/* With all that there is, every sample is in one item; and in each the parts make the whole. */
static void check_all(const char *name, const char *text, double min_share) {
    profile p;
    query_result q;
    advice_list a;
    filter *f;
    filter_error error;
    read_trace(&p, name);
    ck_assert_msg(filter_parse(text, &f, &error), "%s: %s", text, error.reason);
    ck_assert(query_run(&q, &p, &(query_spec){.keep_rows = true, .filter = f}));
    ck_assert(advise_query(&q, min_share, &a));
    uint64_t samples = 0;
    for (size_t i = 0; i < a.items.count; i++) {
        check_item(&p, &a, &a.items.items[i]);
        samples += a.items.items[i].cost.samples;
        ck_assert(100 * a.items.items[i].cost.weight / q.total.weight >= min_share);
        ck_assert(i == 0 || a.items.items[i].cost.weight <= a.items.items[i - 1].cost.weight);
    }
    if (min_share > 0)
        ck_assert_uint_le(samples, q.total.samples);
    else
        ck_assert_uint_eq(samples, q.total.samples);
    ck_assert_uint_gt(a.items.count, 0);
    ck_assert(a.largest.cost.samples >= a.items.items[0].cost.samples || a.items.items[0].spreads);
    advise_free(&a);
    query_free(&q);
    filter_free(f);
    profile_free(&p);
}

/* Stacks that a filter cuts or folds have nodes of their own, which can be more than the tree's. */
START_TEST(advice_adds_up) {
    static const struct {
        const char *name, *filter;
        double min_share;
    } runs[] = {{"ocamlopt", "", 0},
                {"ocamlopt", "", 1},
                {"irmin-replay", "", 0},
                {"irmin-replay", "", 2},
                {"ocamlopt", "recursion:*", 0},
                {"irmin-replay", "recursion:*", 0}};
    check_all(runs[_i].name, runs[_i].filter, runs[_i].min_share);
}
END_TEST

/* Of one function by two ways, of several sizes each: they are tallied together. */
START_TEST(blocks_of_all_stacks_are_tallied) {
    tape t;
    profile p;
    query_result q;
    advice_list a;
    static const uint64_t words[][2] = {{20, 300}, {10, 40}, {10, 20}, {3, 10}, {40, 4}};
    tape_start(&t, 1);
    for (size_t i = 0; i < 5; i++) {
        allocate(&t, 10 * i, MEMTRACE_MINOR, words[i][0], words[i][0] + 1, STACK(MAIN, PARSE));
        const uint64_t id = allocate(&t, 10 * i + 1, MEMTRACE_MINOR, words[i][1], words[i][1] + 1,
                                     STACK(MAIN, EVAL, PARSE));
        if (i < 2)
            ck_assert_int_eq(memtrace_stream_collect(t.streams[0], 10 * i + 2, id), MEMTRACE_OK);
    }
    tape_read_blocks(&t, &p, false);
    ck_assert(query_run(&q, &p, &(query_spec){.keep_rows = true}));
    ck_assert(advise_query(&q, 0, &a));
    ck_assert_uint_eq(a.items.count, 1);
    const advise_blocks *b = &a.items.items[0].blocks;
    ck_assert_uint_eq(b->sizes, 6); /* 3, 4, 10, 20, 40, 300 */
    ck_assert_uint_eq(b->min_words, 3);
    ck_assert_uint_eq(b->max_words, 300);
    ck_assert_uint_eq(b->words, 300);
    ck_assert_double_eq_tol(b->one_size, 100 * 301 / 467., 1e-9);
    ck_assert_double_eq(b->number.value, 10);
    ck_assert_double_eq_tol(b->young, 100 * (301 + 41) / 467., 1e-9);
    ck_assert_double_eq_tol(b->brief, b->young, 1e-9);
    ck_assert_double_eq_tol(b->alive, 100 - b->young, 1e-9);
    ck_assert_double_eq(b->promoted, 0);
    advise_free(&a);
    query_free(&q);
    profile_free(&p);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("advise");
    TCase *t = tcase_create("advise");
    tcase_add_test(t, return_types_are_passed_over);
    tcase_add_test(t, copies_are_told_from_other_functions);
    tcase_add_test(t, names_are_in_their_sets);
    tcase_add_test(t, files_of_the_library);
    tcase_add_test(t, rules_are_whole);
    tcase_add_test(t, a_chain_grows);
    tcase_add_test(t, what_only_follows_does_not_grow);
    tcase_add_test(t, a_successor_counts_once);
    tcase_add_test(t, nothing_does_not_grow);
    tcase_add_test(t, blocks_of_all_stacks_are_tallied);
    tcase_add_loop_test(t, advice_adds_up, 0, 6);
    tcase_set_timeout(t, 120);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
