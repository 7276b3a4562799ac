/* export_rows.h: the sampled blocks, one a row, as CSV and as JSON (an object a line).
 *
 * The layouts are for scripts and do not change; the manual page describes them. */
#ifndef EXPORT_EXPORT_ROWS_H
#define EXPORT_EXPORT_ROWS_H

#include "query/lens.h"
#include "render/output.h"

/* The rows of the profile's table of which `kept` is not 0; NULL: all. The output is asked first
 * whether it wants as much. False when there is no memory. */
bool export_csv(output *o, const lens *l, const uint8_t *kept);
bool export_json(output *o, const lens *l, const uint8_t *kept);

#endif
