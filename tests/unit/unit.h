/* unit.h: the main function of a unit test program: Check, TAP on standard output, one process a
 * test. A test file defines `static Suite *suite(void)` after its tests and ends with UNIT_MAIN. */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>
#include <stdlib.h>

/* Check writes down where each assertion that holds stands, in case that the next statement
 * crashes: with a million of them in loops that took more time than the tests themselves. */
#undef mark_point
#define mark_point()            ((void)0)
#define _mark_point(file, line) ((void)0)

static inline int unit_run(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define UNIT_MAIN(make_suite)                                                                      \
    int main(void) {                                                                               \
        return unit_run(make_suite());                                                             \
    }

#endif
