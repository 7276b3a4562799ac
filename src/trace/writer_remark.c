/* writer_remark.c: how marks, gauges and names of threads are written; reader_remark.c reads them.
 * FORMAT.md says what they are in the file, and nobody else needs to know. */
#include "allotrace/memtrace.h"

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
