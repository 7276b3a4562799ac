/* cost_columns.c: allocates a column only if the shape of the costs needs it. Reading and adding
 * are inline in the header. */
#include "query/cost_columns.h"

#include <stdlib.h>

#include "base/large.h"

bool cost_columns_make(cost_columns *c, size_t n, cost_shape shape) {
    *c = (cost_columns){0};
    if (shape.few)
        c->few = large_zeroed(n + 1, sizeof *c->few);
    else
        c->counts = large_zeroed(n + 1, sizeof *c->counts);
    if (shape.weights && shape.packed)
        c->packed = large_zeroed(n + 1, sizeof *c->packed);
    else if (shape.weights)
        c->weights = large_zeroed(n + 1, sizeof *c->weights);
    if (shape.words)
        c->words = large_zeroed(n + 1, sizeof *c->words);
    return (c->few || c->counts) && (c->weights || c->packed || !shape.weights) &&
           (c->words || !shape.words);
}

/* Packs in place, from the first cost on. */
void cost_columns_pack(cost_columns *c, size_t n) {
    if (!c->weights || n < COST_MANY)
        return;
    void *room = c->weights;
    const cost_weights *from = room;
    cost_packed *to = room;
    for (size_t i = 0; i < n; i++) {
        const cost_weights w = from[i];
        to[i] = (cost_packed){w.weight, (float)w.squares, (float)w.heaviest};
    }
    void *smaller = realloc(room, n * sizeof *to);
    c->packed = smaller ? smaller : room;
    c->weights = NULL;
}

void cost_columns_free(cost_columns *c) {
    free(c->packed);
    free(c->few);
    free(c->counts);
    free(c->weights);
    free(c->words);
    *c = (cost_columns){0};
}

size_t cost_columns_size(const cost_columns *c, size_t n) {
    return n * ((c->few ? sizeof *c->few : 0) + (c->counts ? sizeof *c->counts : 0) +
                (c->weights ? sizeof *c->weights : 0) + (c->packed ? sizeof *c->packed : 0) +
                (c->words ? sizeof *c->words : 0));
}

cost cost_columns_sum(const cost_columns *c, size_t from, size_t end) {
    cost sum = {0};
    if (cost_columns_shape(c).weights) {
        for (; from < end; from++) {
            const cost one = cost_columns_at(c, from);
            cost_add(&sum, &one);
        }
        return sum;
    }
    for (; from < end; from++) {
        sum.samples += cost_columns_samples(c, from);
        sum.blocks += cost_columns_blocks(c, from);
    }
    sum.weight = (double)sum.samples;
    return sum;
}
