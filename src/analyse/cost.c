/* cost.c: see cost.h. */
#include "analyse/cost.h"

bool cost_of_tree(const profile *p, cost_list *list) {
    for (size_t i = 0; i < p->tree.totals.count; i++) {
        const cct_totals *t = &p->tree.totals.items[i];
        cost heap = {.samples = t->samples[MEMTRACE_MINOR] + t->samples[MEMTRACE_MAJOR],
                     .blocks = t->blocks[MEMTRACE_MINOR] + t->blocks[MEMTRACE_MAJOR]};
        cost external = {.samples = t->samples[MEMTRACE_EXTERNAL],
                         .blocks = t->blocks[MEMTRACE_EXTERNAL]};
        if (heap.blocks && !vec_push(list, ((cost_entry){.node = t->node, .cost = heap})))
            return false;
        if (external.blocks &&
            !vec_push(list, ((cost_entry){.node = t->node, .external = true, .cost = external})))
            return false;
    }
    return true;
}
