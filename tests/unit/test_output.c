/* test_output.c: the output buffer: what is written arrives, errors stick, and no text harms. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output_fixture.h"

START_TEST(numbers_are_written_with_their_width) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    output_u64(&o, 0, 0, ' ');
    output_u64(&o, 7, 4, ' ');
    output_u64(&o, 42, 10, '0');
    output_char(&o, ' ');
    output_u64(&o, UINT64_MAX, 10, '0');
    check_text(&o, "0   70000000042 18446744073709551615");
    output_finish(&o);
}
END_TEST

START_TEST(json_strings_are_valid_whatever_the_bytes) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    output_json(&o, "a\"b\\c\nd\x01 é €");
    check_text(&o, "\"a\\\"b\\\\c\\u000ad\\u0001 é €\"");
    output_json(&o, "\xff|\xc3|\xc0\xaf|\xe2\x82|\xed\xa0\x80|\xf5");
    check_text(&o, "\"\uFFFD|\uFFFD|\uFFFD\uFFFD|\uFFFD\uFFFD|\uFFFD\uFFFD\uFFFD|\uFFFD\"");
    output_finish(&o);
}
END_TEST

START_TEST(csv_fields_are_quoted_where_they_must_be) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    output_csv(&o, "plain");
    output_char(&o, '|');
    output_csv(&o, "a,b");
    output_char(&o, '|');
    output_csv(&o, "say \"x\"");
    check_text(&o, "plain|\"a,b\"|\"say \"\"x\"\"\"");
    output_finish(&o);
}
END_TEST

START_TEST(control_characters_do_not_reach_a_terminal) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    output_shown(&o, "a\033[2Jb\n\x7f é");
    check_text(&o, "a?[2Jb?? é");
    output_finish(&o);
}
END_TEST

/* A terminal obeys controls of two bytes as well, and a text may show itself in another order. */
START_TEST(neither_do_controls_in_utf8_nor_bytes_that_are_none) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    output_shown(&o, "a\xC2\x9B"
                     "31mb\xE2\x80\xAE"
                     "c\xE2\x81\xA9"
                     "d\xEF\xBF\xBE e\x9B");
    check_text(&o, "a?31mb?c?d? e\xEF\xBF\xBD");
    output_shown(&o, "\xC2\xA0\xE2\x80\xA6\xE2\x81\xAA\xEF\xBF\xBD\xE2\x80");
    check_text(&o, "\xC2\xA0\xE2\x80\xA6\xE2\x81\xAA\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    output_finish(&o);
}
END_TEST

/* Small and large pieces, so that the buffer is flushed in all ways, arrive in order. */
START_TEST(what_is_written_arrives) {
    char path[] = "/tmp/output-XXXXXX";
    static char large[100000], expected[3000000], got[sizeof expected];
    output o;
    size_t size = 0;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    unlink(path);
    output_start(&o, fd);
    for (int i = 0; i < 40; i++) {
        size_t n = (size_t)(i * i * 41) % sizeof large;
        memset(large, 'a' + i % 26, n);
        output_bytes(&o, large, n);
        output_u64(&o, (uint64_t)i, 3, '0');
        memcpy(expected + size, large, n);
        snprintf(expected + size + n, 4, "%03d", i);
        size += n + 3;
    }
    ck_assert_int_eq(output_finish(&o), 0);
    ck_assert_int_eq(pread(fd, got, sizeof got, 0), (ssize_t)size);
    ck_assert_mem_eq(got, expected, size);
    close(fd);
}
END_TEST

START_TEST(errors_stick) {
    output o;
    output_start(&o, open("/dev/full", O_WRONLY | O_CLOEXEC));
    output_text(&o, "lost");
    ck_assert_int_eq(output_finish(&o), ENOSPC);
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    signal(SIGPIPE, SIG_IGN);
    close(ends[0]);
    output_start(&o, ends[1]);
    for (int i = 0; i < 1000000; i++)
        output_text(&o, "nobody reads this");
    ck_assert_int_eq(o.error, EPIPE);
    ck_assert_int_eq(output_finish(&o), EPIPE);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("output");
    TCase *t = tcase_create("output");
    tcase_add_test(t, numbers_are_written_with_their_width);
    tcase_add_test(t, json_strings_are_valid_whatever_the_bytes);
    tcase_add_test(t, csv_fields_are_quoted_where_they_must_be);
    tcase_add_test(t, control_characters_do_not_reach_a_terminal);
    tcase_add_test(t, neither_do_controls_in_utf8_nor_bytes_that_are_none);
    tcase_add_test(t, what_is_written_arrives);
    tcase_add_test(t, errors_stick);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
