/* Tests of src/symbolize: the parts that need no program to look at. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/allocator_frames.h"
#include "symbolize/elf_file.h"
#include "symbolize/names.h"
#include "symbolize/perf_map.h"
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

START_TEST(ocaml_symbols_become_names) {
    static const char *const cases[][3] = {
        {"camlLexstate__save_lexstate_613", "Lexstate.save_lexstate", "Lexstate.save_lexstate_613"},
        {"camlLexstate.save_lexstate_613", "Lexstate.save_lexstate", "Lexstate.save_lexstate_613"},
        {"camlStdlib__List__map_12", "Stdlib__List.map", "Stdlib__List.map_12"},
        {"camlStdlib__List.map_12", "Stdlib__List.map", "Stdlib__List.map_12"},
        {"camlA.Inner.f_2_7", "A.Inner.f_2", "A.Inner.f_2_7"},
        {"camlDune__exe__Main__fun_600", "Dune__exe__Main.fun_600", "Dune__exe__Main.fun_600"},
        {"camlMain.fun_600", "Main.fun_600", "Main.fun_600"},
        {"camlStdlib__$5e$40_444", "Stdlib.(^@)", "Stdlib.(^@)_444"},
        {"camlStdlib.$40_196", "Stdlib.(@)", "Stdlib.(@)_196"},
        {"camlNest___prime$27_227", "Nest._prime'", "Nest._prime'_227"},
        {"camlNest__F_214", "Nest.F", "Nest.F_214"},
        {"camlNest__entry", "Nest", "Nest"},
        {"camlStdlib__List.entry", "Stdlib__List", "Stdlib__List"},
        {"camlNest", NULL, NULL},
        {"camlNest__", NULL, NULL},
        {"camlNest__code_begin", NULL, NULL},
        {"caml_alloc_12", NULL, NULL},
        {"camlidl_malloc_1", NULL, NULL},
        {"camlCase(int)::f_1", NULL, NULL},
        {"_ZN4camlE", NULL, NULL},
    };
    intern_table strings = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *symbol = cases[i][0];
        ck_assert_int_eq(name_is_ocaml(symbol), cases[i][1] != NULL);
        for (int numbered = 0; numbered < 2; numbered++) {
            const char *want = cases[i][1 + numbered];
            ck_assert_str_eq(name_ocaml(&strings, symbol, numbered), want ? want : symbol);
        }
    }
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

/* ---- maps of code made at run time --------------------------------------------------------- */

enum { RECORDED_AT = 2000000 }; /* seconds since the epoch */

static char map_path[64], other_path[] = "/tmp/test-symbolize.XXXXXX";

/* Where this process's map belongs; nothing is there yet. */
static void map_begin(void) {
    snprintf(map_path, sizeof map_path, "/tmp/perf-%d.map", (int)getpid());
    int fd = mkstemp(other_path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    unlink(map_path);
}

static void map_remove(void) {
    unlink(map_path);
    unlink(other_path);
}

static void map_changed(const char *path, time_t seconds, long nanoseconds) {
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                      {.tv_sec = seconds, .tv_nsec = nanoseconds}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void map_write(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
    map_changed(path, RECORDED_AT, 0);
}

/* Whether the map is believed. */
static bool map_is_read(void) {
    perf_map map;
    memtrace_location found;
    ck_assert(perf_map_read(&map, (uint64_t)getpid(), RECORDED_AT * UINT64_C(1000000)));
    bool is_read = perf_map_find(&map, 0x1008, &found);
    if (is_read)
        ck_assert_str_eq(found.function, "f");
    perf_map_free(&map);
    return is_read;
}

START_TEST(a_map_is_a_file_and_no_link) {
    ck_assert(!map_is_read());
    map_write(other_path, "1000 10 f\n");
    ck_assert_int_eq(symlink(other_path, map_path), 0);
    ck_assert(!map_is_read());
    unlink(map_path);
    ck_assert_int_eq(mkfifo(map_path, 0600), 0);
    map_changed(map_path, RECORDED_AT, 0);
    ck_assert(!map_is_read()); /* and nobody waits for a writer */
    unlink(map_path);
    ck_assert_int_eq(rename(other_path, map_path), 0);
    ck_assert(map_is_read());
}
END_TEST

START_TEST(a_map_of_somebody_else_is_not_read) {
    map_write(map_path, "1000 10 f\n");
    if (geteuid() == 0) { /* others can give no file away */
        ck_assert_int_eq(chown(map_path, 1, (gid_t)-1), 0);
        ck_assert(!map_is_read());
        ck_assert_int_eq(chown(map_path, 0, (gid_t)-1), 0);
        ck_assert_int_eq(seteuid(1), 0);
        ck_assert(map_is_read()); /* root's is believed */
        ck_assert_int_eq(seteuid(0), 0);
    }
    ck_assert(map_is_read());
}
END_TEST

START_TEST(a_map_from_before_the_recording_is_not_read) {
    map_write(map_path, "1000 10 f\n");
    map_changed(map_path, RECORDED_AT - 1, 999999000);
    ck_assert(!map_is_read());
    map_changed(map_path, RECORDED_AT, 0);
    ck_assert(map_is_read());
}
END_TEST

/* What is of no use in a map does no harm, and of several lines the last one is right. */
START_TEST(the_last_line_of_an_address_is_right) {
    enum { LINES = 300, LIMIT = 1000 };
    unsigned seed = 1, starts[LINES], sizes[LINES];
    for (int round = 0; round < 20; round++) {
        char text[LINES * 24], *end = text;
        for (unsigned i = 0; i < LINES; i++) {
            starts[i] = (seed = seed * 1103515245 + 12345) >> 8 & 511;
            sizes[i] = (seed = seed * 1103515245 + 12345) >> 8 & 127;
            end += snprintf(end, (size_t)(text + sizeof text - end), "%x %x f%u\n%s", starts[i],
                            sizes[i], i, i % 9 ? "" : "junk\n");
        }
        map_write(map_path, text);
        perf_map map;
        ck_assert(perf_map_read(&map, (uint64_t)getpid(), 0));
        for (unsigned x = 0; x < LIMIT; x++) {
            char expected[16] = "";
            memtrace_location found = {.function = ""};
            for (unsigned i = 0; i < LINES; i++)
                if (x >= starts[i] && x < starts[i] + sizes[i])
                    snprintf(expected, sizeof expected, "f%u", i);
            ck_assert_int_eq(perf_map_find(&map, x, &found), *expected != '\0');
            ck_assert_str_eq(found.function, expected);
        }
        perf_map_free(&map);
    }
}
END_TEST

/* ---- symbols ----------------------------------------------------------------------------- */

typedef struct tiny_symbol {
    const char *name;
    uint64_t start, size;
} tiny_symbol;

enum { TINY_SYMBOLS = 8 };

/* An ELF file of nothing but symbols. */
typedef struct tiny_elf {
    Elf64_Ehdr head;
    Elf64_Shdr sections[3]; /* none, the symbols, their names */
    Elf64_Sym symbols[TINY_SYMBOLS];
    char names[TINY_SYMBOLS * 16];
} tiny_elf;

static void open_tiny(elf_file *file, const tiny_symbol *symbols) {
    const unsigned char order =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    tiny_elf elf = {
        .head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, order, EV_CURRENT},
                 .e_type = ET_DYN,
                 .e_version = EV_CURRENT,
                 .e_shoff = offsetof(tiny_elf, sections),
                 .e_ehsize = sizeof elf.head,
                 .e_shentsize = sizeof *elf.sections,
                 .e_shnum = 3,
                 .e_shstrndx = 2},
        .sections = {[1] = {.sh_type = SHT_SYMTAB,
                            .sh_link = 2,
                            .sh_offset = offsetof(tiny_elf, symbols),
                            .sh_size = sizeof elf.symbols,
                            .sh_entsize = sizeof *elf.symbols},
                     [2] = {.sh_type = SHT_STRTAB,
                            .sh_offset = offsetof(tiny_elf, names),
                            .sh_size = sizeof elf.names}},
    };
    for (unsigned i = 0; i < TINY_SYMBOLS && symbols[i].name; i++) {
        snprintf(elf.names + 16 * i, 16, "%s", symbols[i].name);
        elf.symbols[i] = (Elf64_Sym){.st_name = 16 * i,
                                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                     .st_shndx = 1,
                                     .st_value = symbols[i].start,
                                     .st_size = symbols[i].size};
    }
    int fd = memfd_create("tiny", MFD_CLOEXEC);
    ck_assert_int_eq(write(fd, &elf, sizeof elf), sizeof elf);
    ck_assert_int_eq(elf_file_open_fd(file, fd), 0);
}

START_TEST(symbols_are_found_where_they_nest) {
    static const tiny_symbol all[TINY_SYMBOLS] = {
        {"inner", 0x1100, 0x100},     {"outer", 0x1000, 0x1000},       {"second", 0x1300, 0x10},
        {"short_name", 0x3000, 0x10}, {"__long_reach", 0x3000, 0x100}, {"sizeless", 0x4000, 0},
        {"last", 0x5000, 0x10}};
    static const struct {
        uint64_t address;
        const char *name;
    } expected[] = {
        {0xFFF, NULL},     {0x1000, "outer"},    {0x1100, "inner"},      {0x11FF, "inner"},
        {0x1200, "outer"}, {0x1305, "second"},   {0x1310, "outer"},      {0x1FFF, "outer"},
        {0x2000, NULL},    {0x2FFF, NULL},       {0x300F, "short_name"}, {0x30FF, "short_name"},
        {0x3100, NULL},    {0x4800, "sizeless"}, {0x500F, "last"},       {0x5010, NULL},
    };
    elf_file file, none = ELF_FILE_CLOSED;
    open_tiny(&file, all);
    elf_symbols *symbols = elf_symbols_read(&file, &none);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const char *name = elf_symbols_find(symbols, expected[i].address, NULL);
        ck_assert_pstr_eq(name, expected[i].name);
    }
    elf_symbols_free(symbols);
    elf_file_close(&file);
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
    tcase_add_test(t, ocaml_symbols_become_names);
    tcase_add_test(t, allocators_are_told_from_who_allocates);
    tcase_add_test(t, build_ids_are_parsed_and_printed);
    tcase_add_test(t, symbols_are_found_where_they_nest);
    suite_add_tcase(s, t);
    TCase *maps = tcase_create("maps");
    tcase_add_checked_fixture(maps, map_begin, map_remove);
    tcase_add_test(maps, a_map_is_a_file_and_no_link);
    tcase_add_test(maps, a_map_of_somebody_else_is_not_read);
    tcase_add_test(maps, a_map_from_before_the_recording_is_not_read);
    tcase_add_test(maps, the_last_line_of_an_address_is_right);
    suite_add_tcase(s, maps);
    return s;
}

UNIT_MAIN(suite)
