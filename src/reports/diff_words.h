/* diff_words.h: the sentences around the tables of the report of `diff`. */
#ifndef REPORTS_DIFF_WORDS_H
#define REPORTS_DIFF_WORDS_H

#include "reports/diff.h"

/* Says which traces end early, or lack events. */
void diff_say_what_is_lacking(document *d, const diff_report *r);

/* Says how the sides differ, what the amounts are, and what is too small to be seen. */
void diff_say_what_is_compared(document *d, const diff_report *r);

/* Says what is not shown, and, in the last line, the conclusion. */
void diff_say_what_was_found(document *d, const diff_report *r);

/* Returns the text after the change of the total; NULL: none. */
const char *diff_change_in_words(document *d, const diff *f);

#endif
