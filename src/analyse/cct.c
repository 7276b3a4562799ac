/* cct.c: see cct.h. A hash table that holds only node numbers finds the children: the key is in the
 * node itself, so that a step down costs one slot and one node, which mostly are in the cache. */
#include "analyse/cct.h"

#include <string.h>

#include "base/hash.h"

enum { FIRST_SLOTS = 1024 };

static uint32_t *find(const cct *tree, uint32_t parent, uint32_t frame) {
    uint32_t i = (uint32_t)hash_u64((uint64_t)parent << 32 | frame) & tree->mask;
    for (;; i = (i + 1) & tree->mask) {
        const cct_node *node = &tree->nodes.items[tree->slots[i]];
        if (tree->slots[i] == CCT_ROOT || (node->parent == parent && node->frame == frame))
            return &tree->slots[i];
    }
}

static bool resize(cct *tree, uint32_t n_slots) {
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return false;
    free(tree->slots);
    tree->slots = slots;
    tree->mask = n_slots - 1;
    for (uint32_t i = 1; i < tree->nodes.count; i++) {
        const cct_node *node = &tree->nodes.items[i];
        *find(tree, node->parent, node->frame) = i;
    }
    return true;
}

static bool start(cct *tree) {
    const cct_node root = {.parent = CCT_ROOT, .frame = CCT_NO_FRAME, .own = CCT_NO_NODE};
    return vec_push(&tree->nodes, root) && resize(tree, FIRST_SLOTS);
}

static uint32_t add_node(cct *tree, uint32_t parent, uint32_t frame, uint32_t *slot) {
    const cct_node node = {.parent = parent, .frame = frame, .own = CCT_NO_NODE};
    if (tree->nodes.count >= INT32_MAX || !vec_push(&tree->nodes, node))
        return CCT_NO_NODE;
    uint32_t index = (uint32_t)tree->nodes.count - 1;
    *slot = index;
    if (tree->nodes.count > tree->mask / 2 && !resize(tree, (tree->mask + 1) * 2))
        return CCT_NO_NODE;
    return index;
}

uint32_t cct_walk(cct *tree, cct_path *path, const uint32_t *frames, uint32_t n_frames,
                  uint32_t common) {
    if (!tree->slots && !start(tree))
        return CCT_NO_NODE;
    if (common > path->nodes.count)
        common = (uint32_t)path->nodes.count;
    if (common > n_frames)
        common = n_frames;
    path->nodes.count = common;
    if (!vec_reserve(&path->nodes, n_frames - common))
        return CCT_NO_NODE;
    uint32_t node = common ? path->nodes.items[common - 1] : CCT_ROOT;
    for (uint32_t i = common; i < n_frames; i++) {
        uint32_t *slot = find(tree, node, frames[i]);
        node = *slot != CCT_ROOT ? *slot : add_node(tree, node, frames[i], slot);
        if (node == CCT_NO_NODE)
            return CCT_NO_NODE;
        path->nodes.items[path->nodes.count++] = node;
    }
    return node;
}

bool cct_add(cct *tree, uint32_t node, unsigned source, uint64_t samples) {
    uint32_t *own = &tree->nodes.items[node].own;
    if (*own == CCT_NO_NODE) {
        if (!vec_push(&tree->totals, ((cct_totals){.node = node})))
            return false;
        *own = (uint32_t)tree->totals.count - 1;
    }
    tree->totals.items[*own].samples[source] += samples;
    tree->totals.items[*own].blocks[source]++;
    return true;
}

void cct_free(cct *tree) {
    vec_free(&tree->nodes);
    vec_free(&tree->totals);
    free(tree->slots);
    *tree = (cct){0};
}
