/* export_parquet.h: a profile as Parquet files in a folder that holds those of many: a table of its
 * sampled blocks, with those of stacks, frames, marks and the trace. docs/parquet.md is the schema.
 *
 * A file a table and trace: TABLE/day=DAY/service=SERVICE/TRACE.parquet. Each is replaced as a
 * whole, that of `traces` last: what it names is complete. Folders that are missing are made. */
#ifndef EXPORT_EXPORT_PARQUET_H
#define EXPORT_EXPORT_PARQUET_H

#include <stdbool.h>

/* Whether a text is KEY=VALUE with a key. */
bool export_parquet_is_label(const char *text);

#endif
