/* cct.h: the calling-context tree: every distinct call stack of a trace, once.
 *
 * A node is a frame below another node; the path from the root (node 0, which has no frame) to a
 * node is a stack, outermost caller first. What was allocated with exactly that stack is the node's
 * own totals; those of a whole subtree are for queries to sum up. Nodes are never removed, and a
 * node comes after its parent.
 *
 * Frames are the trace's own numbers for them (memtrace_reader_frame); a frame that stands for
 * several inlined functions is one node, taken apart only when a query shows it.
 *
 * A stack that is new in part adds the rest of its frames as a chain: nodes in sequence, each the
 * child of the one before it. Deep stacks make long chains. So a node takes little more than its
 * frame, four bytes, and to go down a stack that is known is to compare two arrays. */
#ifndef PROFILE_CCT_H
#define PROFILE_CCT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bits.h"
#include "base/map64.h"
#include "base/vec.h"

#define CCT_ROOT     0u
#define CCT_NO_FRAME 0x7FFFFFFFu /* the frame of the root: above all others */
#define CCT_NO_NODE  UINT32_MAX
#define CCT_SOURCES  3 /* as many as memtrace_source has */

/* In `cct.frames`, beside the frame: the node is the first of a chain. */
#define CCT_FIRST 0x80000000u

/* What hangs on a node, beside the next node of its chain: the first node of another chain, or with
 * this bit the index of its totals. */
#define CCT_TOTALS 0x80000000u

enum {
    CCT_LINE = 16, /* nodes: a cache line of frames */
    CCT_STEP = 8,  /* frames compared at once, of which so many are kept behind the last node */
};

/* What was allocated with one stack, from one source. Marks and gauges, which have no samples, are
 * not among it. */
typedef struct cct_totals {
    uint32_t samples, blocks; /* CCT_LARGE: see cct_sums_at, which knows */
    uint32_t node;
    uint32_t source : 2;
    uint32_t is_first : 1; /* of those of its node */
    uint32_t next : 29;    /* of the same node; CCT_NO_TOTALS: none */
} cct_totals;

#define CCT_NO_TOTALS ((UINT32_C(1) << 29) - 1)
#define CCT_LARGE     UINT32_MAX

typedef struct cct_sums {
    uint64_t samples, blocks;
} cct_sums;

/* What hung on a node first, and what second; 0: nothing did. */
typedef struct cct_hanging {
    uint32_t first, second;
} cct_hanging;

/* Legal when zeroed; the root exists after the first cct_walk. */
typedef struct cct {
    VEC(uint32_t) frames;     /* by node; see cct_frame. CCT_STEP that match no stack follow */
    VEC(cct_hanging) hanging; /* by node; only while stacks are added, as `slots` */
    VEC(uint32_t) parents; /* of the chains, in the order of their nodes; the root is the first */
    VEC(uint32_t) chains_before; /* how many chains begin before each CCT_LINE nodes */
    VEC(cct_totals) totals;
    VEC(cct_sums) large; /* of totals that have no room for them */
    map64 large_of;      /* index of the totals → index into `large` */
    size_t n_stacks;     /* nodes that have totals */
    bits_word *stacks;   /* which these are; see cct_stack */

    /* What else hangs on nodes: a table. */
    struct cct_slot *slots;
    uint32_t mask; /* number of slots - 1 */
    uint32_t used; /* slots */
} cct;

/* The nodes of the last stack of a domain in one tree, outermost first. Legal when zeroed. */
typedef struct cct_path {
    uint32_t *nodes; /* the root, and the node of each frame */
    uint32_t depth;  /* frames of the stack */
    uint32_t room;   /* for nodes; 0 before the first stack, when the tree may have no root yet */
} cct_path;

/* Whether the next CCT_STEP frames are those of the nodes behind `node` in its chain. */
static inline bool cct_goes_on(const cct *tree, uint32_t node, const uint32_t *frames) {
    return memcmp(tree->frames.items + node + 1, frames, CCT_STEP * sizeof *frames) == 0;
}

/* What the common case of cct_walk leaves: makes room in `path` for `n_frames`, and the root. False
 * when there is no memory. */
bool cct_make_room(cct *tree, cct_path *path, uint32_t n_frames);

/* Whether `what`, which hangs on a node, is a chain that begins with `frame`. */
static inline bool cct_begins_with(const cct *tree, uint32_t what, uint32_t frame) {
    return !(what & CCT_TOTALS) && tree->frames.items[what] == (frame | CCT_FIRST);
}

/* The child of `node` with the first of `n` frames: a known one, or the first of a new chain of all
 * of them. CCT_NO_NODE when there is no memory. */
uint32_t cct_enter_chain(cct *tree, uint32_t node, const uint32_t *frames, uint32_t n);

/* Makes `path` the path of `frames`, whose first `common` are those of the last call's, and returns
 * its last node; CCT_NO_NODE when there is no memory. The work is proportional to the rest.
 *
 * In line, as each allocation comes here and mostly changes a frame or two; of deep stacks that are
 * known, some are compared at once. The child of a node is mostly the next one of its chain, or
 * what hung on it first or second. */
static inline uint32_t cct_walk(cct *tree, cct_path *path, const uint32_t *frames,
                                uint32_t n_frames, uint32_t common) {
    if (__builtin_expect(n_frames >= path->room, 0) && !cct_make_room(tree, path, n_frames))
        return CCT_NO_NODE;
    uint32_t at = common < path->depth ? common : path->depth;
    at = at < n_frames ? at : n_frames;
    uint32_t *nodes = path->nodes, node = nodes[at];
    while (at < n_frames) {
        const uint32_t parent = node, frame = frames[at];
        if (n_frames - at >= CCT_STEP && cct_goes_on(tree, node, frames + at)) {
            for (uint32_t i = 1; i <= CCT_STEP; i++)
                nodes[at + i] = node + i;
            node += CCT_STEP;
            at += CCT_STEP;
            continue;
        }
        if (tree->frames.items[++node] != frame) {
            const cct_hanging *hanging = &tree->hanging.items[parent];
            node = hanging->first;
            if (!cct_begins_with(tree, node, frame)) {
                node = hanging->second;
                if (!cct_begins_with(tree, node, frame) &&
                    (node = cct_enter_chain(tree, parent, frames + at, n_frames - at)) ==
                        CCT_NO_NODE)
                    return CCT_NO_NODE;
            }
        }
        nodes[++at] = node;
    }
    path->depth = at;
    return node;
}

/* Sampled blocks, to be added to their node's own totals. */
typedef struct cct_addition {
    uint32_t node;
    unsigned source;
    uint64_t samples, blocks;
} cct_addition;

/* Adds `n` of them; false when there is no memory. What belongs to nodes stands at random places of
 * memory: that of many is waited for at the same time, if it was asked for before. */
bool cct_add(cct *tree, const cct_addition *all, size_t n);

/* A node that cct_walk returned will be added to soon. */
static inline void cct_expect(const cct *tree, uint32_t node) {
    __builtin_prefetch(&tree->hanging.items[node]);
}

/* The same of the totals at an index. */
static inline void cct_expect_totals(const cct *tree, uint32_t at) {
    __builtin_prefetch(&tree->totals.items[at]);
}

bool cct_add_at_large(cct *tree, uint32_t at, cct_sums more);

static inline bool cct_add_at(cct *tree, uint32_t at, cct_sums more) {
    cct_totals *t = &tree->totals.items[at];
    const uint64_t samples = t->samples + more.samples, blocks = t->blocks + more.blocks;
    if (__builtin_expect(samples >= CCT_LARGE || blocks >= CCT_LARGE, 0))
        return cct_add_at_large(tree, at, more);
    t->samples = (uint32_t)samples;
    t->blocks = (uint32_t)blocks;
    return true;
}

static inline cct_sums cct_sums_at(const cct *tree, uint32_t at) {
    const cct_totals *t = &tree->totals.items[at];
    if (__builtin_expect(t->samples == CCT_LARGE, 0))
        return tree->large.items[map64_get(&tree->large_of, at)];
    return (cct_sums){t->samples, t->blocks};
}

/* To a tree without totals, after the last stack: those of nothing for each bit that is set, which
 * are CCT_SOURCES a node, in cct_words; and by word how many are before it. False when there is no
 * memory. */
bool cct_make_totals(cct *tree, const uint64_t *bits, uint32_t *ranks);

/* Frees what is needed to add stacks to a tree, and to look for their totals: that is half of it.
 */
void cct_finish(cct *tree);

/* Numbers the stacks, once there are all totals; false when there is no memory. */
bool cct_number_stacks(cct *tree);

/* Makes `*to` a tree like this one, but finished; false when there is no memory, and it is then
 * empty. */
bool cct_copy(const cct *from, cct *to);

void cct_free(cct *tree);
void cct_path_free(cct_path *path);

static inline size_t cct_count(const cct *tree) {
    return tree->frames.count;
}

static inline size_t cct_words(const cct *tree) {
    return cct_count(tree) * CCT_SOURCES / 64 + 1;
}

/* The number of a stack: how many nodes before this one have totals. There are fewer stacks than
 * nodes, so what is kept of stacks is by this number. Of any node it is n_stacks at most. */
static inline uint32_t cct_stack(const cct *tree, uint32_t node) {
    return bits_rank(tree->stacks, node);
}

static inline uint32_t cct_frame(const cct *tree, uint32_t node) {
    return tree->frames.items[node] & ~CCT_FIRST;
}

/* The chain that a node belongs to. */
static inline uint32_t cct_chain_of(const cct *tree, uint32_t node) {
    uint32_t begun = tree->chains_before.items[node / CCT_LINE];
    for (uint32_t i = node / CCT_LINE * CCT_LINE; i <= node; i++)
        begun += tree->frames.items[i] / CCT_FIRST;
    return begun - 1;
}

/* Smaller than the node itself; the root's is the root. */
static inline uint32_t cct_parent(const cct *tree, uint32_t node) {
    if (!(tree->frames.items[node] & CCT_FIRST))
        return node - 1;
    return tree->parents.items[cct_chain_of(tree, node)];
}

static inline uint64_t cct_sum(const uint64_t by_source[CCT_SOURCES]) {
    uint64_t sum = 0;
    for (int i = 0; i < CCT_SOURCES; i++)
        sum += by_source[i];
    return sum;
}

#endif
