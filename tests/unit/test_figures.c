/* test_figures.c: bars on a terminal. */
#include <unistd.h>

#include "render/figures.h"
#include "render/output.h"
#include "unit.h"

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

static Suite *suite(void) {
    Suite *s = suite_create("figures");
    TCase *t = tcase_create("figures");
    tcase_add_test(t, bars_are_no_longer_than_their_line);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
