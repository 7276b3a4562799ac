/* test_anonymise.c: traces without the names in them. */
#include <sys/mman.h>
#include <sys/stat.h>

#include "derived_fixture.h"
#include "trace/anonymise.h"

static int anonymous(const tape *t, const anonymise_options *options) {
    const int fd = result_fd();
    memtrace_reader *reader = play(t);
    ck_assert_int_eq(anonymise_trace(reader, options, fd, COMPRESSION_NONE, NULL), MEMTRACE_OK);
    memtrace_reader_close(reader);
    return fd;
}

static bool contains(int fd, const char *name) {
    struct stat s;
    ck_assert_int_eq(fstat(fd, &s), 0);
    const char *bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    ck_assert(bytes != MAP_FAILED);
    return memmem(bytes, (size_t)s.st_size, name, strlen(name));
}

START_TEST(no_name_is_left) {
    static const char *const secrets[] = {"main",   "App",   "leaf",         "src",  ".c",  "table",
                                          "loaded", "venus", "confidential", "prog", "o=80"};
    tape t;
    record_stretch(&t);
    const int fd = anonymous(&t, &(anonymise_options){.key = {1, 2}});
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        ck_assert_msg(memmem(t.f.bytes.items, t.f.bytes.count, secrets[i], strlen(secrets[i])),
                      "%s", secrets[i]);
        ck_assert_msg(!contains(fd, secrets[i]), "%s", secrets[i]);
    }
    memtrace_reader *reader = open_result(fd);
    ck_assert_uint_eq(memtrace_reader_info(reader)->pid, 0);
    ck_assert_uint_eq(memtrace_reader_info(reader)->start_time, START_TIME);
    memtrace_reader_close(reader);
    fixture_free(&t.f);
}
END_TEST

START_TEST(pseudonyms_follow_from_the_key) {
    tape t;
    record_stretch(&t);
    char *one = text_of(open_result(anonymous(&t, &(anonymise_options){.key = {1, 2}})));
    char *same = text_of(open_result(anonymous(&t, &(anonymise_options){.key = {1, 2}})));
    char *other = text_of(open_result(anonymous(&t, &(anonymise_options){.key = {1, 3}})));
    ck_assert_str_eq(one, same);
    ck_assert_str_ne(one, other);
    free(one);
    free(same);
    free(other);
    fixture_free(&t.f);
}
END_TEST

/* With lines, types and structure kept, what differs is the names alone. */
START_TEST(structure_stays_on_request) {
    tape t;
    record_stretch(&t);
    const anonymise_options options = {
        .key = {1, 2}, .keep_lines = true, .keep_types = true, .keep_structure = true};
    char *text = text_of(open_result(anonymous(&t, &options)));
    char module[14], leaf[14], folder[14], file[14], found[256];
    const char *at = strstr(text, "1: table@<type>:0:0-0 ");
    ck_assert_msg(at && sscanf(at,
                               "1: table@<type>:0:0-0 %13[f0-9a-f].%13[f0-9a-f]@%13[p0-9a-f]/"
                               "%13[p0-9a-f].c:22:0-0",
                               module, leaf, folder, file) == 4,
                  "%s", text);
    snprintf(found, sizeof found, " %s.%s@%s/%s.c:20:0-0\n", module, leaf, folder, file);
    ck_assert_msg(strstr(text, found), "%s", text);
    free(text);
    fixture_free(&t.f);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("anonymise");
    TCase *t = tcase_create("anonymise");
    tcase_add_test(t, no_name_is_left);
    tcase_add_test(t, pseudonyms_follow_from_the_key);
    tcase_add_test(t, structure_stays_on_request);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
