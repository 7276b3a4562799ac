/* counts.h: what a tracer has counted, for its own parts. The tracer keeps the finest distinctions:
 * calling context to the expression, type and class; every report is a sum over that. */
#ifndef GUEST_COUNTS_H
#define GUEST_COUNTS_H

#include "base/intern.h"
#include "guest/tally.h"
#include "guest/tracer.h"
#include "guest/tree.h"

/* One kind of allocation in one context. */
typedef struct leaf {
    uint32_t next; /* leaf of the same node, plus one; 0: none */
    bool internal;
    const char *own_type, *own_class; /* as the guest gave them */
    const char *builtin;              /* the same; NULL: none allocates, or it is not asked for */
    const char *type, *class_name;    /* interned; class_name may be NULL */
    tally tally;
} leaf;

typedef struct site {
    guest_place place; /* strings are interned; no file: frames that were cut out of a stack */
    const char *name;  /* of the function as reports show it: "Class.method", "program"; interned */
} site;

/* What a context below another one was found to be, so that most allocations search for nothing. */
typedef struct recent_context {
    uint64_t key; /* 0: none yet */
    uint32_t parent, node;
} recent_context;

/* The same for the leaf of an allocation: `key` and `parent` are its context. */
typedef struct recent_leaf {
    uint64_t key;
    const char *type, *class_name, *builtin; /* as the guest gave them; no type: none yet */
    tally *tally;
    uint32_t parent;
    bool internal;
    char padding[16]; /* to a power of 2 */
} recent_leaf;

enum { RECENT_BITS = 8, N_RECENT = 1 << RECENT_BITS };

struct tracer {
    const memtracer_options *options;
    guest guest;
    double started; /* seconds, monotonic */
    bool deep;      /* whole stacks are kept, else innermost frames only */
    bool
        simple; /* neither that, nor built-ins, nor samples: recent leaves are all below the root */
    bool failed;  /* there was no memory: nothing is counted any more, or the report fails */
    bool partial; /* in reports: it failed before the program ended */
    uint64_t cut; /* allocations whose stack was too deep to be kept whole */

    map64 site_numbers; /* site key → index in `sites` */
    VEC(site) sites;
    tree contexts;            /* edges are sites */
    VEC(uint32_t) first_leaf; /* of each context, plus one; 0: none */
    VEC(leaf) leaves;
    VEC(uint32_t) path; /* contexts of frames at the last allocation, outermost first */

    recent_context recent_contexts[N_RECENT]; /* by hash */
    recent_leaf recent_leaves[N_RECENT];
    intern_table strings;
    void *reserve; /* memory for the report, of `reserved` bytes */
    size_t reserved;
};

#endif
