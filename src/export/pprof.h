/* pprof.h: writes a heap profile for pprof and compatible tools: profile.proto, compressed with
 * gzip.
 *
 * The values are those of other heap profiles: estimates of the objects and bytes allocated, and of
 * those live at the end of the trace. Samples are labeled with the heap, the size class and the
 * lifetime class and, if known, the type, the thread's name and the scope. Stacks of more than 256
 * frames lack their middle, which a comment in the profile states. */
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

/* Keys of labels, for queries by thread or scope. */
#define PPROF_THREAD "thread"
#define PPROF_SCOPE  "scope"

/* alloc_objects, alloc_space, inuse_objects, inuse_space: the values that viewers of heap profiles
 * know. */
enum { PPROF_HEAP_VALUES = 4 };
extern const pprof_value pprof_heap_values[PPROF_HEAP_VALUES];

enum { PPROF_VALUES_MAX = 8 };

typedef struct pprof_head {
    const pprof_value *values;     /* values of each sample; one must be alloc_space */
    size_t n_values;               /* at most PPROF_VALUES_MAX */
    const char *shown;             /* type of the value shown first; NULL: alloc_space */
    uint64_t time_us, duration_us; /* start of the profile, since the epoch, and its duration */
} pprof_head;

/* Begins a profile that is written sample by sample. The lens and its profile must not change
 * meanwhile. Returns NULL when out of memory. */
pprof *pprof_begin(output *o, const lens *l, const pprof_head *head);

/* Writes a node's stack with `n_values` values. */
void pprof_sample(pprof *w, uint32_t node, const uint64_t *values, const pprof_label *labels,
                  size_t n_labels);

/* Writes the rest and frees `w`. Returns false if memory ran out. */
bool pprof_end(pprof *w);

#endif
