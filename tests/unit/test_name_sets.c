/* test_name_sets.c: names with and without their C++ decoration, and the sets that they are in. */
#include "query/name_sets.h"
#include "unit.h"

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

static Suite *suite(void) {
    Suite *s = suite_create("name_sets");
    TCase *t = tcase_create("name_sets");
    tcase_add_test(t, return_types_are_passed_over);
    tcase_add_test(t, copies_are_told_from_other_functions);
    tcase_add_test(t, names_are_in_their_sets);
    tcase_add_test(t, files_of_the_library);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
