/* diff_words.h: what the report of `diff` says in sentences around its tables. */
#ifndef REPORTS_DIFF_WORDS_H
#define REPORTS_DIFF_WORDS_H

#include "reports/diff.h"

/* Which traces end early, or lack events. */
void diff_say_what_is_lacking(document *d, const diff_report *r);

/* In what the sides differ, what amounts are, what is too small to be seen. */
void diff_say_what_is_compared(document *d, const diff_report *r);

/* What is not shown, and, in the last line, what to take away. */
void diff_say_what_was_found(document *d, const diff_report *r);

/* What stands behind the change of the total; NULL: nothing. */
const char *diff_change_in_words(document *d, const diff *f);

#endif
