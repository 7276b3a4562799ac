/* ending.c: the two sentences about a trace's end, the text that replaces `exact` in an interval,
 * and the columns for JSON. */
#include "reports/ending.h"

#include <stdio.h>
#include <string.h>

/* Sentences about when and why a trace ends, and what is missing. */
typedef struct ending_words {
    char when[400], missing[200];
} ending_words;

/* Returns false if the trace does not end early. */
static bool say_end(const profile *p, ending_words *words) {
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

/* A gap in which no time passed also counts as a place. */
bool ending_say_loss(const profile *p, loss_words *words) {
    const profile_loss *l = &p->loss;
    const figure_text from = figure_duration(l->from), took = figure_duration(l->duration),
                      bytes = figure_bytes((double)l->bytes), places = figure_count(l->places);
    const double percent = l->of ? 100.0 * (double)l->bytes / (double)l->of : 0;
    char share[100] = "packets are gone", where[100] = "";
    if (l->places == 0)
        return false;
    if (l->bytes > 0 && percent < 0.1)
        snprintf(share, sizeof share, "%s, below 0.1%% of the trace, cannot be read", bytes.text);
    else if (l->bytes > 0)
        snprintf(share, sizeof share, "%s, %.1f%% of the trace, cannot be read", bytes.text,
                 percent);
    if (l->places > 1)
        snprintf(where, sizeof where, "in %s places, the first ", places.text);
    if (l->places == 1 && l->to == 0) /* a part cut out of a trace lacks what was before it */
        snprintf(words->phrase, sizeof words->phrase, "events before its start (%s)", share);
    else
        snprintf(words->phrase, sizeof words->phrase, "%s %sat %s (%s)",
                 l->duration ? took.text : "events", where, from.text, share);
    snprintf(words->what, sizeof words->what, "Missing: %s.", words->phrase);
    snprintf(words->so, sizeof words->so,
             "All else is there; blocks that were freed in what is missing count as live.");
    return true;
}

void ending_note(document *d, const profile *p) {
    ending_words end;
    loss_words loss;
    if (say_end(p, &end)) {
        document_note(d, "%s", end.when);
        document_note(d, "%s", end.missing);
    }
    if (ending_say_loss(p, &loss)) {
        document_note(d, "%s", loss.what);
        document_note(d, "%s", loss.so);
    }
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

TABLE_CELL(end_time, (cell){.count = end_of_row(row)->time})
TABLE_CELL(end_how, (cell){.text = end_of_row(row)->how == MEMTRACE_END_OPEN ? "open" : "early"})
TABLE_CELL(end_lost, (cell){.count = end_of_row(row)->n_lost})
TABLE_CELL(end_reason, (cell){.text = end_of_row(row)->reason})

const table_column ending_columns[4] = {
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

/* ---- what is missing before the end ------------------------------------------------------ */

#define LOSS_COLUMNS(X)                                                                            \
    X(places, COUNT, "in how many places events are missing")                                      \
    X(from, DURATION, "where the first begins, in microseconds")                                   \
    X(to, DURATION, "where it ends")                                                               \
    X(duration, DURATION, "of all together")                                                       \
    X(bytes, COUNT, "that cannot be read")                                                         \
    X(of, COUNT, "so many")

#define LOSS_CELL(name, kind, help_)                                                               \
    TABLE_CELL(loss_##name, (cell){.count = ((const profile_loss *)row)->name})
LOSS_COLUMNS(LOSS_CELL)
#undef LOSS_CELL

#define LOSS_COLUMN(name_, kind_, help_)                                                           \
    {.name = #name_, .kind = COLUMN_##kind_, .get = loss_##name_, .help = help_},
const table_column ending_loss_columns[6] = {LOSS_COLUMNS(LOSS_COLUMN)};
#undef LOSS_COLUMN
