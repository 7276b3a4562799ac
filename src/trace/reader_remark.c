/* reader_remark.c: how marks, gauges, names of threads and scopes are read; writer_remark.c writes
 * them.
 *
 * In the file each is an allocation without samples, whose innermost location says what it is, and
 * behind it the end of that, which is no event. */
#include <string.h>

#include "trace/reader_next.h"

static const struct {
    const char *file;
    memtrace_event_kind kind;
} remarks[] = {{MEMTRACE_MARK_FILE, MEMTRACE_MARK},
               {MEMTRACE_GAUGE_FILE, MEMTRACE_GAUGE},
               {MEMTRACE_THREAD_FILE, MEMTRACE_THREAD},
               {MEMTRACE_SCOPE_FILE, MEMTRACE_SCOPE}};

/* Steps over the end of the object at r->next. */
static void skip_end(memtrace_reader *r, uint64_t id) {
    const uint8_t *at = r->next;
    memtrace_event end;
    if (r->end - at >= FORMAT_EVENT_HEADER && bytes_u32(at) >> FORMAT_TIME_BITS == FORMAT_COLLECT &&
        reader_fate(r, at + FORMAT_EVENT_HEADER, FORMAT_COLLECT, false, &end) == BACKTRACE_GOOD &&
        end.id != id)
        r->next = at;
}

__attribute__((cold)) void reader_tell_remark(memtrace_reader *r, memtrace_event *event) {
    event->name = NULL;
    if (r->options.as_written)
        return;
    const memtrace_frame *f =
        event->n_frames ? memtrace_reader_frame(r, event->frames[event->n_frames - 1]) : NULL;
    const memtrace_location *l = f && f->n_locations ? &f->locations[f->n_locations - 1] : NULL;
    event->kind = MEMTRACE_MARK;
    for (size_t i = 0; l && i < sizeof remarks / sizeof *remarks; i++)
        if (strcmp(l->file, remarks[i].file) == 0) {
            event->kind = remarks[i].kind;
            event->name = l->function;
        }
    if (event->kind == MEMTRACE_SCOPE && strcmp(event->name, MEMTRACE_NO_SCOPE) == 0)
        event->name = "";
    skip_end(r, event->id);
}
