/* dump.h: prints every event of a trace, one per line.
 *
 * Scripts depend on the layouts, which do not change; the manual page describes them. */
#ifndef EXPORT_DUMP_H
#define EXPORT_DUMP_H

#include "allotrace/memtrace.h"
#include "render/output.h"

#define DUMP_FORMATS(X)                                                                            \
    X(TEXT, "text")                                                                                \
    X(PLAIN, "plain")                                                                              \
    X(CSV, "csv")                                                                                  \
    X(JSON, "json")

typedef enum dump_format {
#define DUMP_FORMAT_NAME(name, text) DUMP_##name,
    DUMP_FORMATS(DUMP_FORMAT_NAME)
#undef DUMP_FORMAT_NAME
} dump_format;

typedef struct dump_options {
    dump_format format;
    bool backtraces;    /* false: the field stays empty */
    uint64_t max_depth; /* number of innermost frames to show; 0: all */
} dump_options;

/* Writes the remaining events of `reader`, until its end or until `o` fails. Returns MEMTRACE_OK at
 * the end. */
MEMTRACE_NODISCARD memtrace_status dump_events(memtrace_reader *reader, const dump_options *options,
                                               output *o);

/* Whether events of this format show backtraces. If not, they can be skipped when reading. */
bool dump_shows_backtraces(const dump_options *options);

#endif
