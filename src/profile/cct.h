/* cct.h: the calling-context tree: every distinct call stack of a trace, once.
 *
 * A node is a frame below another node. The path from the root (node 0, which has no frame) to a
 * node is a stack, outermost caller first. A node has totals of what was allocated with exactly
 * that stack; queries sum up subtrees. Nodes are never removed, and a node comes after its parent.
 *
 * Frames are numbered as in the trace (memtrace_reader_frame). A frame that stands for several
 * inlined functions is one node; only queries take it apart.
 *
 * A stack that is new in part adds its new frames as a chain: consecutive nodes, each the child of
 * the one before. Deep stacks make long chains. So a node takes little more than its frame, 4
 * bytes, and following a known stack compares two arrays. For example, after the stacks `main a b`
 * and `main a c d`:
 *
 *   node   0     1     2     3     4     5
 *   frame  root  main  a     b     c     d
 *
 * Node 1 begins a chain below node 0, and node 4 one below node 2. */
#ifndef PROFILE_CCT_H
#define PROFILE_CCT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bits.h"
#include "base/map64.h"
#include "base/vec.h"

#define CCT_ROOT     0u
#define CCT_NO_FRAME 0x7FFFFFFFu /* of the root; above all other frames */
#define CCT_NO_NODE  UINT32_MAX
#define CCT_SOURCES  3 /* the number of memtrace_source values */

/* A flag beside the frame in `cct.frames`: the node is the first of a chain. */
#define CCT_FIRST 0x80000000u

/* What hangs on a node, beside the next node of its chain, is the first node of another chain or,
 * with this bit set, the index of the node's totals. */
#define CCT_TOTALS 0x80000000u

enum {
    CCT_LINE = 16, /* nodes that fill a cache line of frames */
    CCT_STEP = 8,  /* frames compared at once; as many stand after the last node */
};

/* What was allocated with one stack from one source, except marks and gauges, which have no
 * samples. */
typedef struct cct_totals {
    uint32_t samples, blocks; /* CCT_LARGE: too large, see cct_sums_at */
    uint32_t node;
    uint32_t source : 2;
    uint32_t is_first : 1; /* the first in the list of its node */
    uint32_t next : 29;    /* of the same node; CCT_NO_TOTALS: none */
} cct_totals;

#define CCT_NO_TOTALS ((UINT32_C(1) << 29) - 1)
#define CCT_LARGE     UINT32_MAX

typedef struct cct_sums {
    uint64_t samples, blocks;
} cct_sums;

/* The first two things that hang on a node; 0: none. */
typedef struct cct_hanging {
    uint32_t first, second;
} cct_hanging;

/* All zeros is an empty tree. The root exists after the first cct_walk. */
typedef struct cct {
    VEC(uint32_t) frames;     /* by node, see cct_frame; CCT_STEP that match no stack follow */
    VEC(cct_hanging) hanging; /* by node; freed by cct_finish, as `slots` */
    VEC(uint32_t) parents; /* by chain, in the order of their first nodes; begins with the root */
    VEC(uint32_t) chains_before; /* by CCT_LINE nodes: chains that begin before them */
    VEC(cct_totals) totals;
    VEC(cct_sums) large; /* totals that do not fit 32 bits */
    map64 large_of;      /* index of the totals → index into `large` */
    size_t n_stacks;     /* nodes with totals */
    bits_word *stacks;   /* the set of these nodes; see cct_stack */

    /* A hash table of what else hangs on nodes. */
    struct cct_slot *slots;
    uint32_t mask; /* number of slots - 1 */
    uint32_t used; /* slots in use */
} cct;

/* The path of a domain's last stack in the tree, outermost first. Legal when zeroed. */
typedef struct cct_path {
    uint32_t *nodes; /* the root, then the node of each frame */
    uint32_t depth;  /* frames of the stack */
    uint32_t room;   /* for nodes; 0 before the first stack, when the tree may have no root yet */
} cct_path;

/* Whether the next CCT_STEP frames are those of the nodes after `node` in its chain. */
static inline bool cct_goes_on(const cct *tree, uint32_t node, const uint32_t *frames) {
    return memcmp(tree->frames.items + node + 1, frames, CCT_STEP * sizeof *frames) == 0;
}

/* The uncommon case of cct_walk: makes room in `path` for `n_frames`, and makes the root. False
 * when there is no memory. */
bool cct_make_room(cct *tree, cct_path *path, uint32_t n_frames);

/* Whether `what`, which hangs on a node, is a chain that begins with `frame`. */
static inline bool cct_begins_with(const cct *tree, uint32_t what, uint32_t frame) {
    return !(what & CCT_TOTALS) && tree->frames.items[what] == (frame | CCT_FIRST);
}

/* Returns the child of `node` for the first of `n` frames: an existing one, or the first node of a
 * new chain of all of them. CCT_NO_NODE when there is no memory. */
uint32_t cct_enter_chain(cct *tree, uint32_t node, const uint32_t *frames, uint32_t n);

/* Makes `path` the path of `frames`, of which the first `common` are those of the last call, and
 * returns its last node; CCT_NO_NODE when there is no memory. Work is proportional to the frames
 * that are not common.
 *
 * It is inline because every allocation comes here and mostly changes one or two frames. CCT_STEP
 * frames of a deep, known stack are compared at once. The child of a node is mostly the next node
 * of its chain, or one of the first two things that hang on it. */
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

/* Sampled blocks to be added to the totals of a node. */
typedef struct cct_addition {
    uint32_t node;
    unsigned source;
    uint64_t samples, blocks;
} cct_addition;

/* Adds `n` additions to totals; false when there is no memory. Totals lie at random places of
 * memory, so each stage prefetches for many additions what the next stage reads; cct_expect
 * prefetches for the first. */
bool cct_add(cct *tree, const cct_addition *all, size_t n);

/* Announces that a node returned by cct_walk will soon be added to. */
static inline void cct_expect(const cct *tree, uint32_t node) {
    __builtin_prefetch(&tree->hanging.items[node]);
}

/* Announces that the totals at an index will soon be added to. */
static inline void cct_expect_totals(const cct *tree, uint32_t at) {
    __builtin_prefetch(&tree->totals.items[at]);
}

/* Adds sums that may not fit 32 bits; false when there is no memory. */
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

/* Creates empty totals in a tree that has none, after its last stack: one for each bit of `bits`
 * that is set. Bit `node * CCT_SOURCES + source` of its cct_words words stands for a node and a
 * source. Sets `ranks`, by word, to the number of bits set before it. False when there is no
 * memory. */
bool cct_make_totals(cct *tree, const uint64_t *bits, uint32_t *ranks);

/* Frees what is needed only to add stacks and to find their totals, which is half of the tree. */
void cct_finish(cct *tree);

/* Numbers the stacks, once all totals exist; false when there is no memory. */
bool cct_number_stacks(cct *tree);

/* Makes `*to` a finished copy of the tree. False when there is no memory; `*to` is then empty. */
bool cct_copy(const cct *from, cct *to);

void cct_free(cct *tree);
void cct_path_free(cct_path *path);

static inline size_t cct_count(const cct *tree) {
    return tree->frames.count;
}

static inline size_t cct_words(const cct *tree) {
    return cct_count(tree) * CCT_SOURCES / 64 + 1;
}

/* Returns the number of a stack: how many nodes with totals come before this node. There are fewer
 * stacks than nodes, so data about stacks is stored by this number. For any node it is at most
 * n_stacks. */
static inline uint32_t cct_stack(const cct *tree, uint32_t node) {
    return bits_rank(tree->stacks, node);
}

static inline uint32_t cct_frame(const cct *tree, uint32_t node) {
    return tree->frames.items[node] & ~CCT_FIRST;
}

/* Returns the number of the chain that a node belongs to. */
static inline uint32_t cct_chain_of(const cct *tree, uint32_t node) {
    uint32_t begun = tree->chains_before.items[node / CCT_LINE];
    for (uint32_t i = node / CCT_LINE * CCT_LINE; i <= node; i++)
        begun += tree->frames.items[i] / CCT_FIRST;
    return begun - 1;
}

/* Smaller than the node itself; the root is its own parent. */
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
