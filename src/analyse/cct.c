/* cct.c: see cct.h. Nearly all nodes have one child, created right after them: going down is then a
 * look at the neighbour in memory. A few more children hang on it as a list; the rest of many
 * stands in a hash table, which stays small enough for the cache. */
#include "analyse/cct.h"

#include <string.h>

#include "base/hash.h"

enum { FIRST_SLOTS = 1024, LISTED = 3 /* children */ };

static cct_slot *find(cct_slot *slots, uint32_t mask, uint32_t parent, uint32_t frame) {
    uint32_t i = (uint32_t)hash_u64((uint64_t)parent << 32 | frame) & mask;
    while (slots[i].child != CCT_ROOT && (slots[i].parent != parent || slots[i].frame != frame))
        i = (i + 1) & mask;
    return &slots[i];
}

static bool resize(cct *tree, uint32_t n_slots) {
    cct_slot *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; tree->slots && i <= tree->mask; i++) {
        const cct_slot *old = &tree->slots[i];
        if (old->child != CCT_ROOT)
            *find(slots, n_slots - 1, old->parent, old->frame) = *old;
    }
    free(tree->slots);
    tree->slots = slots;
    tree->mask = n_slots - 1;
    return true;
}

static bool start(cct *tree) {
    const cct_node root = {.frame = CCT_NO_FRAME, .own = CCT_NO_NODE};
    return vec_push(&tree->nodes, root) && resize(tree, FIRST_SLOTS);
}

static uint32_t add_node(cct *tree, uint32_t parent, uint32_t frame) {
    const cct_node node = {.frame = frame, .parent = parent, .own = CCT_NO_NODE};
    if (tree->nodes.count >= INT32_MAX || !vec_push(&tree->nodes, node))
        return CCT_NO_NODE;
    return (uint32_t)tree->nodes.count - 1;
}

/* A child of `parent` beyond those in its list. */
static uint32_t find_or_add(cct *tree, uint32_t parent, uint32_t frame) {
    if (tree->used > tree->mask / 2 && !resize(tree, (tree->mask + 1) * 2))
        return CCT_NO_NODE;
    cct_slot *slot = find(tree->slots, tree->mask, parent, frame);
    if (slot->child == CCT_ROOT) {
        uint32_t added = add_node(tree, parent, frame);
        if (added == CCT_NO_NODE)
            return CCT_NO_NODE;
        *slot = (cct_slot){.parent = parent, .frame = frame, .child = added};
        tree->used++;
    }
    return slot->child;
}

static uint32_t child_of(cct *tree, uint32_t parent, uint32_t frame) {
    uint32_t child = tree->nodes.items[parent].child, last = CCT_ROOT;
    for (int i = 0; i < LISTED; i++) {
        if (child == CCT_ROOT) {
            uint32_t added = add_node(tree, parent, frame);
            if (added != CCT_NO_NODE)
                *(i == 0 ? &tree->nodes.items[parent].child : &tree->nodes.items[last].sibling) =
                    added;
            return added;
        }
        if (tree->nodes.items[child].frame == frame)
            return child;
        last = child;
        child = tree->nodes.items[child].sibling;
    }
    return find_or_add(tree, parent, frame);
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
        node = child_of(tree, node, frames[i]);
        if (node == CCT_NO_NODE)
            return CCT_NO_NODE;
        path->nodes.items[i] = node;
    }
    path->nodes.count = n_frames;
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
