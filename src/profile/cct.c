/* cct.c: where a stack leaves a chain, or ends, there are mostly one or two ways on, which are
 * stored beside the node (`hanging`). Nodes with more have the rest in a hash table.
 *
 * Stacks that are taken one after the other have nodes close to each other. So what hangs on
 * neighboring nodes is put into the same cache line of the table, the home line, as long as there
 * is room; the rest goes where a hash of node and frame says. */
#include "profile/cct.h"

#include <string.h>

#include "base/hash.h"

enum {
    FIRST_SLOTS = 1024,
    LINE_BITS = 3,
    LINE_SLOTS = 1 << LINE_BITS, /* of a cache line */
    /* Nodes that share a home line. The oldest nodes have the most hanging on them: few of them in
     * a line, together with younger ones, balance the lines. */
    HOME_NODES = 2,
    FIRST_ROOM = 32 /* nodes of a path */
};

#define SPREAD UINT32_C(0x9E3779B1) /* a prime near 2^32 over the golden ratio */

/* Matches no frame and begins no chain. */
#define BEYOND UINT32_MAX

/* A slot of the table: `entry` hangs on `node`. */
typedef struct cct_slot {
    uint32_t node;
    uint32_t entry; /* 0: the slot is empty */
} cct_slot;

/* ---- what hangs on nodes ----------------------------------------------------------------- */

/* Whether `entry` is wanted under the key `frame`: a chain that begins with it, or totals for the
 * key CCT_NO_FRAME. */
static inline bool is_for(const cct *tree, uint32_t entry, uint32_t frame) {
    return frame == CCT_NO_FRAME ? entry & CCT_TOTALS : cct_begins_with(tree, entry, frame);
}

/* Returns the home line of a node. */
static inline cct_slot *home_line(const cct *tree, uint32_t node) {
    return &tree->slots[node / HOME_NODES * LINE_SLOTS & tree->mask];
}

/* Returns the slot of that key, or the free slot for it; NULL if the line is full of others. The
 * search starts at a slot that depends on the key and is mostly the right one, so the processor
 * predicts it well. */
static inline cct_slot *find_in_line(const cct *tree, cct_slot *line, uint32_t node,
                                     uint32_t frame) {
    const uint32_t first = ((node + frame) * SPREAD) >> (32 - LINE_BITS);
    for (uint32_t i = 0; i < LINE_SLOTS; i++) {
        cct_slot *slot = &line[(first + i) % LINE_SLOTS];
        if (!slot->entry || (slot->node == node && is_for(tree, slot->entry, frame)))
            return slot;
    }
    return NULL;
}

static __attribute__((noinline)) cct_slot *find_by_hash(const cct *tree, uint32_t node,
                                                        uint32_t frame) {
    cct_slot *slot;
    uint32_t i = (uint32_t)hash_u64((uint64_t)node << 32 | frame) & tree->mask & -LINE_SLOTS;
    while (!(slot = find_in_line(tree, &tree->slots[i], node, frame)))
        i = (i + LINE_SLOTS) & tree->mask;
    return slot;
}

static inline cct_slot *find_slot(const cct *tree, uint32_t node, uint32_t frame) {
    cct_slot *slot = find_in_line(tree, home_line(tree, node), node, frame);
    return slot ? slot : find_by_hash(tree, node, frame);
}

static uint32_t key_of(const cct *tree, uint32_t entry) {
    return entry & CCT_TOTALS ? CCT_NO_FRAME : tree->frames.items[entry] & ~CCT_FIRST;
}

static cct_slot *new_slots(size_t n_slots) {
    return aligned_alloc(LINE_SLOTS * sizeof(cct_slot), n_slots * sizeof(cct_slot));
}

static bool resize(cct *tree, uint32_t n_slots) {
    cct_slot *old = tree->slots;
    uint32_t n_old = old ? tree->mask + 1 : 0;
    cct_slot *slots = new_slots(n_slots);
    if (!slots)
        return false;
    memset(slots, 0, n_slots * sizeof *slots);
    tree->slots = slots;
    tree->mask = n_slots - 1;
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i].entry)
            *find_slot(tree, old[i].node, key_of(tree, old[i].entry)) = old[i];
    free(old);
    return true;
}

/* Returns where to find what hangs on the node under the key `frame`. It is 0 if there is nothing
 * yet, and the caller must then set it. NULL when there is no memory. */
static uint32_t *find(cct *tree, uint32_t node, uint32_t frame) {
    cct_hanging *hanging = &tree->hanging.items[node];
    if (!hanging->first || is_for(tree, hanging->first, frame))
        return &hanging->first;
    if (!hanging->second || is_for(tree, hanging->second, frame))
        return &hanging->second;
    if (tree->used > tree->mask / 4 && !resize(tree, (tree->mask + 1) * 2))
        return NULL;
    cct_slot *slot = find_slot(tree, node, frame);
    if (!slot->entry) {
        slot->node = node;
        tree->used++;
    }
    return &slot->entry;
}

/* ---- chains ------------------------------------------------------------------------------ */

/* Fills `chains_before` for lines that a new chain has begun; its first node is `first`. */
static bool count_chains(cct *tree, size_t first) {
    size_t n_lines = (cct_count(tree) + CCT_LINE - 1) / CCT_LINE;
    if (!vec_reserve(&tree->chains_before, n_lines - tree->chains_before.count))
        return false;
    while (tree->chains_before.count < n_lines) {
        bool begins = tree->chains_before.count * CCT_LINE == first;
        tree->chains_before.items[tree->chains_before.count++] =
            (uint32_t)tree->parents.count - begins;
    }
    return true;
}

/* Adds a chain of `n` nodes, at least one, below `parent`; returns the first. */
static uint32_t add_chain(cct *tree, uint32_t parent, const uint32_t *frames, uint32_t n) {
    size_t first = cct_count(tree);
    if (first + n > INT32_MAX || !vec_reserve(&tree->frames, (size_t)n + CCT_STEP) ||
        !vec_reserve(&tree->hanging, n) || !vec_push(&tree->parents, parent))
        return CCT_NO_NODE;
    uint32_t *added = tree->frames.items + first;
    memcpy(added, frames, n * sizeof *added);
    added[0] |= CCT_FIRST;
    for (uint32_t i = 0; i < CCT_STEP; i++)
        added[n + i] = BEYOND;
    memset(tree->hanging.items + first, 0, n * sizeof *tree->hanging.items);
    tree->frames.count = tree->hanging.count = first + n;
    return count_chains(tree, first) ? (uint32_t)first : CCT_NO_NODE;
}

/* ---- stacks ------------------------------------------------------------------------------ */

static bool start(cct *tree) {
    return add_chain(tree, CCT_ROOT, (uint32_t[]){CCT_NO_FRAME}, 1) == CCT_ROOT &&
           resize(tree, FIRST_SLOTS);
}

bool cct_make_room(cct *tree, cct_path *path, uint32_t n_frames) {
    size_t room = path->room ? path->room : FIRST_ROOM;
    while (room <= n_frames)
        room *= 2;
    if ((!tree->slots && !start(tree)) || room > UINT32_MAX)
        return false;
    uint32_t *nodes = realloc(path->nodes, room * sizeof *nodes);
    if (!nodes)
        return false;
    nodes[0] = CCT_ROOT;
    path->nodes = nodes;
    path->room = (uint32_t)room;
    return true;
}

uint32_t cct_enter_chain(cct *tree, uint32_t node, const uint32_t *frames, uint32_t n) {
    uint32_t *entry = find(tree, node, frames[0]);
    if (!entry)
        return CCT_NO_NODE;
    if (*entry)
        return *entry;
    const cct_hanging *hanging = &tree->hanging.items[node];
    const bool is_first = entry == &hanging->first, is_second = entry == &hanging->second;
    uint32_t first = add_chain(tree, node, frames, n);
    if (first != CCT_NO_NODE) { /* `hanging` may have moved */
        entry = is_first    ? &tree->hanging.items[node].first
                : is_second ? &tree->hanging.items[node].second
                            : entry;
        *entry = first;
    }
    return first;
}

/* ---- totals ------------------------------------------------------------------------------ */

static cct_totals *totals_of(const cct *tree, uint32_t entry, unsigned source) {
    cct_totals *t = &tree->totals.items[entry & ~CCT_TOTALS];
    while (t->source != source && t->next != CCT_NO_TOTALS)
        t = &tree->totals.items[t->next];
    return t->source == source ? t : NULL;
}

/* Adds empty totals to the node: second in its list, or first if it has none. */
static cct_totals *add_totals(cct *tree, uint32_t node, unsigned source, uint32_t *entry) {
    const cct_totals new = {.node = node, .source = source & 3, .next = CCT_NO_TOTALS};
    uint32_t at = (uint32_t)tree->totals.count & CCT_NO_TOTALS;
    if (at != tree->totals.count || !vec_push(&tree->totals, new))
        return NULL;
    cct_totals *added = &tree->totals.items[at];
    added->is_first = !*entry;
    if (*entry) {
        cct_totals *first = &tree->totals.items[*entry & ~CCT_TOTALS];
        added->next = first->next;
        first->next = at;
    } else {
        *entry = CCT_TOTALS | at;
        tree->n_stacks++;
    }
    return added;
}

static inline bool add(cct *tree, const cct_addition *a) {
    uint32_t *entry = find(tree, a->node, CCT_NO_FRAME);
    cct_totals *t = entry && *entry ? totals_of(tree, *entry, a->source) : NULL;
    if (!t)
        t = entry ? add_totals(tree, a->node, a->source, entry) : NULL;
    return t &&
           cct_add_at(tree, (uint32_t)(t - tree->totals.items), (cct_sums){a->samples, a->blocks});
}

bool cct_add_at_large(cct *tree, uint32_t at, cct_sums more) {
    cct_totals *t = &tree->totals.items[at];
    uint32_t *index = map64_put(&tree->large_of, at);
    if (!index)
        return false;
    if (*index == MAP64_NONE) {
        *index = (uint32_t)tree->large.count;
        if (!vec_push(&tree->large, ((cct_sums){t->samples, t->blocks})))
            return false;
        t->samples = t->blocks = CCT_LARGE;
    }
    tree->large.items[*index].samples += more.samples;
    tree->large.items[*index].blocks += more.blocks;
    return true;
}

bool cct_make_totals(cct *tree, const uint64_t *bits, uint32_t *ranks) {
    const size_t words = cct_words(tree);
    size_t n = 0;
    for (size_t i = 0; i < words; i++) {
        ranks[i] = (uint32_t)n;
        n += bits_count(bits[i]);
    }
    if (n >= CCT_NO_TOTALS || !vec_reserve(&tree->totals, n))
        return false;
    cct_totals *last = NULL;
    for (size_t i = 0; i < words; i++)
        for (uint64_t left = bits[i]; left; left &= left - 1) {
            const size_t bit = i * 64 + (size_t)__builtin_ctzll(left);
            const uint32_t node = (uint32_t)(bit / CCT_SOURCES);
            const bool is_first = !last || last->node != node;
            if (!is_first)
                last->next = (uint32_t)tree->totals.count & CCT_NO_TOTALS;
            last = &tree->totals.items[tree->totals.count++];
            *last = (cct_totals){.node = node,
                                 .source = bit % CCT_SOURCES & 3,
                                 .is_first = is_first,
                                 .next = CCT_NO_TOTALS};
            tree->n_stacks += is_first;
        }
    return true;
}

/* Whether the node's totals may be in the table. */
static inline bool is_in_table(const cct_hanging *hanging) {
    return hanging->second && !(hanging->first & CCT_TOTALS) && !(hanging->second & CCT_TOTALS);
}

/* Returns CCT_TOTALS and the index of a node's first totals; 0: none. */
static inline uint32_t totals_at(const cct *tree, uint32_t node) {
    const cct_hanging *hanging = &tree->hanging.items[node];
    if (is_in_table(hanging))
        return find_slot(tree, node, CCT_NO_FRAME)->entry;
    return hanging->first & CCT_TOTALS    ? hanging->first
           : hanging->second & CCT_TOTALS ? hanging->second
                                          : 0;
}

/* Each loop prefetches the memory that the next one reads. */
bool cct_add(cct *tree, const cct_addition *all, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (is_in_table(&tree->hanging.items[all[i].node]))
            __builtin_prefetch(home_line(tree, all[i].node));
    for (size_t i = 0; i < n; i++) {
        const uint32_t entry = totals_at(tree, all[i].node);
        if (entry)
            __builtin_prefetch(&tree->totals.items[entry & ~CCT_TOTALS], 1);
    }
    bool ok = true;
    for (size_t i = 0; i < n; i++)
        ok &= add(tree, &all[i]);
    return ok;
}

void cct_finish(cct *tree) {
    vec_free(&tree->hanging);
    free(tree->slots);
    tree->slots = NULL;
}

bool cct_number_stacks(cct *tree) {
    const uint32_t n_words = bits_words((uint32_t)cct_count(tree));
    free(tree->stacks);
    tree->stacks = calloc(n_words, sizeof *tree->stacks);
    for (size_t i = 0; tree->stacks && i < tree->totals.count; i++)
        bits_add(tree->stacks, tree->totals.items[i].node);
    if (tree->stacks)
        bits_rank_all(tree->stacks, n_words);
    return tree->stacks;
}

#define COPY_ITEMS(from, to, member, beyond)                                                       \
    (vec_reserve(&(to)->member, (from)->member.count + (beyond)) &&                                \
     ((from)->member.count == 0 ||                                                                 \
      memcpy((to)->member.items, (from)->member.items,                                             \
             ((from)->member.count + (beyond)) * sizeof *(from)->member.items)) &&                 \
     ((to)->member.count = (from)->member.count, true))

static bool copy_large(const cct *from, cct *to) {
    const map64 *known = &from->large_of;
    for (size_t i = 0; known->slots && i <= known->mask; i++) {
        const map64_slot *slot = &known->slots[i];
        uint32_t *index = slot->value == MAP64_NONE ? NULL : map64_put(&to->large_of, slot->key);
        if (index)
            *index = slot->value;
        else if (slot->value != MAP64_NONE)
            return false;
    }
    return COPY_ITEMS(from, to, large, 0);
}

bool cct_copy(const cct *from, cct *to) {
    *to = (cct){.n_stacks = from->n_stacks};
    size_t beyond = from->frames.count ? CCT_STEP : 0;
    if (COPY_ITEMS(from, to, frames, beyond) && COPY_ITEMS(from, to, parents, 0) &&
        COPY_ITEMS(from, to, chains_before, 0) && COPY_ITEMS(from, to, totals, 0) &&
        copy_large(from, to))
        return true;
    cct_free(to);
    return false;
}

void cct_free(cct *tree) {
    cct_finish(tree);
    vec_free(&tree->frames);
    vec_free(&tree->parents);
    vec_free(&tree->chains_before);
    vec_free(&tree->totals);
    vec_free(&tree->large);
    map64_free(&tree->large_of);
    free(tree->stacks);
    *tree = (cct){0};
}

void cct_path_free(cct_path *path) {
    free(path->nodes);
    *path = (cct_path){0};
}
