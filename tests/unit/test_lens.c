/* Tests of how queries see call stacks: which functions are taken for wrappers of the allocator,
 * and where a block was allocated if they are passed over. */
#include "hotspots_fixture.h"
#include "query/wrappers.h"
#include "tape.h"
#include "unit.h"

static const char *const wrappers[] = {
    "malloc",
    "xmalloc",
    "xcalloc",
    "x_malloc",
    "xstrdup",
    "xmemdup",
    "g_malloc",
    "g_malloc0_n",
    "g_try_realloc",
    "g_strndup",
    "jv_mem_alloc",
    "jv_mem_calloc",
    "PyMem_RawMalloc",
    "_PyObject_Malloc",
    "_PyMem_DebugRawAlloc",
    "sqlite3DbMallocRaw",
    "sqlite3Malloc",
    "sqlite3_malloc64",
    "Perl_safesysmalloc",
    "safemalloc",
    "git__malloc",
    "do_xmalloc",
    "xmallocarray",
    "CRYPTO_zalloc",
    "xmlMallocLoc",
    "alloc",
    "allocate",
    "mem_allocate",
    "reallocate",
    "aligned_alloc",
    "mem_alloc",
    "av_malloc_array",
    "xzalloc",
    "malloc_or_die",
    "memalign",
    "xvasprintf",
    "kmalloc",
    "xmallocz",
    "do_xmallocz",
    "xmallocz_gently",
    "xmemdupz",
    "zmalloc",
    "zcalloc",
    "zrealloc",
    "zstrdup",
    "zmalloc_usable",
    "zcalloc_num",
    "ztrymalloc_usable_internal",
    "ztryrealloc_usable",
    "RM_Alloc",
    "repalloc",
    "repalloc_huge",
    "pnstrdup",
    "palloc_extended",
    "MemoryContextAllocZero",
    "AllocSetAlloc",
    "sqlite3DbStrDup",
    "sqlite3DbStrNDup",
    "sqlite3DbReallocOrFree",
    "dbMallocRawFinish",
    "mallocWithAlarm",
    "sqlite3Fts5Strndup",
    "luaM_malloc_",
    "l_alloc",
    "lalloc",
    "av_mallocz",
    "bfd_realloc_or_free",
    "xnmalloc",
    "x2nrealloc",
    "g_strdup_printf",
    "g_slice_alloc",
    "ossl_realloc_array",
    "os::malloc(unsigned long, MEMFLAGS, NativeCallStack const&)",
    "os::realloc(void*, unsigned long, MEMFLAGS)",
    "std::malloc",
    "WTF::Memory::xmalloc(unsigned long)",
    "llvm::safe_malloc(unsigned long)",
    "(anonymous namespace)::checked_calloc(unsigned long, unsigned long)",
    "xmalloc(unsigned long)",
    "Node::operator new(unsigned long)",
    "(anonymous namespace)::Node::operator new",
    "ns::Pool<int>::operator new[](unsigned long)",
    "ns::Pool<(void*)0, std::less<int> >::operator new(unsigned long, std::align_val_t)",
    "void* Node::operator new<Arena>(unsigned long, Arena&)",
};

static const char *const sites[] = {
    "main",
    "jvp_array_alloc",
    "jv_string_sized",
    "node_new",
    "table_realloc",
    "buffer_realloc",
    "list_resize",
    "PyUnicode_New",
    "vector<int>::alloc",
    "vector<int>::malloc(int)",
    "Pool::allocate(unsigned long)",
    "arena::alloc(unsigned long)",
    "String::realloc(unsigned int)",
    "string::table_realloc(int)",
    "Parser::next(char (*)(malloc))",
    "std::function<void* (unsigned long)>::malloc",
    "::",
    "os::",
    "os:malloc",
    "(anonymous namespace)::",
    "(malloc)",
    "malloc_stats",
    "my_object_alloc_slot",
    "alloc_node",
    "test_malloc",
    "worker_malloc",
    "read_malloc",
    "preallocate",
    "sqlite3ExprDup",
    "sqlite3ExprListDup",
    "strbuf_dup",
    "objectDup",
    "AllocSetContextCreateInternal",
    "sdsnewlen",
    "robj_dup",
    "pcache1AllocPage",
    "allocateObject",
    "pool_allocate",
    "PyType_GenericAlloc",
    "strbuf_grow",
    "inflateInit2_",
    "libjq.so.1+0x1bd87",
    "",
    "___",
    "tree_node_malloc",
    "mallocator",
    "small_malloc_test_of_everything_there_is",
    "operator new",
    "operator new(unsigned long)",
    "Type::operator new_thing()",
    "Node::operator new(unsigned long)::Local::make()",
    "void make<&Node::operator new>()",
    "apply(Node::operator new(unsigned long))",
    "Node::operator delete(void*)",
};

START_TEST(names_that_merely_allocate) {
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        ck_assert_msg(wrapper_name(wrappers[i]), "%s is a wrapper", wrappers[i]);
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
        ck_assert_msg(!wrapper_name(sites[i]), "%s is no wrapper", sites[i]);
}
END_TEST

static void check_site(const hotspots *h, size_t i, const char *function, const char *type,
                       uint64_t samples) {
    ck_assert_uint_lt(i, h->sites.count);
    const hotspots_entry *e = &h->sites.items[i].entry;
    if (function)
        ck_assert_str_eq(e->place->function, function);
    if (type)
        ck_assert_str_eq(e->type, type);
    ck_assert_uint_eq(e->cost.samples, samples);
}

START_TEST(external_blocks_belong_to_the_caller_of_the_wrapper) {
    tape t;
    profile p;
    hotspots h;
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_EXTERNAL, 9, 8, STACK(MAIN, LEAF, XMALLOC));
    allocate(&t, 2, MEMTRACE_EXTERNAL, 9, 4, STACK(MAIN, PARSE, XMALLOC, MALLOC_WITHIN));
    allocate(&t, 3, MEMTRACE_MINOR, 9, 2, STACK(MAIN, XMALLOC)); /* of a heap: as it is */
    allocate(&t, 4, MEMTRACE_EXTERNAL, 9, 1, STACK(XMALLOC, MALLOC_WITHIN)); /* nothing else */
    tape_read(&t, &p, false);
    ck_assert(hotspots_of_all(&p, HOTSPOTS_BY_LINE, &h));
    ck_assert_uint_eq(h.sites.count, 3);
    check_site(&h, 0, "leaf", NULL, 8);
    check_site(&h, 1, "parse", NULL, 4);
    check_site(&h, 2, "xmalloc", NULL, 3);
    ck_assert_str_eq(h.callers.items[h.sites.items[0].first_caller].place->function, "main");
    ck_assert_uint_eq(h.wrappers.count, 1);
    ck_assert_str_eq(h.wrappers.items[0].place->function, "xmalloc");
    ck_assert_uint_eq(h.wrappers.items[0].cost.samples, 12);
    hotspots_free(&h);
    profile_free(&p);
}
END_TEST

START_TEST(an_unnamed_function_outside_a_wrapper_is_a_site) {
    tape t;
    profile p;
    hotspots h;
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_EXTERNAL, 9, 2, STACK(MAIN, MALLOC_WITHIN, XMALLOC));
    allocate(&t, 2, MEMTRACE_EXTERNAL, 9, 1, STACK(XMALLOC, LEAF, MALLOC_WITHIN));
    tape_read(&t, &p, false);
    ck_assert(hotspots_of_all(&p, HOTSPOTS_BY_LINE, &h));
    ck_assert_uint_eq(h.sites.count, 1);
    check_site(&h, 0, "x.so+0x10", NULL, 3);
    hotspots_free(&h);
    profile_free(&p);
}
END_TEST

START_TEST(the_wrapper_is_the_type_unless_a_runtime_said_better) {
    tape t;
    profile p;
    hotspots h;
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_EXTERNAL, 9, 2, STACK(MAIN, LEAF, XMALLOC));
    allocate(&t, 2, MEMTRACE_EXTERNAL, 9, 1, STACK(MAIN, LEAF, GUEST_ARRAY));
    tape_read(&t, &p, false);
    ck_assert(hotspots_of_all(&p, HOTSPOTS_BY_TYPE, &h));
    ck_assert_uint_eq(h.sites.count, 2);
    check_site(&h, 0, NULL, "xmalloc", 2);
    check_site(&h, 1, NULL, "LoxArray", 1);
    hotspots_free(&h);
    profile_free(&p);
}
END_TEST

START_TEST(a_lens_that_shows_wrappers_sees_them_as_sites) {
    tape t;
    profile p;
    hotspots h;
    query_result q;
    tape_start(&t, 0.5);
    allocate(&t, 1, MEMTRACE_EXTERNAL, 9, 2, STACK(MAIN, LEAF, XMALLOC));
    tape_read(&t, &p, false);
    ck_assert(query_run(&q, &p, &(query_spec){.show_wrappers = true}));
    ck_assert(hotspots_query(&q, HOTSPOTS_BY_LINE, &h));
    check_site(&h, 0, "xmalloc", NULL, 2);
    ck_assert_uint_eq(h.wrappers.count, 0);
    hotspots_free(&h);
    query_free(&q);
    profile_free(&p);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("lens");
    TCase *t = tcase_create("lens");
    tcase_add_test(t, names_that_merely_allocate);
    tcase_add_test(t, external_blocks_belong_to_the_caller_of_the_wrapper);
    tcase_add_test(t, an_unnamed_function_outside_a_wrapper_is_a_site);
    tcase_add_test(t, the_wrapper_is_the_type_unless_a_runtime_said_better);
    tcase_add_test(t, a_lens_that_shows_wrappers_sees_them_as_sites);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
