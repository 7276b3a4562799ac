/* export_parquet.h: a profile as Parquet files in a folder that holds those of many: a table of its
 * sampled blocks, with those of stacks, frames, marks and the trace. docs/parquet.md is the schema.
 *
 * A file a table and trace: TABLE/day=DAY/service=SERVICE/TRACE.parquet. Each is replaced as a
 * whole, that of `traces` last: what it names is complete. */
#ifndef EXPORT_EXPORT_PARQUET_H
#define EXPORT_EXPORT_PARQUET_H

#include <stddef.h>

#include "query/lens.h"

/* What the caller knows of the process. `service` names the partition, `version` a column. */
typedef struct export_parquet_spec {
    const char *folder;
    const char *const *labels; /* KEY=VALUE each; the last of the same key counts */
    size_t n_labels;
    const char *filter;  /* what selected `kept`; NULL: nothing */
    const uint8_t *kept; /* by row of the profile's table; NULL: all */
} export_parquet_spec;

/* Whether a text is KEY=VALUE with a key. */
bool export_parquet_is_label(const char *text);

/* Makes the folders that are missing. On failure, false and what could not be done, and why, in
 * `reason`. */
bool parquet_tables_write(const lens *l, const export_parquet_spec *spec, char *reason,
                          size_t size);

#endif
