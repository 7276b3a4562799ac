/* ending.h: says in words that a trace ends early, or lacks events before its end. Only the reader
 * of traces decides whether it does (trace/reader_end.c, reader_gaps.c). */
#ifndef REPORTS_ENDING_H
#define REPORTS_ENDING_H

#include "document/document.h"
#include "document/table.h"

/* Texts about what is missing before the end of a trace: a phrase, a sentence with it, and a
 * sentence on what follows from it. */
typedef struct loss_words {
    char phrase[400], what[420], so[120];
} loss_words;

/* Returns false if nothing is missing. */
bool ending_say_loss(const profile *p, loss_words *words);

/* Adds notes if the trace ends early, or lacks events before its end. */
void ending_note(document *d, const profile *p);

/* Columns of a table whose row is the trace's profile_loss. */
extern const table_column ending_loss_columns[6];

/* Returns the text for an error. If the trace ends early, `exact` becomes `exact up to 1.20 s`. */
figure_range ending_error(const profile *p, figure_range error);

/* Columns of a table whose row is the trace's profile_end. */
extern const table_column ending_columns[4];

#endif
