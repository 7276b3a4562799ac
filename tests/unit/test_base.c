/* Tests of src/base. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/large.h"
#include "base/map64.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/shell.h"
#include "base/siphash.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/varint.h"
#include "base/vec.h"
#include "unit.h"

START_TEST(arena_pieces_do_not_overlap) {
    arena a = {0};
    unsigned char *pieces[500];
    for (size_t i = 0; i < 500; i++) {
        pieces[i] = arena_alloc(&a, i);
        ck_assert_uint_eq((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        memset(pieces[i], (int)(i & 255), i);
    }
    for (size_t i = 0; i < 500; i++)
        for (size_t j = 0; j < i; j++)
            ck_assert_uint_eq(pieces[i][j], i & 255);
    arena_free(&a);
}
END_TEST

START_TEST(arena_refuses_absurd_sizes) {
    arena a = {0};
    ck_assert_ptr_null(arena_alloc(&a, (size_t)-1));
    ck_assert_ptr_null(arena_alloc(&a, (size_t)-9));
    arena_free(&a);
}
END_TEST

START_TEST(intern_gives_one_pointer_for_equal_strings) {
    intern_table t = {0};
    const char *first[3000];
    char s[16];
    for (int i = 0; i < 3000; i++)
        first[i] = intern(&t, s, (size_t)snprintf(s, sizeof s, "s%d", i));
    for (int i = 0; i < 3000; i++) {
        int n = snprintf(s, sizeof s, "s%dtail", i);
        ck_assert_ptr_eq(intern(&t, s, (size_t)n - 4), first[i]);
        s[n - 4] = '\0';
        ck_assert_str_eq(first[i], s);
    }
    ck_assert_uint_eq(t.count, 3000);
    ck_assert_str_eq(intern(&t, "", 0), "");
    intern_free(&t);
}
END_TEST

START_TEST(map64_finds_what_was_put) {
    map64 map = {0};
    ck_assert_uint_eq(map64_get(&map, 0), MAP64_NONE);
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t *value = map64_put(&map, (uint64_t)i << 40);
        ck_assert_uint_eq(*value, MAP64_NONE);
        *value = i;
    }
    for (uint32_t i = 0; i < 10000; i++) {
        ck_assert_uint_eq(map64_get(&map, (uint64_t)i << 40), i);
        ck_assert_uint_eq(*map64_put(&map, (uint64_t)i << 40), i);
        ck_assert_uint_eq(map64_get(&map, ((uint64_t)i << 40) + 1), MAP64_NONE);
    }
    ck_assert_uint_eq(map.count, 10000);
    map64_free(&map);
}
END_TEST

/* The example of the paper that defines SipHash, and an empty input from its authors' list. */
START_TEST(siphash_gives_the_published_values) {
    const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    unsigned char bytes[15];
    for (unsigned char i = 0; i < sizeof bytes; i++)
        bytes[i] = i;
    ck_assert_uint_eq(siphash(key, bytes, sizeof bytes), UINT64_C(0xa129ca6149be45e5));
    ck_assert_uint_eq(siphash(key, bytes, 0), UINT64_C(0x726fdb47dd0e0e31));
}
END_TEST

START_TEST(vec_keeps_items_while_it_grows) {
    VEC(int) v = {0};
    for (int i = 0; i < 1000; i++)
        ck_assert(vec_push(&v, i));
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(v.items[i], i);
    ck_assert(!vec_reserve(&v, (size_t)-1 / 2));
    ck_assert_uint_eq(v.count, 1000);
    VEC(int) none = {0}, twice = {0};
    ck_assert(vec_append(&none, &twice) && !none.items);
    ck_assert(vec_append(&twice, &v) && vec_append(&twice, &v) && vec_append(&twice, &none));
    ck_assert(twice.count == 2000 && twice.items[999] == 999 && twice.items[1001] == 1);
    vec_free(&twice);
    vec_free(&v);
}
END_TEST

START_TEST(numbers_are_decimal) {
    const struct {
        const char *text;
        size_t size;
        double value;
    } cases[] = {{"12", 2, 12},     {"1.5s", 3, 1.5},   {".5", 2, 0.5}, {"5.", 2, 5},
                 {"1e-5", 4, 1e-5}, {"2E+3x", 4, 2000}, {"3e", 1, 3},   {"3e+", 1, 3},
                 {"0x10", 1, 0},    {"0X1p3", 1, 0},    {"007", 3, 7},  {"1..2", 2, 1},
                 {"", 0, -1},       {" 1", 0, -1},      {"-1", 0, -1},  {"+1", 0, -1},
                 {".", 0, -1},      {"inf", 0, -1},     {"nan", 0, -1}, {"e5", 0, -1},
                 {".e5", 0, -1},    {"1,5", 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = -1;
        ck_assert_msg(number_read(cases[i].text, &value) == cases[i].size, "%s", cases[i].text);
        ck_assert_double_eq(value, cases[i].value);
        ck_assert_int_eq(number_parse(cases[i].text, &value),
                         cases[i].size && !cases[i].text[cases[i].size]);
    }
    double value = 7;
    ck_assert(!number_parse("1e999", &value));
    ck_assert_double_eq(value, 7);
}
END_TEST

START_TEST(whole_numbers_have_64_bits) {
    uint64_t value = 7;
    ck_assert_int_eq(number_parse_whole("18446744073709551616", &value), NUMBER_TOO_LARGE);
    ck_assert_int_eq(number_parse_whole("", &value), NUMBER_NOT_WHOLE);
    ck_assert_int_eq(number_parse_whole("-1", &value), NUMBER_NOT_WHOLE);
    ck_assert_int_eq(number_parse_whole("0x10", &value), NUMBER_NOT_WHOLE);
    ck_assert_int_eq(number_parse_whole("1.0", &value), NUMBER_NOT_WHOLE);
    ck_assert_uint_eq(value, 7);
    ck_assert_int_eq(number_parse_whole("18446744073709551615", &value), NUMBER_WHOLE);
    ck_assert_uint_eq(value, UINT64_MAX);
    ck_assert_int_eq(number_parse_whole("007", &value), NUMBER_WHOLE);
    ck_assert_uint_eq(value, 7);
}
END_TEST

/* ---- files ------------------------------------------------------------------------------- */

/* A pipe takes and gives what fits, so that large ones go through it in parts. */
enum { LARGE = 1 << 20 };

static void *drain(void *context) {
    const int fd = *(int *)context;
    unsigned char bytes[1000];
    size_t got = 0, wrong = 0;
    for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
        for (ssize_t i = 0; i < n; i++)
            wrong += bytes[i] != (unsigned char)(got++ * 7);
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_eq(got, LARGE);
    return NULL;
}

static unsigned char *large_bytes(void) {
    unsigned char *bytes = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        bytes[i] = (unsigned char)(i * 7);
    return bytes;
}

static void do_nothing(int signal) {
    (void)signal;
}

START_TEST(all_is_written_though_a_pipe_takes_parts) {
    const struct sigaction interrupt = {.sa_handler = do_nothing}; /* without SA_RESTART */
    const struct itimerval often = {.it_interval.tv_usec = 100, .it_value.tv_usec = 100};
    int ends[2];
    pthread_t reader;
    sigset_t alarms;
    unsigned char *bytes = large_bytes();
    ck_assert_int_eq(pipe(ends), 0);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL); /* for the reader: alarms are the writer's */
    ck_assert_int_eq(pthread_create(&reader, NULL, drain, &ends[0]), 0);
    sigaction(SIGALRM, &interrupt, NULL);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    ck_assert_int_eq(file_write_all(ends[1], bytes, LARGE), 0);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    close(ends[1]);
    pthread_join(reader, NULL);
    close(ends[0]);
    free(bytes);
}
END_TEST

START_TEST(what_cannot_be_written_has_an_errno) {
    const int full = open("/dev/full", O_WRONLY);
    int ends[2];
    ck_assert_int_ge(full, 0);
    ck_assert_int_eq(file_write_all(full, "text", 4), ENOSPC);
    ck_assert_int_eq(file_write_at(full, "text", 4, 0), ENOSPC);
    ck_assert_int_eq(file_write_all(full, NULL, 0), 0);
    close(full);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(file_write_at(ends[1], "text", 4, 0), ESPIPE);
    signal(SIGPIPE, SIG_IGN);
    close(ends[0]);
    ck_assert_int_eq(file_write_all(ends[1], "text", 4), EPIPE);
    close(ends[1]);
    ck_assert_int_eq(file_write_all(-1, "text", 4), EBADF);
}
END_TEST

START_TEST(temporary_files_have_no_name_where_they_can_be) {
    char folder[] = "/tmp/allotrace-test.XXXXXX", got[4];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("TMPDIR", folder, 1);
    ck_assert_str_eq(file_temporary_folder(), folder);
    const int fd = file_temporary(0);
    ck_assert_int_eq(file_write_at(fd, "text", 4, 0), 0);
    ck_assert_int_eq(file_read_at(fd, got, sizeof got, 0), 0);
    ck_assert_int_eq(memcmp(got, "text", sizeof got), 0);
    close(fd);
    ck_assert_int_eq(rmdir(folder), 0); /* it is empty, and then is none */
    ck_assert_str_eq(file_temporary_folder(), "/tmp");
    setenv("TMPDIR", "", 1);
    ck_assert_str_eq(file_temporary_folder(), "/tmp");
    const int other = file_temporary(O_APPEND);
    ck_assert_int_ge(other, 0);
    close(other);
}
END_TEST

START_TEST(a_file_that_ends_too_early_is_an_error) {
    char text[8] = "";
    const int fd = fileno(tmpfile());
    ck_assert_int_eq(file_write_at(fd, "4567", 4, 4), 0);
    ck_assert_int_eq(file_write_at(fd, "0123", 4, 0), 0);
    ck_assert_int_eq(file_read_at(fd, text, 8, 0), 0);
    ck_assert_mem_eq(text, "01234567", 8);
    ck_assert_int_eq(file_read_at(fd, text, 5, 3), 0);
    ck_assert_mem_eq(text, "34567", 5);
    ck_assert_int_eq(file_read_at(fd, text, 5, 4), EIO);
    ck_assert_int_eq(file_read_at(fd, text, 1, 8), EIO);
    ck_assert_int_eq(file_read_at(fd, text, 0, 8), 0);
    ck_assert_int_eq(file_read_at(-1, text, 1, 0), EBADF);
    close(fd);
}
END_TEST

/* Calls that take nothing and say nothing, as a file system may answer. */
static int stalled = -2; /* its descriptor */

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);

ssize_t __wrap_write(int fd, const void *bytes, size_t size) {
    return fd == stalled ? 0 : __real_write(fd, bytes, size);
}

START_TEST(a_call_that_takes_nothing_is_an_error) {
    stalled = 1000;
    ck_assert_int_eq(file_write_all(stalled, "text", 4), EIO);
}
END_TEST

/* {text, bytes of its first character, characters, columns} */
static const struct {
    const char *text;
    size_t size, count, columns;
} texts[] = {
    {"a", 1, 1, 1},
    {"\xC3\xA4rm", 2, 3, 3},               /* ä */
    {"\xE6\xBC\xA2\xE5\xAD\x97", 3, 2, 4}, /* wide */
    {"e\xCC\x81", 1, 2, 1},                /* combined with an accent */
    {"\xF0\x9F\xA4\x9D", 4, 1, 2},         /* an emoji */
    {"\xFF", 0, 1, 1},
    {"\xE6\xBC", 0, 1, 1}, /* cut */
    {"\xC0\x80", 0, 1, 1}, /* overlong: its bytes belong together */
    {"\xED\xA0\x80", 0, 1, 1},
};

START_TEST(characters_are_counted_and_measured) {
    const char *text = texts[_i].text;
    ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
    ck_assert_uint_eq(utf8_size(text), texts[_i].size);
    ck_assert_uint_eq(utf8_count(text, strlen(text)), texts[_i].count);
    size_t columns = 0; /* each character as one */
    if (texts[_i].size > 0)
        ck_assert_uint_eq(utf8_columns(text, strlen(text)), texts[_i].columns);
    for (const char *c = text; *c; c = utf8_next(c))
        columns++;
    ck_assert_uint_eq(columns, texts[_i].count);
}
END_TEST

START_TEST(a_cut_is_between_characters) {
    ck_assert_uint_eq(utf8_whole("a\xC3\xA9z", 1), 1);
    ck_assert_uint_eq(utf8_whole("a\xC3\xA9z", 2), 1);
    ck_assert_uint_eq(utf8_whole("a\xC3\xA9z", 3), 3);
    ck_assert_uint_eq(utf8_whole("\x80\x80", 1), 0);
}
END_TEST

START_TEST(distance_counts_typing_errors) {
    ck_assert_uint_eq(nearest_distance("dump", "dump"), 0);
    ck_assert_uint_eq(nearest_distance("dupm", "dump"), 1);
    ck_assert_uint_eq(nearest_distance("dmp", "dump"), 1);
    ck_assert_uint_eq(nearest_distance("dumpp", "dump"), 1);
    ck_assert_uint_eq(nearest_distance("xump", "dump"), 1);
    ck_assert_uint_eq(nearest_distance("", "dump"), 4);
    ck_assert_uint_eq(nearest_distance("kitten", "sitting"), 3);
}
END_TEST

static const char *known_name(const void *context, size_t i) {
    const char *const *names = context;
    return names[i];
}

START_TEST(the_nearest_name_is_found) {
    static const char *const names[] = {"TraceMem", "Output", "OutputFile"};
    char long_word[200];
    memset(long_word, 'x', sizeof long_word);
    ck_assert_str_eq(nearest_name("tracemen=1", 8, known_name, names, 3), "TraceMem");
    ck_assert_str_eq(nearest_name("outputfill", 10, known_name, names, 3), "OutputFile");
    ck_assert_str_eq(nearest_name("ou", 2, known_name, names, 3), "Output");
    ck_assert_ptr_null(nearest_name("frob", 4, known_name, names, 3));
    ck_assert_ptr_null(nearest_name(long_word, sizeof long_word, known_name, names, 3));
}
END_TEST

static const struct {
    const char *word, *shown;
} words[] = {
    {"a.ctf", "a.ctf"},   {"x-%p.ctf", "x-%p.ctf"}, {"", "''"},   {"my trace", "'my trace'"},
    {"*.ctf", "'*.ctf'"}, {"it's", "'it'\\''s'"},   {"é", "'é'"},
};

START_TEST(words_are_quoted_for_a_shell) {
    char *shown = shell_word(words[_i].word);
    ck_assert_str_eq(shown, words[_i].shown);
    free(shown);
}
END_TEST

START_TEST(words_are_added_behind_each_other) {
    char *all = shell_add_word(NULL, "a.ctf");
    all = shell_add_word(all, "my trace");
    ck_assert_str_eq(all, "a.ctf 'my trace'");
    free(all);
    char *text = text_format("%s:%d", "x", 7);
    ck_assert_str_eq(text, "x:7");
    free(text);
}
END_TEST

START_TEST(paths_end_where_a_part_begins) {
    ck_assert_str_eq(path_base("/a/b.c"), "b.c");
    ck_assert_str_eq(path_base("b.c"), "b.c");
    ck_assert_str_eq(path_base("a/"), "");
    ck_assert(path_ends("/a/b.c", "b.c", 3));
    ck_assert(path_ends("/a/b.c", "a/b.cpp", 5));
    ck_assert(path_ends("b.c", "b.c", 3));
    ck_assert(!path_ends("/a/lib.c", "b.c", 3));
    ck_assert(!path_ends("b.c", "a/b.c", 5));
}
END_TEST

/* {a text, the size of its file, the line} */
static const struct {
    const char *text;
    size_t size;
    uint32_t line;
} lines[] = {
    {"a.c:12", 3, 12}, {"a.c:4294967295", 3, UINT32_MAX},
    {"a:b.c:1", 5, 1}, {"a.c:4294967296", 0, 0},
    {"a.c:0", 0, 0},   {"a.c:01", 0, 0},
    {"ns::7", 0, 0},   {":7", 0, 0},
    {"7", 0, 0},       {"a.c:", 0, 0},
    {"a.c:12x", 0, 0}, {"a.c:99999999999999999999999", 0, 0},
    {"", 0, 0},
};

START_TEST(a_line_stands_behind_a_file) {
    uint32_t line = 0;
    ck_assert_uint_eq(path_line(lines[_i].text, strlen(lines[_i].text), &line), lines[_i].size);
    ck_assert_uint_eq(line, lines[_i].line);
}
END_TEST

START_TEST(percent_signs_stand_for_bytes) {
    char text[] = "a%20b%C3%a9%00%%4%zz%2";
    ck_assert_uint_eq(text_decode_percent(text), strlen("a b\xC3\xA9%00%%4%zz%2"));
    ck_assert_str_eq(text, "a b\xC3\xA9%00%%4%zz%2");
    ck_assert(text_ends_with("a.ctf", ".ctf") && !text_ends_with("ctf", ".ctf"));
}
END_TEST

START_TEST(members_of_a_set_are_numbered) {
    enum { N = 1000 };
    bits_word *set = calloc(bits_words(N), sizeof *set);
    for (uint32_t i = 0; i < N; i += 1 + i % 7)
        bits_add(set, i);
    uint32_t n = 0;
    const uint32_t all = bits_rank_all(set, bits_words(N));
    for (uint32_t i = 0; i < N; i++) {
        ck_assert_uint_eq(bits_rank(set, i), n);
        n += bits_has(set, i);
    }
    ck_assert_uint_eq(bits_rank(set, N), n);
    ck_assert_uint_eq(all, n);
    for (unsigned i = 0; i < 64; i++) {
        ck_assert_uint_eq(bits_count(UINT64_MAX >> i), 64 - i);
        ck_assert_uint_eq(bits_count(UINT64_C(1) << i), 1);
    }
    ck_assert_uint_eq(bits_count(0), 0);
    free(set);
}
END_TEST

/* Also beyond the size from which pages are asked for otherwise, and when they get another size. */
START_TEST(large_arrays_are_like_others) {
    static const size_t sizes[] = {0, 1, 4 << 20, (4 << 20) + 1, 33 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *zeros = large_zeroed(sizes[i] + 1, 1), *some = large_new(sizes[i] + 1, 1);
        ck_assert(zeros && some);
        ck_assert_uint_eq(zeros[0] | zeros[sizes[i]], 0);
        memset(some, 7, sizes[i] + 1);
        some = realloc(some, 2 * sizes[i] + 1);
        ck_assert(some && some[0] == 7 && some[sizes[i]] == 7);
        free(zeros);
        free(some);
    }
    ck_assert_ptr_null(large_new(SIZE_MAX / 2, 4));
}
END_TEST

START_TEST(numbers_of_seven_bits_a_byte_end_where_they_say) {
    static const uint8_t bytes[] = {0x05, 0xE5, 0x8E, 0x26, 0xFF, 0xFF, 0xFF, 0xFF,
                                    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0x80};
    const uint8_t *at = bytes, *const end = bytes + sizeof bytes;
    uint64_t value;
    ck_assert(varint_read(&at, end, &value) == VARINT_OK && value == 5);
    ck_assert(varint_read(&at, end, &value) == VARINT_OK && value == 624485);
    ck_assert(varint_read(&at, end, &value) == VARINT_OK && value == UINT64_MAX);
    ck_assert(varint_read(&at, end, &value) == VARINT_CUT && at == end);
    ck_assert(varint_read(&at, end, &value) == VARINT_CUT);
    static const uint8_t endless[11] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                        0x80, 0x80, 0x80, 0x80, 0x80};
    at = endless;
    ck_assert(varint_read(&at, endless + sizeof endless, &value) == VARINT_LONG);
    ck_assert(varint_signed(0) == 0 && varint_signed(1) == -1 && varint_signed(2) == 1);
    ck_assert(varint_signed(UINT64_MAX) == INT64_MIN && varint_signed(UINT64_MAX - 1) == INT64_MAX);
}
END_TEST

START_TEST(fields_of_a_process_stand_behind_any_name) {
    const uint64_t pid = (uint64_t)getpid(), began = proc_stat(pid, PROC_STARTTIME);
    char name[32], little[4];
    ck_assert_int_eq(prctl(PR_SET_NAME, "a) S 7 (b) 9"), 0);
    ck_assert_uint_eq(proc_read(pid, "comm", name, sizeof name), 13);
    ck_assert_str_eq(name, "a) S 7 (b) 9\n");
    ck_assert(began > 0 && proc_stat(pid, PROC_STARTTIME) == began);
    ck_assert_uint_eq(proc_stat(pid, 4), (uint64_t)getppid());
    ck_assert_uint_eq(proc_stat(pid, 1000), 0);
    ck_assert_uint_eq(proc_read(pid, "comm", little, sizeof little), 3);
    ck_assert_str_eq(little, "a) ");
    ck_assert_uint_eq(proc_read(pid, "none", name, sizeof name), 0);
    ck_assert_str_eq(name, "");
}
END_TEST

START_TEST(links_and_files_of_a_process_are_found) {
    char own[4096], seen[4096], little[2];
    const uint64_t pid = (uint64_t)getpid();
    const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    ck_assert(n > 0);
    own[n] = '\0';
    ck_assert(proc_link(pid, "exe", seen, sizeof seen));
    ck_assert_str_eq(seen, own);
    ck_assert(proc_link(pid, "exe", little, sizeof little));
    ck_assert_str_eq(little, "/");
    ck_assert(!proc_link(pid, "none", seen, sizeof seen) && errno == ENOENT && !*seen);
    ck_assert(file_is_same("/proc/self/exe", own) && !file_is_same(own, "/"));
    ck_assert(!file_is_same(own, "/none") && !file_is_same("/none", own));
    const int fd = proc_open(pid, "exe", O_RDONLY);
    ck_assert(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    file_path path;
    ck_assert(file_is_same(file_path_of(fd, path), own));
    errno = EXDEV;
    file_close(fd);
    file_close(fd); /* closed already: keeps errno */
    file_close(-1);
    ck_assert_int_eq(errno, EXDEV);
    ck_assert(proc_open(pid, "none", O_RDONLY) < 0 && errno == ENOENT);
}
END_TEST

START_TEST(a_file_is_ready_when_there_is_something_to_read) {
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert(!file_is_ready(ends[0], 0) && !file_is_ready(ends[0], 1));
    ck_assert(write(ends[1], "x", 1) == 1 && file_is_ready(ends[0], 0));
    char byte;
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    ck_assert(!file_is_ready(ends[0], 0));
    close(ends[1]);
    ck_assert(file_is_ready(ends[0], 0));
    close(ends[0]);
}
END_TEST

START_TEST(a_file_is_locked_where_another_process_says_so) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = file_temporary(0);
    int said[2], ends[2];
    char byte;
    ck_assert(fd >= 0 && !file_is_locked(fd) && pipe(said) == 0 && pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        if (fcntl(fd, F_SETLK, &whole) == 0 && write(said[1], "l", 1) == 1)
            (void)!read(ends[0], &byte, 1);
        _exit(0);
    }
    close(said[1]);
    ck_assert_int_eq(read(said[0], &byte, 1), 1);
    ck_assert(file_is_locked(fd));
    close(ends[1]);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert(!file_is_locked(fd) && !file_is_locked(-1));
}
END_TEST

/* A time of long ago is given to it, since the clock of files may stand still for a while. */
START_TEST(a_folder_changes_when_its_time_does) {
    static const struct timeval old[2] = {{1000, 0}, {1000, 0}}, later[2] = {{1000, 1}, {1000, 1}};
    char folder[] = "/tmp/test_base.XXXXXX";
    struct timespec seen = {0};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert(file_folder_changed(folder, &seen));
    ck_assert(file_folder_changed(folder, &seen)); /* just now: it may change again unseen */
    ck_assert_int_eq(utimes(folder, old), 0);
    ck_assert(file_folder_changed(folder, &seen));
    ck_assert(!file_folder_changed(folder, &seen));
    ck_assert_int_eq(utimes(folder, later), 0);
    ck_assert(file_folder_changed(folder, &seen));
    ck_assert(!file_folder_changed(folder, &seen));
    rmdir(folder);
    ck_assert(file_folder_changed(folder, &seen));
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("base");
    TCase *t = tcase_create("base");
    tcase_add_loop_test(t, characters_are_counted_and_measured, 0, sizeof texts / sizeof *texts);
    tcase_add_test(t, arena_pieces_do_not_overlap);
    tcase_add_test(t, arena_refuses_absurd_sizes);
    tcase_add_test(t, intern_gives_one_pointer_for_equal_strings);
    tcase_add_test(t, map64_finds_what_was_put);
    tcase_add_test(t, numbers_are_decimal);
    tcase_add_test(t, whole_numbers_have_64_bits);
    tcase_add_test(t, all_is_written_though_a_pipe_takes_parts);
    tcase_add_test(t, what_cannot_be_written_has_an_errno);
    tcase_add_test(t, temporary_files_have_no_name_where_they_can_be);
    tcase_add_test(t, a_file_that_ends_too_early_is_an_error);
    tcase_add_test(t, a_call_that_takes_nothing_is_an_error);
    tcase_add_test(t, siphash_gives_the_published_values);
    tcase_add_test(t, vec_keeps_items_while_it_grows);
    tcase_add_test(t, a_cut_is_between_characters);
    tcase_add_test(t, distance_counts_typing_errors);
    tcase_add_test(t, the_nearest_name_is_found);
    tcase_add_loop_test(t, words_are_quoted_for_a_shell, 0, sizeof words / sizeof *words);
    tcase_add_test(t, paths_end_where_a_part_begins);
    tcase_add_loop_test(t, a_line_stands_behind_a_file, 0, sizeof lines / sizeof *lines);
    tcase_add_test(t, percent_signs_stand_for_bytes);
    tcase_add_test(t, members_of_a_set_are_numbered);
    tcase_add_test(t, large_arrays_are_like_others);
    tcase_add_test(t, numbers_of_seven_bits_a_byte_end_where_they_say);
    tcase_add_test(t, fields_of_a_process_stand_behind_any_name);
    tcase_add_test(t, links_and_files_of_a_process_are_found);
    tcase_add_test(t, a_file_is_ready_when_there_is_something_to_read);
    tcase_add_test(t, words_are_added_behind_each_other);
    tcase_add_test(t, a_file_is_locked_where_another_process_says_so);
    tcase_add_test(t, a_folder_changes_when_its_time_does);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
