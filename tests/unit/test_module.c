/* Tests of modules: what a place belongs to, and who allocates. */
#include <string.h>

#include "query/module.h"
#include "unit.h"

static void check_module(const char *file, const char *function, const char *wanted) {
    intern_table names = {0};
    const profile_location place = {.file = file, .function = function};
    const char *found = module_name_of(&names, &place);
    ck_assert_ptr_nonnull(found);
    if (strcmp(found, wanted) != 0)
        ck_abort_msg("%s %s: %s, not %s", file, function, found, wanted);
    ck_assert_ptr_eq(module_name_of(&names, &place), found); /* the same copy */
    intern_free(&names);
}

START_TEST(of_machine_code) {
    check_module("/usr/lib/x86_64-linux-gnu/libc.so.6[ab12]", "malloc", "libc");
    check_module("/lib/libstdc++.so.6.0.30", "f", "libstdc++");
    check_module("/lib/libcrypt.so.1", "f", "libcrypt.so.1");
    check_module("/usr/bin/perl[1a]", "Perl_sv_grow", "perl");
    check_module("/opt/a+b/prog", "f", "prog");
    check_module("/usr/lib/libz.so", "f", "libz.so");
    check_module("", "", "");
}
END_TEST

START_TEST(of_libraries) {
    check_module("./csu/../csu/libc-start.c", "f", "libc");
    check_module("../sysdeps/nptl/libc_start_call_main.h", "f", "libc");
    check_module("./nptl/pthread_create.c", "f", "libc");
    check_module("./malloc/malloc.c", "f", "libc");
    check_module("malloc/malloc.c", "f", "libc");
    check_module("posix/fnmatch_loop.c", "ext_wmatch", "libc");
    check_module("./posix/sched_cpualloc.c", "f", "libc");
    check_module("malloc/pool.c", "f", "malloc"); /* of the program, as are the next */
    check_module("posix/main.c", "f", "posix");
    check_module("src/csu/main.c", "f", "csu");
    check_module("/usr/include/c++/12/bits/stl_vector.h", "f", "libstdc++");
    check_module("/usr/lib/llvm-14/include/c++/v1/vector", "f", "libc++");
    check_module("/usr/lib/llvm-14/include/c++/v1/vector.h", "f", "libc++");
    check_module("/rustc/90b35a6/library/alloc/src/raw_vec.rs", "f", "alloc");
}
END_TEST

START_TEST(of_cpython) {
    check_module("/tmp/Python-3.11.7/Modules/_sqlite/cursor.c", "f", "cpython");
    check_module("./build-static/../Objects/dictobject.c", "f", "cpython");
    check_module("/home/me/cpython/Python/ceval.c", "f", "cpython");
    check_module("/home/me/game/Objects/tree.c", "f", "Objects"); /* of the program */
    check_module("/usr/lib/python3.11/threading.py", "run", "python3.11");
    check_module("Objects/tree.c", "f", "Objects");
}
END_TEST

START_TEST(of_sources) {
    check_module("src/core/lwt.ml", "Lwt.bind", "core");
    check_module("/home/me/.cargo/registry/src/index/serde-1.0.1/src/de/mod.rs", "f", "de");
    check_module("/home/me/.cargo/registry/src/index/serde-1.0.1/src/de.rs", "f", "serde-1.0.1");
    check_module("/usr/include/boost/asio/detail/impl/x.hpp", "f", "asio");
    check_module("src/main.c", "main", "src");
    check_module("lib/x.c", "f", "lib");
    check_module("main.c", "main", "main.c");
}
END_TEST

START_TEST(of_ocaml_names) {
    check_module("map.ml", "Stdlib__Map.Make.bal", "Stdlib");
    check_module("stdlib.ml", "Stdlib.(^)", "Stdlib");
    check_module("main.ml", "main", "main.ml");
    check_module("list.ml", "Stdlib__list.iter", "Stdlib");
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("module");
    TCase *t = tcase_create("module");
    tcase_add_test(t, of_machine_code);
    tcase_add_test(t, of_libraries);
    tcase_add_test(t, of_cpython);
    tcase_add_test(t, of_sources);
    tcase_add_test(t, of_ocaml_names);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
