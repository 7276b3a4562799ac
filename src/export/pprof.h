/* pprof.h: a heap profile as pprof and its relatives read it: profile.proto, compressed with gzip.
 *
 * Its values are those of other heap profiles: estimates of the objects and bytes allocated, and of
 * those still alive at the end of the trace. Samples are labelled with the heap, the type if it is
 * known, the name of the thread if it has one, the scope if it is in one, and the classes of size
 * and lifetime. Of stacks of more than 256 frames the middle is left out, and a comment says so. */
#ifndef EXPORT_PPROF_H
#define EXPORT_PPROF_H

#include "query/lens.h"
#include "render/output.h"

typedef struct pprof pprof;

typedef struct pprof_value {
    const char *type, *unit;
} pprof_value;

typedef struct pprof_label {
    const char *key, *text;
} pprof_label;

/* Keys of labels, for who asks for what allocates. */
#define PPROF_THREAD "thread"
#define PPROF_SCOPE  "scope"

/* alloc_objects, alloc_space, inuse_objects, inuse_space: what pages that show heap profiles know.
 */
enum { PPROF_HEAP_VALUES = 4 };
extern const pprof_value pprof_heap_values[PPROF_HEAP_VALUES];

enum { PPROF_VALUES_MAX = 8 };

typedef struct pprof_head {
    const pprof_value *values;     /* that each sample has; alloc_space is among them */
    size_t n_values;               /* at most PPROF_VALUES_MAX */
    const char *shown;             /* the type that is shown first; NULL: alloc_space */
    uint64_t time_us, duration_us; /* of what is told: since the epoch; how long */
} pprof_head;

/* A profile that is written sample by sample. The lens and its profile must not change meanwhile.
 * NULL when there is no memory. */
pprof *pprof_begin(output *o, const lens *l, const pprof_head *head);

/* A node's stack with `n_values` values. */
void pprof_sample(pprof *w, uint32_t node, const uint64_t *values, const pprof_label *labels,
                  size_t n_labels);

/* Writes what is left and frees `w`. False when memory ran out. */
bool pprof_end(pprof *w);

#endif
