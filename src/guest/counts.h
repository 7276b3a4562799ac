/* counts.h: the counts of a tracer, for its own parts. The tracer counts at the finest distinction:
 * calling context down to the expression, type and class. Every report is a sum over these
 * counts. */
#ifndef GUEST_COUNTS_H
#define GUEST_COUNTS_H

#include "base/intern.h"
#include "guest/tally.h"
#include "guest/tracer.h"
#include "guest/tree.h"

/* One kind of allocation in one context. */
typedef struct leaf {
    uint32_t next; /* next leaf of the same node, plus one; 0: none */
    bool internal;
    const char *own_type, *own_class; /* the guest's pointers */
    const char *builtin;              /* the guest's pointer; NULL: none, or not asked for */
    const char *type, *class_name;    /* interned; class_name may be NULL */
    tally tally;
} leaf;

typedef struct site {
    guest_place place; /* interned strings; no file: frames cut out of a stack */
    const char *name;  /* of the function as reports show it: "Class.method", "program"; interned */
} site;

/* An entry of the cache of child contexts, which saves most allocations a lookup. */
typedef struct recent_context {
    uint64_t key; /* 0: empty */
    uint32_t parent, node;
} recent_context;

/* An entry of the cache of leaves. `key` and `parent` identify the allocation's context. */
typedef struct recent_leaf {
    uint64_t key;
    const char *type, *class_name, *builtin; /* the guest's pointers; type NULL: empty */
    tally *tally;
    uint32_t parent;
    bool internal;
    char padding[16]; /* to a power of two */
} recent_leaf;

enum { RECENT_BITS = 8, N_RECENT = 1 << RECENT_BITS };

struct tracer {
    const memtracer_options *options;
    guest guest;
    double started; /* seconds, monotonic */
    bool deep;      /* keeps whole stacks; otherwise innermost frames only */
    bool simple;    /* no stacks, built-ins or sampling: recent leaves are all below the root */
    bool failed;    /* no memory: counting has stopped, or the report fails */
    bool partial;   /* for reports: memory ran out before the program ended */
    uint64_t cut;   /* allocations whose stack was too deep to be kept whole */

    map64 site_numbers; /* site key → index in `sites` */
    VEC(site) sites;
    tree contexts;            /* edges are sites */
    VEC(uint32_t) first_leaf; /* by context: its first leaf, plus one; 0: none */
    VEC(leaf) leaves;
    VEC(uint32_t) path; /* contexts of the frames at the last allocation, outermost first */

    recent_context recent_contexts[N_RECENT]; /* by hash */
    recent_leaf recent_leaves[N_RECENT];
    intern_table strings;
    void *reserve; /* memory set aside for the report, of `reserved` bytes */
    size_t reserved;
};

#endif
