/* cct.h: the calling-context tree: every distinct call stack of a trace, once.
 *
 * A node is a frame below another node; the path from the root (node 0, which has no frame) to a
 * node is a stack, outermost caller first. What was allocated with exactly that stack is the node's
 * own totals; those of a whole subtree are for queries to sum up. Nodes are never removed, and a
 * node comes after its parent.
 *
 * Frames are the trace's own numbers for them (memtrace_reader_frame); a frame that stands for
 * several inlined functions is one node, taken apart only when a query shows it. */
#ifndef ANALYSE_CCT_H
#define ANALYSE_CCT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define CCT_ROOT     0u
#define CCT_NO_FRAME UINT32_MAX /* the frame of the root */
#define CCT_NO_NODE  UINT32_MAX
#define CCT_SOURCES  3 /* as many as memtrace_source has */

typedef struct cct_node {
    uint32_t frame;
    uint32_t parent;  /* smaller than the node's own index; the root's is the root */
    uint32_t child;   /* the first one, mostly the only one; CCT_ROOT: none */
    uint32_t sibling; /* the next child of the parent; CCT_ROOT: none, or only in the table */
    uint32_t own;     /* index into `totals`, or CCT_NO_NODE: nothing was allocated right here */
} cct_node;

/* Says which child of `parent` has `frame`. */
typedef struct cct_slot {
    uint32_t parent;
    uint32_t frame;
    uint32_t child; /* CCT_ROOT: the slot is empty */
} cct_slot;

/* By source. Marks and gauges, which have no samples, are in none. */
typedef struct cct_totals {
    uint32_t node;
    uint64_t samples[CCT_SOURCES];
    uint64_t blocks[CCT_SOURCES];
} cct_totals;

/* Legal when zeroed; the root exists after the first cct_add. */
typedef struct cct {
    VEC(cct_node) nodes;
    VEC(cct_totals) totals;
    cct_slot *slots; /* hash of (parent, frame), for the later children */
    uint32_t mask;   /* number of slots - 1 */
    uint32_t used;   /* slots */
} cct;

/* The nodes of the last stack of a domain, outermost first. Legal when zeroed. */
typedef struct cct_path {
    VEC(uint32_t) nodes;
} cct_path;

/* Makes `path` the path of `frames`, whose first `common` are those of the last call's, and returns
 * its last node; CCT_NO_NODE when there is no memory. The work is proportional to the rest. */
uint32_t cct_walk(cct *tree, cct_path *path, const uint32_t *frames, uint32_t n_frames,
                  uint32_t common);

/* Adds a sampled block to a node's own totals; false when there is no memory. */
bool cct_add(cct *tree, uint32_t node, unsigned source, uint64_t samples);

void cct_free(cct *tree);

static inline uint64_t cct_sum(const uint64_t by_source[CCT_SOURCES]) {
    uint64_t sum = 0;
    for (int i = 0; i < CCT_SOURCES; i++)
        sum += by_source[i];
    return sum;
}

#endif
