/* span_remark.h: how the ids of a span stand in a trace: as numbers, since each request has new
 * ones, and names are few. A remark holds a length of 63 bits, of which OCaml's reader keeps 62: so
 * six bytes are a part, and four remarks the whole. writer_remark.c puts them, reader_remark.c
 * takes them; see FORMAT.md, section 6. No malloc, no stdio. */
#ifndef TRACE_SPAN_REMARK_H
#define TRACE_SPAN_REMARK_H

#include "allotrace/memtrace.h"

enum {
    SPAN_PART_BYTES = 6,
    SPAN_REMARK_AGAIN = 2, /* a span of the same trace begins with this part */
    SPAN_REMARK_NONE = sizeof(memtrace_span) / SPAN_PART_BYTES, /* behind the parts */
    SPAN_REMARKS
};

/* What their locations, in MEMTRACE_SPAN_FILE, are called. */
extern const char *const span_remark_names[SPAN_REMARKS] __attribute__((visibility("hidden")));

struct span_remark {
    unsigned which; /* in span_remark_names */
    uint64_t value;
};

/* What is to be written, in this order, so that what follows in a stream is of this span, or of
 * none. `said` is what the stream has of the last span, zero at first. Gives the number. */
size_t span_remark_list(memtrace_span *said, const memtrace_span *span,
                        struct span_remark remarks[SPAN_REMARKS]);

/* What is known of a domain's span while reading. Legal when zeroed. */
typedef struct span_reading {
    memtrace_span span;
    uint8_t parts; /* of it, from the first on, that follow each other */
} span_reading;

/* Room for a span's name and a NUL. */
enum { SPAN_TEXT = MEMTRACE_TRACE_DIGITS + 1 + MEMTRACE_SPAN_DIGITS + 1 };

/* The ids that a name has; none for an empty one. */
memtrace_span span_remark_ids(const char *name);

#endif
