/* runtime.c: the part of runtime_events.h that is not inline: what follows an event of a
 * runtime. */
#include "record/runtime_events.h"

void runtime_note(const struct runtime_place *at, memtrace_status status) {
    if (status != MEMTRACE_OK) {
        at->session->runtime->domain_forget(at->domain->runtime);
        session_note(at->session, status);
    }
    if (at->clock_was_read)
        session_sweep(at->session, at->domain->now);
}
