/* regions.c: implements regions.h as a treap. The priority of a node is a hash of its address, so
 * the tree is balanced in whatever order addresses arrive. */
#include "record/regions.h"

#include "base/hash.h"

struct region_node {
    region region;
    struct region_node *left, *right;
};

typedef struct region_node node;

static bool is_above(const node *a, const node *b) {
    return hash_u64(a->region.start) > hash_u64(b->region.start);
}

/* Splits a tree: regions that start before `at` go to the left. */
static void split(node *n, uintptr_t at, node **left, node **right) {
    if (!n) {
        *left = *right = NULL;
    } else if (n->region.start < at) {
        split(n->right, at, &n->right, right);
        *left = n;
    } else {
        split(n->left, at, left, &n->left);
        *right = n;
    }
}

/* Merges two trees. All regions of `left` must start before those of `right`. */
static node *merge(node *left, node *right) {
    if (!left || !right)
        return left ? left : right;
    if (is_above(left, right)) {
        left->right = merge(left->right, right);
        return left;
    }
    right->left = merge(left, right->left);
    return right;
}

bool regions_find(const regions *all, uintptr_t start, uintptr_t end, region *found) {
    const node *first = NULL;
    if (start >= end)
        return false;
    for (const node *n = all->root; n;) {
        if (n->region.end > start) {
            first = n;
            n = n->left;
        } else {
            n = n->right;
        }
    }
    if (!first || first->region.start >= end)
        return false;
    *found = first->region;
    return true;
}

bool regions_add(regions *all, region r) {
    node *added = memory_alloc(all->memory, sizeof *added), *left, *right;
    if (!added)
        return false;
    *added = (node){.region = r};
    split(all->root, r.start, &left, &right);
    all->root = merge(merge(left, added), right);
    return true;
}

void regions_remove(regions *all, uintptr_t start) {
    node **at = &all->root;
    while ((*at)->region.start != start)
        at = start < (*at)->region.start ? &(*at)->left : &(*at)->right;
    node *removed = *at;
    *at = merge(removed->left, removed->right);
    memory_free(all->memory, removed, sizeof *removed);
}
