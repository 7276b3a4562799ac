/* defects.c: keeps the list sorted by first offset. The texts come from MEMTRACE_DEFECTS. */
#include "trace/defects.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const texts[] = {
#define TEXT(name, text) [MEMTRACE_DEFECT_##name] = text,
    MEMTRACE_DEFECTS(TEXT)
#undef TEXT
};

bool defects_cost_events(const memtrace_warning *warnings, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (warnings[i].defect == MEMTRACE_DEFECT_NOT_A_PACKET ||
            warnings[i].defect == MEMTRACE_DEFECT_BAD_EVENT ||
            warnings[i].defect == MEMTRACE_DEFECT_CACHE_MISMATCH ||
            warnings[i].defect == MEMTRACE_DEFECT_GAP)
            return true;
    return false;
}

/* Returns the warning of this kind; a new one is inserted by its offset. */
static memtrace_warning *warning_of(defect_log *log, memtrace_defect defect, uint64_t offset) {
    for (size_t i = 0; i < log->n; i++)
        if (log->warnings[i].defect == defect)
            return &log->warnings[i];
    size_t at = log->n;
    while (at > 0 && log->warnings[at - 1].first_offset > offset)
        at--;
    memmove(log->warnings + at + 1, log->warnings + at, (log->n - at) * sizeof *log->warnings);
    log->n++;
    log->warnings[at] =
        (memtrace_warning){.defect = defect, .first_offset = offset, .text = texts[defect]};
    return &log->warnings[at];
}

memtrace_status defect_met(defect_log *log, memtrace_error *error, memtrace_defect defect,
                           uint64_t offset, const char *format, ...) {
    char detail[sizeof error->reason];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    warning_of(log, defect, offset)->count++;
    if (log->observer)
        log->observer(log->observer_context, defect, offset, detail);
    if (!log->strict)
        return MEMTRACE_OK;
    *error = (memtrace_error){.status = MEMTRACE_FORMAT, .offset = offset};
    memcpy(error->reason, detail, sizeof detail);
    return error->status;
}
