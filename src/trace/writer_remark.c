/* writer_remark.c: writes marks, gauges, names of threads and ids of spans, which reader_remark.c
 * reads. FORMAT.md describes their form in the file, which no other code needs to know. */
#include <string.h>

#include "trace/span_remark.h"

memtrace_status memtrace_stream_remark(memtrace_stream *stream, uint64_t time, uint64_t code,
                                       uint64_t value) {
    uint64_t id;
    const memtrace_status status =
        memtrace_stream_alloc(stream, time, MEMTRACE_EXTERNAL, value, 0, &code, 1, 0, &id);
    return status == MEMTRACE_OK ? memtrace_stream_collect(stream, time, id) : status;
}

memtrace_status memtrace_stream_remark_as(memtrace_stream *stream, uint64_t time, uint64_t id,
                                          uint64_t code, uint64_t value) {
    const memtrace_status status =
        memtrace_stream_alloc_as(stream, time, id, MEMTRACE_EXTERNAL, value, 0, &code, 1, 0);
    return status == MEMTRACE_OK ? memtrace_stream_collect(stream, time, id) : status;
}

/* ---- spans --------------------------------------------------------------------------------- */

const char *const span_remark_names[SPAN_REMARKS] = {"bytes 0", "bytes 6", "bytes 12", "bytes 18",
                                                     MEMTRACE_NO_SCOPE};

static uint64_t part_of(const memtrace_span *span, unsigned part) {
    uint64_t value = 0;
    for (unsigned i = 0; i < SPAN_PART_BYTES; i++)
        value = value << 8 | span->ids[part * SPAN_PART_BYTES + i];
    return value;
}

static bool is_none(const memtrace_span *span) {
    static const memtrace_span none;
    return memcmp(span, &none, sizeof none) == 0;
}

size_t span_remark_list(memtrace_span *said, const memtrace_span *span,
                        struct span_remark remarks[SPAN_REMARKS]) {
    const bool is_again =
        !is_none(said) && memcmp(said->ids, span->ids, SPAN_REMARK_AGAIN * SPAN_PART_BYTES) == 0;
    size_t n = 0;
    if (is_none(span)) {
        remarks[n++] = (struct span_remark){.which = SPAN_REMARK_NONE};
        return n;
    }
    for (unsigned i = is_again ? SPAN_REMARK_AGAIN : 0; i < SPAN_REMARK_NONE; i++)
        remarks[n++] = (struct span_remark){.which = i, .value = part_of(span, i)};
    *said = *span;
    return n;
}
