/* view.h: the counts as a report needs them: without functions that are filtered out, and with
 * contexts made of the elements that the options ask for. */
#ifndef GUEST_VIEW_H
#define GUEST_VIEW_H

#include "guest/counts.h"

/* What an allocation can be charged to. */
typedef enum element_kind {
    ELEMENT_FUNCTION,
    ELEMENT_STATEMENT,
    ELEMENT_CALL,
    ELEMENT_LINE, /* a line of a function, which is a frame of a printed stack */
    N_ELEMENT_KINDS,
    ELEMENT_RUNTIME = N_ELEMENT_KINDS, /* a built-in function, or the runtime itself */
} element_kind;

typedef struct element {
    element_kind kind;
    const char *name; /* interned */
    const char *file; /* interned; NULL for ELEMENT_RUNTIME and for frames that were cut out */
    guest_extent extent;
} element;

#define NO_ELEMENT UINT32_MAX

/* An allocation, and what it is charged to. */
typedef struct entry {
    const site *site; /* NULL: charged to the runtime */
    const leaf *leaf;
    uint32_t context;
} entry;

typedef struct view {
    tracer *tracer;
    bool *matches; /* by site: its function passes the filters */
    VEC(entry) entries;
    VEC(const char *) files; /* of all sites, without duplicates */
    VEC(element) elements;
    uint32_t *element_of; /* [site * N_ELEMENT_KINDS + kind]; NO_ELEMENT: none */
    tally total;          /* of the entries */
} view;

/* Returns false when there is no memory. The view must be freed in any case. */
bool view_init(view *v, tracer *t);
void view_free(view *v);

/* Returns the element of the built-in function, or of the runtime, that allocated. Returns
 * NO_ELEMENT if the program allocated, if such elements are not asked for, or if there was no
 * memory, which marks the tracer as failed. */
uint32_t view_runtime_element(view *v, const leaf *l);

/* Returns the shortest suffix of a path, at a component, that no other file of the view has. */
const char *view_file(const view *v, const char *file);

/* A tree of contexts whose edges are elements. */
typedef struct projection {
    tree tree;
    uint32_t *node_of; /* by context of the tracer */
} projection;

/* `kinds` is a set of bits 1 << ELEMENT_…. Returns false when there is no memory. The projection
 * must be freed in any case. */
bool projection_init(projection *p, const view *v, unsigned kinds);
void projection_free(projection *p);

/* Sets the element of a node other than the root. Returns how many consecutive nodes towards the
 * root have it, and moves `node` to the first one after them. */
size_t projection_step(const projection *p, const view *v, uint32_t *node, const element **e);

#endif
