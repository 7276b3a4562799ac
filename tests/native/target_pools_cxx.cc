/* The same pools in C++, behind an allocator of the standard library and a class's own operators.
 * target_pools_cxx ROUNDS HOW: keeps a vector that has grown to ROUNDS numbers in an arena, in
 * which its former storage stays, and ROUNDS nodes, of which every second one is deleted. */
#include <cstdio>
#include <new>
#include <vector>

#include "target_pools.h"

static arena numbers;
static cells nodes;

template <class T> struct in_arena {
    using value_type = T;
    in_arena() = default;
    template <class U> in_arena(const in_arena<U> &) {}
    T *allocate(std::size_t n) { return static_cast<T *>(arena_give(&numbers, n * sizeof(T))); }
    void deallocate(T *block, std::size_t) { allotrace_pool_free(&numbers, block); }
    bool operator==(const in_arena &) const { return true; }
    bool operator!=(const in_arena &) const { return false; }
};

struct node {
    long value;
    node *next;
    void *operator new(std::size_t) { return cells_give(&nodes); }
    void operator delete(void *gone) { cells_take_back(&nodes, gone); }
};

static_assert(sizeof(node) == CELL, "a node is a cell");

int main(int argc, char **argv) {
    const long rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1;
    how = how_of(argc > 2 ? argv[2] : "");
    arena_new(&numbers, "numbers");
    allotrace_pool_create(&nodes, "nodes");
    std::vector<int, in_arena<int>> all;
    node *list = nullptr;
    long sum = 0;
    for (long i = 0; i < rounds; i++) {
        all.push_back(static_cast<int>(i));
        node *made = new node{i, list};
        if (i % 2)
            delete made;
        else
            list = made;
    }
    for (node *n = list; n; n = n->next)
        sum += n->value;
    std::printf("%ld %zu\n", sum, all.size());
    std::_Exit(0);
}
