/* ending.c: two sentences, the word that takes the place of `exact` in an interval, and the columns
 * by which JSON says the same. */
#include "reports/ending.h"

#include <stdio.h>
#include <string.h>

bool ending_say(const profile *p, ending_words *words) {
    const profile_end *end = &p->end;
    if (!profile_ends_early(p))
        return false;
    snprintf(words->when, sizeof words->when, "The trace ends early, at %s%s%s.",
             figure_duration(end->time).text, end->reason[0] ? ": " : "", end->reason);
    if (end->n_lost)
        snprintf(words->missing, sizeof words->missing,
                 "Everything after that is missing: %s allocation%s that could not be written, and "
                 "all later ones.",
                 figure_count(end->n_lost).text, end->n_lost == 1 ? "" : "s");
    else
        snprintf(words->missing, sizeof words->missing, "Everything after that is missing.");
    return true;
}

figure_range ending_error(const profile *p, figure_range error) {
    if (profile_ends_early(p) && strcmp(error.text, "exact") == 0)
        snprintf(error.text, sizeof error.text, "exact up to %s%s",
                 figure_duration(p->end.time).text,
                 p->duration > p->end.time ? ", incomplete after that" : "");
    return error;
}

static const profile_end *end_of_row(const void *row) {
    return row;
}

static cell end_time(const table *t, const void *row) {
    (void)t;
    return (cell){.count = end_of_row(row)->time};
}

static cell end_how(const table *t, const void *row) {
    (void)t;
    return (cell){.text = end_of_row(row)->how == MEMTRACE_END_OPEN ? "open" : "early"};
}

static cell end_lost(const table *t, const void *row) {
    (void)t;
    return (cell){.count = end_of_row(row)->n_lost};
}

static cell end_reason(const table *t, const void *row) {
    (void)t;
    return (cell){.text = end_of_row(row)->reason};
}

const table_column ending_columns[] = {
    {.name = "time",
     .kind = COLUMN_DURATION,
     .get = end_time,
     .help = "when the trace ends, in microseconds"},
    {.name = "how",
     .kind = COLUMN_TEXT,
     .get = end_how,
     .help = "early: the recorder said so; open: nobody did"},
    {.name = "lost_allocations",
     .kind = COLUMN_COUNT,
     .get = end_lost,
     .help = "allocations that are known to be missing"},
    {.name = "reason", .kind = COLUMN_TEXT, .get = end_reason, .help = "why it ends there"},
};
const size_t ending_n_columns = sizeof ending_columns / sizeof *ending_columns;
