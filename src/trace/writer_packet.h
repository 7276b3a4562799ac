/* writer_packet.h: the writer of a trace, and how packets begin: shared by writer.c, which fills
 * packets with events, and writer_open.c, which begins and ends the trace. */
#ifndef TRACE_WRITER_PACKET_H
#define TRACE_WRITER_PACKET_H

#include <stdatomic.h>

#include "allotrace/memtrace.h"
#include "trace/format.h"
#include "trace/writer_put.h"
#include "trace/writer_stream.h"

enum { N_DOMAINS = UINT16_MAX + 1 };

struct memtrace_writer {
    memtrace_writer_options hooks; /* `reallocate` and `sink` are never NULL */
    uint64_t start_time;           /* us since the epoch */
    uint64_t pid;
    unsigned version;
    unsigned header_size;        /* of a packet header, bytes */
    _Atomic uint64_t next_chunk; /* next chunk of ids, for the next stream that needs one */
    _Atomic unsigned open_streams;
    _Atomic bool broken; /* the sink failed and must not be called again */
    int head_error;      /* errno of that failure, if at the head of the trace, or 0 */
    uint64_t end_at;     /* offset of the statement of the end, bytes; 0: none */
    _Atomic bool end_said;
    _Atomic uint64_t latest; /* end of all streams closed so far, us since the epoch */
    _Atomic uint32_t domains_used[N_DOMAINS / 32]; /* bit set: a stream has or had the domain */
};

static inline void *writer_get_memory(memtrace_writer *w, size_t size) {
    return w->hooks.reallocate(w->hooks.context, NULL, 0, size);
}

static inline void writer_give_back(memtrace_writer *w, void *memory, size_t size) {
    if (memory)
        w->hooks.reallocate(w->hooks.context, memory, size, 0);
}

static inline void packet_clear(const memtrace_writer *w, packet *p) {
    p->used = p->bytes + w->header_size;
}

static inline void packet_begin(packet *p, uint64_t time, uint64_t id) {
    p->begin = p->end = time;
    p->id_begin = p->id_end = id;
    p->verify_bucket = FORMAT_VERIFY_NOTHING;
    p->verify = (cache_bucket){0};
}

static inline void packet_head(const memtrace_writer *w, uint16_t domain, packet *made) {
    const packet_header h = {
        .version = (uint16_t)w->version,
        .verify_bucket = made->verify_bucket,
        .verify_prediction = made->verify.prediction,
        .verify_code = made->verify.code,
        .packet = {.size = (uint32_t)(made->used - made->bytes),
                   .domain = domain,
                   .time_begin = made->begin,
                   .time_end = made->end,
                   .pid = w->pid,
                   .id_begin = made->id_begin,
                   .id_end = made->id_end},
    };
    put_packet_header(made->bytes, &h);
}

/* Handles a failure of the sink: states it in the trace if there is a place for that. Returns
 * MEMTRACE_IO. */
memtrace_status writer_break(memtrace_writer *w, uint64_t time, int os_error);

#endif
