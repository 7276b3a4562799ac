/* unit.h: the main function of a unit test program, which uses Check, prints TAP on standard
 * output, and runs each test in a process of its own. A test file defines `static Suite
 * *suite(void)` after its tests and ends with UNIT_MAIN. */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>
#include <stdlib.h>

/* Check records the place of each assertion that holds, in case the next statement crashes. With a
 * million assertions in loops, this took more time than the tests themselves. */
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
