/* writer_fixture.h: writes a trace with one domain, decodes it, and compares the result with what
 * was written. */
#ifndef WRITER_FIXTURE_H
#define WRITER_FIXTURE_H

#include "trace/format.h"
#include "trace_fixture.h"

static inline void assert_packets_are_small(const fixture *f) {
    for (size_t i = 0; i < f->packets.count; i++)
        ck_assert_uint_le(f->packets.items[i].size, FORMAT_MAX_PACKET);
}

/* Closes everything and compares. */
static inline void finish(fixture *f, source_of_events *s) {
    ck_assert_int_eq(memtrace_stream_close(s->stream), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f->writer), MEMTRACE_OK);
    assert_packets_are_small(f);
    assert_decodes_to(f, &s->expected);
    fixture_free(f);
}

static inline void begin(fixture *f, source_of_events *s, uint16_t version) {
    ck_assert_int_eq(fixture_open(f, version), MEMTRACE_OK);
    open_events(s, f, 0);
}

#endif
