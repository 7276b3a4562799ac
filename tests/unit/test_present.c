/* Tests of the output buffer and of numbers as people read them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "render/figures.h"
#include "render/fold.h"
#include "render/output.h"
#include "unit.h"

static void check_text(output *o, const char *expected) {
    output_char(o, '\0');
    ck_assert_int_eq(o->error, 0);
    ck_assert_str_eq(o->buffer, expected);
    o->used = 0;
}

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

static void check_fold(unsigned columns, const char *text, const char *expected) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    fold_lines(&o, text, strlen(text), columns);
    check_text(&o, expected);
    output_finish(&o);
}

START_TEST(long_lines_go_on_further_in) {
    check_fold(20, "", "");
    check_fold(20, "short\n\n  lines\n", "short\n\n  lines\n");
    check_fold(20, "exactly twenty chars\n", "exactly twenty chars\n");
    check_fold(20, "more than twenty chars\n", "more than twenty\n    chars\n");
    check_fold(20, "  in by two and too long", "  in by two and too\n      long");
    check_fold(20, "no newline at the end of it", "no newline at the\n    end of it");
    /* from a gap, if what is before it is half of the line; not between a number and its unit */
    check_fold(20, "some name  most 1.2 altogether", "some name  most 1.2\n    altogether");
    check_fold(20, "a longer name  of 1.2 B/s", "a longer name\n    of 1.2 B/s");
    check_fold(20, "held at most, for 12 ms", "held at most, for\n    12 ms");
    /* characters count, not bytes; colours nothing; what is too long by itself stays whole */
    check_fold(20, "▁▂▃▄▅▆▇█▁▂▃▄▅▆▇█▁▂▃▄ ± 1", "▁▂▃▄▅▆▇█▁▂▃▄▅▆▇█▁▂▃▄\n    ± 1");
    check_fold(20, "\033[1mexactly twenty chars\033[0m", "\033[1mexactly twenty chars\033[0m");
    check_fold(20, "see /a/very/long/path/of/a/file now",
               "see\n    /a/very/long/path/of/a/file\n    now");
    check_fold(20, "                              far right ",
               "                              far right");
    check_fold(20, "trailing blanks       ", "trailing blanks");
    check_fold(20, "\033[", "\033[");
}
END_TEST

START_TEST(bars_are_no_longer_than_their_line) {
    output o;
    int fds[2];
    char read_back[128] = "";
    ck_assert_int_eq(pipe(fds), 0);
    output_start_lines(&o, fds[1], 20);
    output_text(&o, "name\n0123456789  ");
    figure_bar(&o, 1, 30);
    output_text(&o, "\n012345678901234567  ");
    figure_bar(&o, 1, 30);
    output_text(&o, "\n");
    ck_assert_int_eq(output_finish(&o), 0);
    close(fds[1]);
    ck_assert_int_gt(read(fds[0], read_back, sizeof read_back - 1), 0);
    close(fds[0]);
    ck_assert_str_eq(read_back, "name\n0123456789  ████████\n012345678901234567\n");
}
END_TEST

START_TEST(bytes_have_a_unit_and_one_decimal) {
    ck_assert_str_eq(figure_bytes(0).text, "0 B");
    ck_assert_str_eq(figure_bytes(1023).text, "1023 B");
    ck_assert_str_eq(figure_bytes(1023.7).text, "1.0 KB");
    ck_assert_str_eq(figure_bytes(80e6).text, "76.3 MB");
    ck_assert_str_eq(figure_bytes(1048575).text, "1.0 MB");
    ck_assert_str_eq(figure_bytes(1e300).text + strlen(figure_bytes(1e300).text) - 3, " EB");
}
END_TEST

START_TEST(counts_rates_and_times_read_well) {
    ck_assert_str_eq(figure_count(0).text, "0");
    ck_assert_str_eq(figure_count(999).text, "999");
    ck_assert_str_eq(figure_count(1000).text, "1,000");
    ck_assert_str_eq(figure_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
    ck_assert_str_eq(figure_rate(1e-4).text, "1e-4");
    ck_assert_str_eq(figure_rate(2.5e-5).text, "2.5e-5");
    ck_assert_str_eq(figure_rate(9.9999999e-6).text, "1e-5");
    ck_assert_str_eq(figure_rate(0.01).text, "0.01");
    ck_assert_str_eq(figure_rate(1).text, "1");
    ck_assert(figure_rate_up(4.95e-5) == 5e-5); /* not 4.9999999999999996e-05 */
    ck_assert(figure_rate_up(8.12e-5) == 8.2e-5);
    ck_assert(figure_rate_up(0.28001) == 0.29);
    ck_assert(figure_rate_up(0.999) == 1);
    ck_assert_str_eq(figure_duration(7).text, "7 µs");
    ck_assert_str_eq(figure_duration(852000).text, "852 ms");
    ck_assert_str_eq(figure_duration(999900).text, "1.00 s");
    ck_assert_str_eq(figure_duration(35879437).text, "35.88 s");
    ck_assert_str_eq(figure_duration(59999999).text, "1 min 0 s");
    ck_assert_str_eq(figure_duration(3600 * UINT64_C(1000000)).text, "1 h 0 min");
    ck_assert_str_eq(figure_date(0).text, "1970-01-01 00:00:00 UTC");
}
END_TEST

START_TEST(an_estimate_has_an_interval_unless_every_word_was_counted) {
    profile p = {.info = {.word_size = 64, .sample_rate = 1e-4}};
    figure f = figure_of(&p, 1000);
    ck_assert_str_eq(figure_bytes(f.value).text, "76.3 MB");
    ck_assert_str_eq(figure_margin(&f).text, "± 4.7 MB");
    ck_assert_str_eq(figure_beside(figure_margin(&f)).text, " ± 4.7 MB");
    ck_assert(f.low < f.value && f.value < f.high);
    p.info.sample_rate = 1;
    f = figure_of(&p, 1000);
    ck_assert_str_eq(figure_margin(&f).text, "exact");
    ck_assert_str_eq(figure_beside(figure_margin(&f)).text, "");
    ck_assert(f.low == f.value && f.value == f.high);
}
END_TEST

/* Garwood's limits of 2 are 0.2422 and 7.2247; a sample stands for 78.125 KB. */
START_TEST(both_ends_are_shown_where_samples_are_few) {
    profile p = {.info = {.word_size = 64, .sample_rate = 1e-4}};
    figure f = figure_of(&p, 2);
    ck_assert_str_eq(figure_margin(&f).text, "18.9 KB … 564.4 KB");
    ck_assert_str_eq(figure_beside(figure_margin(&f)).text, " (18.9 KB … 564.4 KB)");
    f = figure_of(&p, 0);
    ck_assert_str_eq(figure_margin(&f).text, "0 B … 288.2 KB");
    f = figure_of(&p, 9);
    ck_assert_str_eq(figure_margin(&f).text, "321.5 KB … 1.3 MB");
    f = figure_of(&p, 10);
    ck_assert_str_eq(figure_margin(&f).text, "± 484.2 KB");
    p.info.sample_rate = 0.9; /* no sampled word is less than that word */
    f = figure_of(&p, 9);
    ck_assert_str_eq(figure_margin(&f).text, "72 B … 106 B");
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("present");
    TCase *t = tcase_create("present");
    tcase_add_test(t, numbers_are_written_with_their_width);
    tcase_add_test(t, json_strings_are_valid_whatever_the_bytes);
    tcase_add_test(t, csv_fields_are_quoted_where_they_must_be);
    tcase_add_test(t, control_characters_do_not_reach_a_terminal);
    tcase_add_test(t, neither_do_controls_in_utf8_nor_bytes_that_are_none);
    tcase_add_test(t, what_is_written_arrives);
    tcase_add_test(t, errors_stick);
    tcase_add_test(t, long_lines_go_on_further_in);
    tcase_add_test(t, bars_are_no_longer_than_their_line);
    tcase_add_test(t, bytes_have_a_unit_and_one_decimal);
    tcase_add_test(t, counts_rates_and_times_read_well);
    tcase_add_test(t, an_estimate_has_an_interval_unless_every_word_was_counted);
    tcase_add_test(t, both_ends_are_shown_where_samples_are_few);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
