/* test_fold.c: lines that are longer than a terminal is wide. */
#include <string.h>

#include "output_fixture.h"
#include "render/fold.h"

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

static Suite *suite(void) {
    Suite *s = suite_create("fold");
    TCase *t = tcase_create("fold");
    tcase_add_test(t, long_lines_go_on_further_in);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
