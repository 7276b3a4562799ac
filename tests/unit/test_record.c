/* Tests of src/record: what can be tested outside a program that is being recorded. The rest is in
 * tests/native. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "contract/settings.h"
#include "contract/trace_name.h"
#include "platform/pages.h"
#include "record/code.h"
#include "record/config.h"
#include "record/ids.h"
#include "record/memory.h"
#include "record/regions.h"
#include "record/sink.h"
#include "record/text.h"
#include "trace/format.h"
#include "unit.h"

START_TEST(text_is_cut_off_and_terminated) {
    char buffer[8];
    text t = text_in(buffer, sizeof buffer);
    text_add(&t, "abc");
    text_add_number(&t, 0, 10);
    ck_assert_str_eq(buffer, "abc0");
    text_add_number(&t, UINT64_MAX, 16);
    ck_assert_str_eq(buffer, "abc0fff");
    ck_assert_uint_eq(text_size(&t), 7);
}
END_TEST

START_TEST(numbers_are_read_like_strtod_does) {
    const char *good[] = {"1",    "1e-5",    "0.00001", "1E-5",  ".5",
                          "5.",   "1e+0",    "0.1",     "1e-22", "0.123456789012345",
                          "3e-4", "000.001", "0",       "2",     "12.5e-1"};
    const char *bad[] = {"",     ".",    "e5",    "1e",  "1e-23",  "-1",  " 1", "1 ",
                         "1..2", "1.2.", "1e1.5", "nan", "0x1p-3", "inf", "1,5"};
    double number;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(config_parse_number(good[i], &number), "%s", good[i]);
        ck_assert_double_eq(number, strtod(good[i], NULL));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!config_parse_number(bad[i], &number), "%s", bad[i]);
}
END_TEST

static const char *values[N_SETTINGS];

static char *get(const char *name) {
    for (int i = 0; i < N_SETTINGS; i++)
        if (strcmp(name, setting_infos[i].name) == 0)
            return (char *)values[i];
    return NULL;
}

START_TEST(settings_have_defaults_and_are_checked) {
    config c;
    int bad = -1;
    char path[PATH_MAX];
    ck_assert_int_eq(config_read(&c, get, &bad), CONFIG_OFF);
    values[SETTING_FILE] = "/x/100%%-%p.ctf";
    ck_assert_int_eq(config_read(&c, get, &bad), CONFIG_ON);
    ck_assert_double_eq(c.rate, 1e-5);
    ck_assert_uint_eq(c.depth, 256);
    ck_assert_uint_eq(c.runtime_depths[RUNTIME_OCAML], 128);
    ck_assert_int_eq(c.heaps[RUNTIME_OCAML], CONFIG_HEAP);
    ck_assert_str_eq(c.context, "");
    ck_assert(!c.seeded && c.per_process);
    ck_assert(config_file_for(&c, 42, path, sizeof path));
    ck_assert_str_eq(path, "/x/100%-42.ctf");
    ck_assert(!config_file_for(&c, 42, path, 8));
    values[SETTING_DEPTH] = "4097";
    ck_assert_int_eq(config_read(&c, get, &bad), CONFIG_BAD);
    ck_assert_int_eq(bad, SETTING_DEPTH);
    values[SETTING_DEPTH] = "4096";
    values[SETTING_OCAML] = "both";
    ck_assert_int_eq(config_read(&c, get, &bad), CONFIG_ON);
    ck_assert_uint_eq(c.runtime_depths[RUNTIME_OCAML], 4096);
    ck_assert_int_eq(c.heaps[RUNTIME_OCAML], CONFIG_BOTH);
    values[SETTING_OCAML] = "no";
    ck_assert_int_eq(config_read(&c, get, &bad), CONFIG_BAD);
    ck_assert_int_eq(bad, SETTING_OCAML);
    values[SETTING_OCAML] = "malloc";
    values[SETTING_ROOM] = "1";
    ck_assert_int_eq(config_read(&c, get, &bad), CONFIG_ON);
    ck_assert(c.room && !c.mmap);
    values[SETTING_ROOM] = "2";
    ck_assert_int_eq(config_read(&c, get, &bad), CONFIG_BAD);
    ck_assert_int_eq(bad, SETTING_ROOM);
    values[SETTING_ROOM] = "0";
    values[SETTING_FILE] = "/x/%d.ctf";
    ck_assert_int_eq(config_read(&c, get, &bad), CONFIG_BAD);
    ck_assert_int_eq(bad, SETTING_FILE);
}
END_TEST

START_TEST(memory_pieces_do_not_overlap_and_are_recycled) {
    memory m = {0};
    enum { N = 400 };
    unsigned char *pieces[N];
    size_t sizes[N];
    for (size_t i = 0; i < N; i++) {
        sizes[i] = i * i + 1; /* up to 160,000: small ones and mappings */
        pieces[i] = memory_alloc(&m, sizes[i]);
        ck_assert_uint_eq((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], (int)(i & 255), sizes[i]);
    }
    for (size_t i = 0; i < N; i++) {
        pieces[i] = memory_realloc(&m, pieces[i], sizes[i], 2 * sizes[i]);
        size_t j = 0;
        while (j < sizes[i] && pieces[i][j] == (i & 255))
            j++;
        ck_assert_uint_eq(j, sizes[i]);
    }
    void *piece = memory_alloc(&m, 5000);
    memory_free(&m, piece, 5000);
    ck_assert_ptr_eq(memory_alloc(&m, 4097), piece);
    ck_assert_ptr_null(memory_alloc(&m, (size_t)-100));
    for (size_t i = 0; i < N; i++)
        ck_assert_ptr_null(memory_realloc(&m, pieces[i], 2 * sizes[i], 0));
    memory_release(&m);
    ck_assert_ptr_null(m.regions);
}
END_TEST

static memory heap;
static code_table table = {.memory = &heap};
static code_cache cache;
static const char *const types[] = {"malloc", "operator new"};

START_TEST(codes_say_module_offset_and_type) {
    uintptr_t pc = (uintptr_t)strtod; /* in some library */
    code_cache_forget(&cache, code_epoch());
    uint64_t code = code_with_type(code_of(&table, &cache, pc), 2);
    memtrace_location places[4];
    ck_assert_uint_eq(code_without_type(code), code_of(&table, &cache, pc));
    ck_assert_uint_eq(code >> 62, 0);
    ck_assert_uint_eq(code_locate(&table, types, code, places, 4), 2);
    ck_assert_str_eq(places[0].file, "<type>");
    ck_assert_str_eq(places[0].function, "operator new");
    ck_assert_ptr_nonnull(strstr(places[1].file, "libc"));
    ck_assert_ptr_nonnull(strchr(places[1].file, '['));
    ck_assert_ptr_nonnull(strstr(places[1].function, "+0x"));
    ck_assert_uint_eq(code_locate(&table, types, code_of(&table, &cache, pc), places, 4), 1);
    ck_assert_uint_eq(code_locate(&table, types, code_of(&table, &cache, 0x12345), places, 4), 1);
    ck_assert_uint_eq(code_of(&table, &cache, (uintptr_t)0xBFF0000000000000), CODE_LOST);
    ck_assert_str_eq(places[0].file, "[JIT]");
    ck_assert_str_eq(places[0].function, "0x12345");
}
END_TEST

START_TEST(codes_stay_the_same_when_other_modules_go) {
    uintptr_t pc = (uintptr_t)strtod;
    uint64_t before = code_of(&table, &cache, pc);
    code_modules_changed();
    code_cache_forget(&cache, code_epoch());
    ck_assert_uint_eq(code_recall(&cache, pc), 0);
    ck_assert_uint_eq(code_of(&table, &cache, pc), before);
}
END_TEST

START_TEST(codes_of_marks_keep_their_text) {
    memtrace_location place;
    uint64_t code = code_of_mark(&table, "a moment");
    ck_assert_uint_eq(code_locate(&table, types, code, &place, 1), 1);
    ck_assert_str_eq(place.file, "<mark>");
    ck_assert_str_eq(place.function, "a moment");
    for (int i = 1; i < CODE_MAX_MARKS; i++) {
        char name[16];
        snprintf(name, sizeof name, "mark %d", i);
        ck_assert_uint_ne(code_of_mark(&table, name), 0);
    }
    ck_assert_uint_eq(code_of_mark(&table, "one too many"), 0);
    ck_assert_uint_eq(code_of_mark(&table, "a moment"), code);
}
END_TEST

static char folder[] = "/tmp/test_record.XXXXXX";
static char path[64];

static void make_folder(void) {
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/t", folder);
}

static void remove_folder(void) {
    unlink(path);
    rmdir(folder);
}

static off_t size_of(const char *file) {
    struct stat st;
    return stat(file, &st) == 0 ? st.st_size : -1;
}

/* Against a flag for each page of a small space. */
START_TEST(regions_are_those_that_were_added) {
    enum { PAGES = 512, ROUNDS = 20000 };
    memory m = {0};
    regions all = {.memory = &m};
    unsigned start_of[PAGES] = {0}; /* by page: the region that covers it starts there + 1 */
    uint64_t state = 1;
    for (int i = 0; i < ROUNDS; i++) {
        state = hash_u64(state + (uint64_t)i);
        uintptr_t from = state % PAGES, to = from + 1 + state / PAGES % 8;
        region found = {0};
        uintptr_t first = from;
        to = to < PAGES ? to : PAGES;
        while (first < to && start_of[first] == 0)
            first++;
        ck_assert(regions_find(&all, from, to, &found) == (first < to));
        if (first == to) {
            ck_assert(regions_add(&all, (region){.start = from, .end = to, .type = 3}));
            for (uintptr_t p = from; p < to; p++)
                start_of[p] = (unsigned)from + 1;
            continue;
        }
        ck_assert_uint_eq(found.start + 1, start_of[first]);
        ck_assert_uint_eq(found.type, 3);
        for (uintptr_t p = found.start; p < found.end; p++) {
            ck_assert_uint_eq(start_of[p], found.start + 1);
            start_of[p] = 0;
        }
        regions_remove(&all, found.start);
    }
    ck_assert(!regions_find(&all, 7, 7, &(region){0}));
    memory_release(&m);
}
END_TEST

START_TEST(sink_survives_the_loss_of_its_descriptor) {
    static sink s;
    int mine[2];
    ck_assert_int_eq(sink_open(&s, path, 7, false), 0);
    ck_assert_int_eq(sink_write(&s, "one ", 4), 0);
    mine[0] = s.fd;
    close(s.fd);
    mine[1] = open("/dev/null", O_RDWR); /* a small number: the old one is free */
    ck_assert_int_eq(dup2(mine[1], mine[0]), mine[0]);
    ck_assert_int_eq(sink_write(&s, "two ", 4), 0);
    ck_assert_int_ne(s.fd, mine[0]);
    ck_assert_int_eq(size_of(path), 8);
    unlink(path);
    close(s.fd);
    ck_assert_int_eq(sink_write(&s, "three", 5), ENOENT);
    ck_assert_int_eq(sink_write(&s, "four", 4), ENOENT);
}
END_TEST

START_TEST(sink_leaves_holes) {
    enum { HOLE = 1000000, TIMES = 3, ALL = 1 + TIMES * (HOLE + 2) };
    static sink s;
    static char bytes[ALL + 2];
    struct stat st;
    const struct rlimit one = {.rlim_cur = ALL + HOLE, .rlim_max = RLIM_INFINITY};
    ck_assert_int_eq(sink_open(&s, path, 7, false), 0);
    ck_assert_int_eq(sink_write(&s, "(", 1), 0);
    ck_assert_int_eq(sink_write_spread(&s, "ab", 2, HOLE, TIMES), 0);
    ck_assert_int_eq(sink_write(&s, ")", 1), 0); /* at the end, wherever that is */
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_size, ALL + 1);
    ck_assert_int_lt(st.st_blocks * 512, HOLE);
    const int fd = open(path, O_RDONLY);
    ck_assert_int_eq(read(fd, bytes, sizeof bytes), ALL + 1);
    close(fd);
    ck_assert_int_eq(bytes[0], '(');
    for (int i = 1; i < ALL; i += HOLE + 2) {
        ck_assert(bytes[i] == 0 && memcmp(bytes + i, bytes + i + 1, HOLE - 1) == 0);
        ck_assert(memcmp(bytes + i + HOLE, "ab", 2) == 0);
    }
    ck_assert_int_eq(bytes[ALL], ')');
    setrlimit(RLIMIT_FSIZE, &one); /* SIGXFSZ would end this process */
    ck_assert_int_eq(sink_write_spread(&s, "ab", 2, HOLE, TIMES), EFBIG);
    ck_assert_int_eq(size_of(path), ALL + 1);
    sink_close(&s);
}
END_TEST

START_TEST(sink_is_the_file_of_one_process_at_a_time) {
    static sink s, other;
    ck_assert_int_eq(sink_open(&s, path, 7, false), 0);
    ck_assert_int_eq(sink_write(&s, "mine", 4), 0);
    ck_assert_int_eq(sink_open(&other, path, 7, false), EWOULDBLOCK);
    ck_assert_int_eq(size_of(path), 4);
    sink_close(&s);
    ck_assert_int_eq(sink_open(&other, path, 7, false), 0);
    ck_assert_int_eq(size_of(path), 0);
    sink_close(&other);
}
END_TEST

START_TEST(sinks_of_two_processes_with_one_id_are_two_files) {
    static sink s, other;
    ck_assert_int_eq(sink_open(&s, path, 7, true), 0);
    ck_assert_int_eq(sink_write(&s, "mine", 4), 0);
    ck_assert_int_eq(sink_open(&other, path, 7, true), 0);
    ck_assert_str_ne(other.path, s.path);
    ck_assert_int_eq(sink_write(&other, "theirs", 6), 0);
    ck_assert_int_eq(size_of(path), 4);
    ck_assert_int_eq(size_of(other.path), 6);
    unlink(other.path);
    sink_close(&s);
    sink_close(&other);
}
END_TEST

/* The front of a trace's first packet. */
static void write_head(uint64_t pid) {
    static sink s;
    char head[FORMAT_HEADER_FRONT] = {0};
    memcpy(head + FORMAT_AT_MAGIC, &(uint32_t){FORMAT_MAGIC}, 4);
    memcpy(head + FORMAT_AT_PID, &pid, 8);
    ck_assert_int_eq(sink_open(&s, path, pid, false), 0);
    ck_assert_int_eq(size_of(path), 0);
    ck_assert_int_eq(sink_write(&s, head, sizeof head), 0);
    sink_close(&s);
}

START_TEST(sink_keeps_what_its_own_process_wrote_before) {
    static sink s;
    char first[PATH_MAX], second[PATH_MAX];
    ck_assert(trace_name_earlier(path, 1, first, sizeof first));
    ck_assert(trace_name_earlier(path, 2, second, sizeof second));
    write_head(7);
    write_head(7); /* the first has to give way */
    ck_assert_int_eq(size_of(first), FORMAT_HEADER_FRONT);
    ck_assert_int_eq(sink_open(&s, path, 7, false), 0);
    ck_assert_int_eq(size_of(second), FORMAT_HEADER_FRONT);
    ck_assert_int_eq(sink_write(&s, "no trace", 8), 0);
    sink_close(&s);
    write_head(8); /* in its place: that is no trace of this process */
    write_head(7); /* and nor is this */
    ck_assert(trace_name_earlier(path, 3, first, sizeof first));
    ck_assert_int_ne(access(first, F_OK), 0);
}
END_TEST

START_TEST(patterns_name_the_traces_of_processes) {
    static const struct {
        const char *pattern;
        uint64_t pid;
        const char *name;
    } names[] = {{"x.ctf", 7, "x.ctf"},
                 {"%p", 0, "0"},
                 {"100%%-%p.ctf", 42, "100%-42.ctf"},
                 {"%%p%p", UINT64_MAX, "%p18446744073709551615"}};
    char name[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t size = strlen(names[i].name) + 1;
        ck_assert(trace_name_is_pattern(names[i].pattern));
        ck_assert(trace_name_for(names[i].pattern, names[i].pid, name, size));
        ck_assert_str_eq(name, names[i].name);
        uint64_t pid = 7;
        ck_assert(trace_name_matches(names[i].pattern, name, &pid));
        ck_assert_uint_eq(pid, names[i].pid);
        for (size_t less = 0; less < size; less++)
            ck_assert(!trace_name_for(names[i].pattern, names[i].pid, name, less));
    }
    ck_assert(!trace_name_is_pattern(""));
    ck_assert(!trace_name_is_pattern("%p-%d.ctf"));
    ck_assert(!trace_name_is_pattern("%"));
    ck_assert(!trace_name_matches("x-%p.ctf", "x-.ctf", NULL));
    ck_assert(!trace_name_matches("x-%p.ctf", "x-1.ctf.zst", NULL));
    ck_assert(!trace_name_matches("x-%p.ctf", "x-1", NULL));
    ck_assert(!trace_name_matches("%%", "p", NULL));
    ck_assert(trace_name_is_per_process("100%%/x-%p.ctf"));
    ck_assert(!trace_name_is_per_process("x%%p.ctf"));
    ck_assert(!trace_name_is_per_process("x%"));
}
END_TEST

START_TEST(a_name_is_a_pattern_of_itself_alone) {
    static const char name[] = "%p/50%%-%d.ctf";
    char pattern[64], back[64];
    const size_t size = trace_name_pattern(name, pattern, sizeof pattern);
    ck_assert_uint_eq(size, strlen(pattern));
    ck_assert_str_eq(pattern, "%%p/50%%%%-%%d.ctf");
    ck_assert(trace_name_for(pattern, 7, back, sizeof back));
    ck_assert_str_eq(back, name);
    for (size_t room = 1; room <= size; room++) { /* what is cut off is a pattern, too */
        ck_assert_uint_lt(trace_name_pattern(name, pattern, room), room);
        ck_assert(room < 3 || trace_name_is_pattern(pattern));
    }
}
END_TEST

START_TEST(earlier_traces_have_names_of_the_same_kind) {
    static const struct {
        const char *path;
        unsigned n;
        const char *name;
    } names[] = {{"x.ctf", 1, "x.1.ctf"},
                 {"a.ctf/x.ctf.zst", 12, "a.ctf/x.12.ctf.zst"},
                 {"/a.ctf/trace", 999, "/a.ctf/trace.999"},
                 {"x.ctf.ctf.gz", 100, "x.ctf.100.ctf.gz"},
                 {".ctf", 2, ".2.ctf"}};
    char name[32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = strlen(names[i].name) + 1;
        ck_assert(trace_name_earlier(names[i].path, names[i].n, name, size));
        ck_assert_str_eq(name, names[i].name);
        ck_assert(!trace_name_earlier(names[i].path, names[i].n, name, size - 1));
    }
}
END_TEST

/* ---- ids by address ---- */

static bool put_id(ids *known, uintptr_t address, uint64_t id, uint64_t *before) {
    return ids_put_at(known, ids_place(known, address), address, id, before);
}

START_TEST(ids_are_found_by_address) {
    memory m = {0};
    ids *known = memory_alloc(&m, sizeof *known);
    uint64_t before, n_good = 0;
    const uintptr_t high = (UINT64_C(1) << 47) - 16;
    ids_init(known, &m, false);
    ck_assert_uint_eq(ids_take(known, 0x1000), 0);
    for (uintptr_t a = 0x7000000; a < 0x7400000; a += 8) {
        n_good += put_id(known, a, a / 8, &before) && before == 0;
    }
    ck_assert(put_id(known, high, 5, &before));
    ck_assert(put_id(known, high, 0, &before)); /* its end was missed */
    ck_assert_uint_eq(before, 6);
    ck_assert_uint_eq(ids_take(known, high), 1);
    ck_assert_uint_eq(ids_take(known, high), 0);
    ck_assert(!put_id(known, UINT64_C(1) << 47, 1, &before));
    for (uintptr_t a = 0x7000000; a < 0x7200000; a += 8)
        n_good += ids_take(known, a) == a / 8 + 1;
    /* From here on they take more than 32 bits. */
    ck_assert(put_id(known, 0x7000000, UINT32_MAX - 1, &before));
    ck_assert(!atomic_load(&known->wide));
    ck_assert(put_id(known, 0x7000008, UINT32_MAX, &before));
    ck_assert(put_id(known, 0x7000010, IDS_MAX, &before));
    ck_assert(!put_id(known, 0x7000018, IDS_MAX + 1, &before));
    ck_assert(put_id(known, 0x7000020, 7, &before));
    ck_assert_uint_eq(ids_take(known, 0x7000000), UINT32_MAX);
    ck_assert_uint_eq(ids_take(known, 0x7000008), UINT64_C(1) << 32);
    ck_assert_uint_eq(ids_take(known, 0x7000008), 0);
    ck_assert_uint_eq(ids_take(known, 0x7000010), IDS_MAX + 1);
    ck_assert_uint_eq(ids_take(known, 0x7000020), 8);
    for (uintptr_t a = 0x7200000; a < 0x7400000; a += 8)
        n_good += ids_take(known, a) == a / 8 + 1;
    ck_assert_uint_eq(n_good, 2 * 0x400000 / 8);
    for (uintptr_t a = 0x7000000; a < 0x7400000; a += 64)
        ck_assert(put_id(known, a, IDS_MAX, &before));
    ids_forget(known); /* but for what shares a page with something else */
    for (uintptr_t a = 0x7000000; a < 0x7400000; a += 64)
        n_good -= ids_take(known, a) == IDS_MAX + 1;
    ck_assert_uint_gt(n_good, 2 * 0x400000 / 8 - 0x400000 / 64 / 20);
    memory_release(&m);
}
END_TEST

START_TEST(ids_of_sparse_blocks_share_a_leaf) {
    enum { FIRST = 0x7000000, N = 1000 };
    memory m = {0};
    ids *known = memory_alloc(&m, sizeof *known);
    uint64_t before, n_good = 0;
    ids_init(known, &m, true);
    for (uintptr_t i = 0; i < N; i++) /* at multiples of 16, and of 8 */
        n_good += put_id(known, FIRST + 48 * i, i, &before) && before == 0;
    ck_assert(put_id(known, FIRST + 8, N, &before));
    ck_assert_ptr_eq(ids_place(known, FIRST), ids_place(known, FIRST + 16));
    ck_assert_ptr_ne(ids_place(known, FIRST), ids_place(known, FIRST + 8));
    ck_assert_uint_eq(ids_take(known, FIRST + 8), N + 1);
    for (uintptr_t i = 0; i < N; i++)
        n_good += ids_take(known, FIRST + 48 * i) == i + 1;
    ck_assert_uint_eq(n_good, 2 * N);
    memory_release(&m);
}
END_TEST

#if defined __x86_64__ /* elsewhere it is two */
START_TEST(a_new_page_of_ids_is_one_fault) {
    enum { FIRST = 0x7000000, N = 48 };
    memory m = {0};
    ids *known = memory_alloc(&m, sizeof *known);
    struct rusage begin, end;
    uint64_t before;
    ids_init(known, &m, true);
    ck_assert(put_id(known, FIRST, 0, &before)); /* makes the leaf */
    const size_t step = pages_unit() / sizeof(uint32_t) << IDS_GRAIN_BITS;
    getrusage(RUSAGE_SELF, &begin);
    for (uintptr_t i = 1; i <= N; i++)
        put_id(known, FIRST + i * step, i, &before);
    getrusage(RUSAGE_SELF, &end);
    ck_assert_int_lt(end.ru_minflt - begin.ru_minflt, N + N / 2);
    ck_assert_uint_eq(ids_take(known, FIRST + N * step), N + 1);
    memory_release(&m);
}
END_TEST
#endif

static Suite *suite(void) {
    Suite *suite = suite_create("record");
    TCase *t = tcase_create("parts");
    tcase_add_test(t, text_is_cut_off_and_terminated);
    tcase_add_test(t, numbers_are_read_like_strtod_does);
    tcase_add_test(t, settings_have_defaults_and_are_checked);
    tcase_add_test(t, memory_pieces_do_not_overlap_and_are_recycled);
    tcase_add_test(t, codes_say_module_offset_and_type);
    tcase_add_test(t, codes_stay_the_same_when_other_modules_go);
    tcase_add_test(t, codes_of_marks_keep_their_text);
    suite_add_tcase(suite, t);
    t = tcase_create("sink");
    tcase_add_checked_fixture(t, make_folder, remove_folder);
    tcase_add_test(t, regions_are_those_that_were_added);
    tcase_add_test(t, sink_survives_the_loss_of_its_descriptor);
    tcase_add_test(t, sink_leaves_holes);
    tcase_add_test(t, sink_is_the_file_of_one_process_at_a_time);
    tcase_add_test(t, sinks_of_two_processes_with_one_id_are_two_files);
    tcase_add_test(t, sink_keeps_what_its_own_process_wrote_before);
    tcase_add_test(t, patterns_name_the_traces_of_processes);
    tcase_add_test(t, a_name_is_a_pattern_of_itself_alone);
    tcase_add_test(t, earlier_traces_have_names_of_the_same_kind);
    tcase_add_test(t, ids_are_found_by_address);
    tcase_add_test(t, ids_of_sparse_blocks_share_a_leaf);
#if defined __x86_64__
    tcase_add_test(t, a_new_page_of_ids_is_one_fault);
#endif
    suite_add_tcase(suite, t);
    return suite;
}

UNIT_MAIN(suite)
