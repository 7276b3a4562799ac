/* pprof.h: a heap profile as pprof and its relatives read it: profile.proto, compressed with gzip.
 *
 * Its values are those of other heap profiles: estimates of the objects and bytes allocated, and of
 * those still alive at the end of the trace. Samples are labelled with the heap, the type if it is
 * known, and the classes of size and lifetime. Of stacks of more than 256 frames the middle is left
 * out, and a comment says so. */
#ifndef EXPORT_PPROF_H
#define EXPORT_PPROF_H

#include "query/lens.h"
#include "render/output.h"

/* Of the rows of the profile's table of which `kept` is not 0; NULL: of all. False when there is no
 * memory. */
bool export_pprof(output *o, const lens *l, const uint8_t *kept);

#endif
