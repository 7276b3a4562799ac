/* reader_end.c: decides whether a trace is complete. All readers of traces rely on this. */
#include <stdio.h>
#include <string.h>

#include "trace/end.h"
#include "trace/reader.h"

enum { LONG_SILENT = 1000000 /* us */ };

static bool is_cut_short(const memtrace_reader *r) {
    for (size_t i = 0; i < r->defects.n; i++)
        if (r->defects.warnings[i].defect == MEMTRACE_DEFECT_CUT_SHORT)
            return true;
    return false;
}

/* Returns the time up to which nothing is missing if writing stopped: events that a domain had not
 * written are later than its latest event. A domain that was silent for long had none, because
 * recorders write out older events. */
static uint64_t surely_until(const memtrace_reader *r) {
    const uint64_t duration = memtrace_reader_duration(r), last = r->info.start_time + duration;
    uint64_t until = last;
    for (size_t i = 0; i < r->domains.count; i++) {
        const uint64_t time = r->domains.items[i]->last_time;
        if (time < until && last - time < LONG_SILENT)
            until = time;
    }
    return until - r->info.start_time;
}

memtrace_end memtrace_reader_end(const memtrace_reader *r) {
    memtrace_end end = r->said_end;
    if (end.how == MEMTRACE_END_OPEN)
        end.time = surely_until(r);
    if (is_cut_short(r) && end.how != MEMTRACE_END_EARLY)
        end = end_make(MEMTRACE_END_EARLY, surely_until(r), 0, "the file is cut short");
    return end;
}

void end_explain(const memtrace_end *end, char *text, size_t size) {
    const char *reason =
        end->how == MEMTRACE_END_OPEN
            ? "the recording was not ended properly: it is still running, or was killed"
            : end->reason;
    if (end->os_error)
        snprintf(text, size, "%s: %s", reason, strerror(end->os_error));
    else
        snprintf(text, size, "%s", reason);
}

/* When a trace is read while being written, the statement may have changed since it was read. */
static void read_again(memtrace_reader *r) {
    uint8_t bytes[END_PACKET];
    const end_trace of = reader_end_trace(r);
    if (r->said_end.how == MEMTRACE_END_OPEN &&
        input_read_again(&r->in, bytes, sizeof bytes, r->said_at))
        end_parse(bytes, sizeof bytes, &of, &r->said_end);
}

memtrace_status reader_judge_end(memtrace_reader *r) {
    char why[2 * MEMTRACE_MAX_REASON];
    if (r->judged)
        return MEMTRACE_END;
    r->judged = true;
    read_again(r);
    reader_finish_gaps(r);
    const memtrace_end end = memtrace_reader_end(r);
    memtrace_status status = MEMTRACE_OK;
    end_explain(&end, why, sizeof why);
    if (end.how == MEMTRACE_END_OPEN)
        status = reader_defect(r, NO_END, r->in.offset, "%s", why);
    else if (end.how == MEMTRACE_END_EARLY && r->said_end.how == MEMTRACE_END_EARLY)
        status = reader_defect(r, ENDS_EARLY, r->in.offset, "%.6f s from its start: %s",
                               (double)end.time / 1e6, why);
    return status == MEMTRACE_OK ? MEMTRACE_END : status;
}
