/* regions.c: a treap: the priority of a node is a hash of its address, so that the tree is balanced
 * whatever the order in which addresses come. */
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

/* Those that start before `at` go to the left. */
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

/* All of `left` start before all of `right`. */
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
