/* export_parquet.h: writes a profile as Parquet files, into a folder that holds those of many
 * traces: a table of its sampled blocks, and tables of stacks, frames, marks and the trace.
 * docs/parquet.md is the schema.
 *
 * Each table of a trace is a file: TABLE/day=DAY/service=SERVICE/TRACE.parquet. Each file is
 * replaced as a whole. That of `traces` is last, so the traces listed there are complete. Missing
 * folders are created. */
#ifndef EXPORT_EXPORT_PARQUET_H
#define EXPORT_EXPORT_PARQUET_H

#include <stdbool.h>

/* Whether a text has the form KEY=VALUE with a non-empty key. */
bool export_parquet_is_label(const char *text);

#endif
