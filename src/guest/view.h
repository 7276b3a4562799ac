/* view.h: the counts as a report needs them: without the functions that are filtered out, and with
 * contexts made of the elements that the options ask for. */
#ifndef GUEST_VIEW_H
#define GUEST_VIEW_H

#include "guest/counts.h"

/* What an allocation can be charged to. */
typedef enum element_kind {
    ELEMENT_FUNCTION,
    ELEMENT_STATEMENT,
    ELEMENT_CALL,
    ELEMENT_LINE, /* of a function: what a frame of a printed stack is */
    N_ELEMENT_KINDS,
    ELEMENT_RUNTIME = N_ELEMENT_KINDS, /* a built-in function, or the runtime itself */
} element_kind;

typedef struct element {
    element_kind kind;
    const char *name; /* interned */
    const char *file; /* interned; NULL of ELEMENT_RUNTIME, and of frames that were cut out */
    guest_extent extent;
} element;

#define NO_ELEMENT UINT32_MAX

/* An allocation, and what it is charged to. */
typedef struct entry {
    const site *site; /* NULL: the runtime's own */
    const leaf *leaf;
    uint32_t context;
} entry;

typedef struct view {
    tracer *tracer;
    bool *matches; /* of each site: is its function left by the filters? */
    VEC(entry) entries;
    VEC(const char *) files; /* of all sites, each once */
    VEC(element) elements;
    uint32_t *element_of; /* [site * N_ELEMENT_KINDS + kind]; NO_ELEMENT: it has none */
    tally total;          /* of the entries */
} view;

/* False when there is no memory; free it in any case. */
bool view_init(view *v, tracer *t);
void view_free(view *v);

/* The element of the built-in function, or of the runtime, that allocated; NO_ELEMENT: the program
 * did, or such elements are not asked for, or there was no memory (the tracer has `failed` then).
 */
uint32_t view_runtime_element(view *v, const leaf *l);

/* The shortest end of a path that is no other file's in this view, at the start of a part of it. */
const char *view_file(const view *v, const char *file);

/* Contexts made of elements. */
typedef struct projection {
    tree tree;         /* edges are elements */
    uint32_t *node_of; /* for each context of the tracer */
} projection;

/* `kinds` is a set of bits. False when there is no memory; free it in any case. */
bool projection_init(projection *p, const view *v, unsigned kinds);
void projection_free(projection *p);

/* The element of a node, which is not the root, and how many nodes from there towards the root have
 * it in succession; `node` becomes the one after them. */
size_t projection_step(const projection *p, const view *v, uint32_t *node, const element **e);

#endif
