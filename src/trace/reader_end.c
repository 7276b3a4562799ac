/* reader_end.c: whether a trace is whole. Decided here alone, for all who read. */
#include <stdio.h>
#include <string.h>

#include "trace/end.h"
#include "trace/reader.h"

static bool is_cut_short(const memtrace_reader *r) {
    for (size_t i = 0; i < r->defects.n; i++)
        if (r->defects.warnings[i].defect == MEMTRACE_DEFECT_CUT_SHORT)
            return true;
    return false;
}

memtrace_end memtrace_reader_end(const memtrace_reader *r) {
    memtrace_end end = r->said_end;
    const uint64_t duration = memtrace_reader_duration(r);
    if (end.how == MEMTRACE_END_OPEN)
        end.time = duration;
    if (is_cut_short(r) && end.how != MEMTRACE_END_EARLY)
        end = end_of(MEMTRACE_END_EARLY, duration, 0, "the file is cut short");
    return end;
}

void end_explain(const memtrace_end *end, char *text, size_t size) {
    const char *reason = end->how == MEMTRACE_END_OPEN
                             ? "the recorder has not said that it ended: it still records, or was killed"
                             : end->reason;
    if (end->os_error)
        snprintf(text, size, "%s: %s", reason, strerror(end->os_error));
    else
        snprintf(text, size, "%s", reason);
}

memtrace_status reader_judge_end(memtrace_reader *r) {
    char why[2 * MEMTRACE_MAX_REASON];
    if (r->judged)
        return MEMTRACE_END;
    r->judged = true;
    const memtrace_end end = memtrace_reader_end(r);
    memtrace_status status = MEMTRACE_OK;
    end_explain(&end, why, sizeof why);
    if (end.how == MEMTRACE_END_OPEN)
        status = reader_defect(r, NO_END, r->in.offset, "%s", why);
    else if (end.how == MEMTRACE_END_EARLY && r->said_end.how == MEMTRACE_END_EARLY)
        status = reader_defect(r, ENDS_EARLY, r->in.offset, "%s; %.6f s from the start, %s", why,
                               (double)end.time / 1e6,
                               end.n_lost ? "with allocations that could not be written"
                                          : "and what came later is missing");
    return status == MEMTRACE_OK ? MEMTRACE_END : status;
}
