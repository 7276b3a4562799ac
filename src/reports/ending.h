/* ending.h: that a trace ends before what it records, or lacks events before its end, in words.
 * Whether it does is decided by the reader of traces alone (trace/reader_end.c, reader_gaps.c). */
#ifndef REPORTS_ENDING_H
#define REPORTS_ENDING_H

#include "document/document.h"
#include "document/table.h"

/* How much of a trace is missing before its end and what follows from that: sentences, without a
 * newline at their end, and a phrase. */
typedef struct loss_words {
    char phrase[400], what[420], so[120];
} loss_words;

/* False if nothing is. */
bool ending_say_loss(const profile *p, loss_words *words);

/* That a trace ends early, and what it lacks before that, as notes of a report. */
void ending_note(document *d, const profile *p);

/* The columns of a table whose row is the profile_loss of such a trace. */
extern const table_column ending_loss_columns[6];

/* Of an error: `exact` is no more than `exact up to 1.20 s`. */
figure_range ending_error(const profile *p, figure_range error);

/* The columns of a table whose row is the profile_end of such a trace. */
extern const table_column ending_columns[4];

#endif
