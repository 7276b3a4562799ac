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

/* Returns the text for an error. If the trace ends early, `exact` becomes `exact up to 1.20 s`. */
figure_range ending_error(const profile *p, figure_range error);

/* Columns of a table whose row is the trace's profile_end, and of one whose row is its
 * profile_loss. */
extern const table_column ending_columns[4];
extern const table_column ending_loss_columns[6];

/* Defines the functions of ENDING_FIELDS; `profile_of` takes the row of the table, which is its
 * only one. */
#define ENDING_FUNCTIONS(profile_of)                                                               \
    static const void *ending_of_row(const void *row) {                                            \
        return &profile_of(row)->end;                                                              \
    }                                                                                              \
    static const void *loss_of_row(const void *row) {                                              \
        return &profile_of(row)->loss;                                                             \
    }                                                                                              \
    static bool has_early_end(const table *t) {                                                    \
        return profile_ends_early(profile_of(t->rows));                                            \
    }                                                                                              \
    static bool has_loss(const table *t) {                                                         \
        return profile_of(t->rows)->loss.places;                                                   \
    }

/* Fields of JSON about the end of `trace` and about what it lacks. */
#define ENDING_FIELDS(trace)                                                                       \
    {.name = "ends_early",                                                                         \
     .kind = COLUMN_OBJECT,                                                                        \
     .in = IN_JSON,                                                                                \
     TABLE_COLUMNS(ending_columns),                                                                \
     .of = ending_of_row,                                                                          \
     .has = has_early_end,                                                                         \
     .help = "if " trace " ends before what it records: when, how and why"},                       \
    {                                                                                              \
        .name = "missing", .kind = COLUMN_OBJECT, .in = IN_JSON,                                   \
        TABLE_COLUMNS(ending_loss_columns), .of = loss_of_row, .has = has_loss,                    \
        .help = "if events before its end are missing: where, and how much"                        \
    }

#endif
