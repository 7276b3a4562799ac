/* writer_names.c: opens a writer, announces the codes on one stream, and closes the writer.
 * writer_announce is part of writer.c. */
#include "trace/writer_names.h"

static memtrace_status announce_all(memtrace_writer *writer, uint16_t domain, const uint64_t *codes,
                                    size_t n) {
    memtrace_stream *stream;
    memtrace_status status = memtrace_stream_open(writer, domain, &stream);
    if (status != MEMTRACE_OK)
        return status;
    for (size_t i = 0; i < n && status == MEMTRACE_OK; i++)
        status = writer_announce(stream, codes[i]);
    const memtrace_status closed = memtrace_stream_close(stream);
    return status == MEMTRACE_OK ? closed : status;
}

memtrace_status writer_put_names(const memtrace_info *info, const memtrace_writer_options *hooks,
                                 uint16_t domain, const uint64_t *codes, size_t n) {
    memtrace_writer *writer;
    memtrace_status status = memtrace_writer_open(info, hooks, &writer, NULL);
    if (status != MEMTRACE_OK)
        return status;
    status = announce_all(writer, domain, codes, n);
    const memtrace_status closed = memtrace_writer_close(writer);
    return status == MEMTRACE_OK ? closed : status;
}
