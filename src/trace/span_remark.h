/* span_remark.h: the ids of spans in a trace. They are written as numbers rather than names,
 * because each request has new ids and a trace is meant to have few names. A remark holds a length
 * of 63 bits, of which OCaml's reader keeps 62. So a remark holds six bytes, and four remarks a
 * whole span. writer_remark.c writes them, reader_remark.c reads them; see FORMAT.md, section 6. No
 * malloc, no stdio. */
#ifndef TRACE_SPAN_REMARK_H
#define TRACE_SPAN_REMARK_H

#include "allotrace/memtrace.h"

enum {
    SPAN_PART_BYTES = 6,
    SPAN_REMARK_AGAIN = 2, /* first part written if the trace id is unchanged */
    /* The remark that says there is no span. */
    SPAN_REMARK_NONE = sizeof(memtrace_span) / SPAN_PART_BYTES,
    SPAN_REMARKS
};

/* The names of their locations in MEMTRACE_SPAN_FILE. */
extern const char *const span_remark_names[SPAN_REMARKS] __attribute__((visibility("hidden")));

struct span_remark {
    unsigned which; /* index in span_remark_names */
    uint64_t value;
};

/* Lists the remarks, in order, that set a stream's current span, or end it. `said` is the last span
 * written to the stream, initially zero, and is updated. Returns the number of remarks. */
size_t span_remark_list(memtrace_span *said, const memtrace_span *span,
                        struct span_remark remarks[SPAN_REMARKS]);

/* State of reading a domain's span. Valid when zeroed. */
typedef struct span_reading {
    memtrace_span span;
    uint8_t parts; /* parts read so far, without a gap from the first */
} span_reading;

/* Room for a span's name and a NUL. */
enum { SPAN_TEXT = MEMTRACE_TRACE_DIGITS + 1 + MEMTRACE_SPAN_DIGITS + 1 };

/* Parses the ids in a span's name; all zero for an empty name. */
memtrace_span span_remark_ids(const char *name);

#endif
