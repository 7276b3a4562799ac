/* cost_columns.c: each column is allocated only where the shape of the costs asks for it; reading
 * and adding are inline in the header. */
#include "query/cost_columns.h"

#include <stdlib.h>

bool cost_columns_make(cost_columns *c, size_t n, cost_shape shape) {
    *c = (cost_columns){0};
    if (shape.few)
        c->few = calloc(n + 1, sizeof *c->few);
    else
        c->counts = calloc(n + 1, sizeof *c->counts);
    if (shape.weights)
        c->weights = calloc(n + 1, sizeof *c->weights);
    if (shape.words)
        c->words = calloc(n + 1, sizeof *c->words);
    return (c->few || c->counts) && (c->weights || !shape.weights) && (c->words || !shape.words);
}

void cost_columns_free(cost_columns *c) {
    free(c->few);
    free(c->counts);
    free(c->weights);
    free(c->words);
    *c = (cost_columns){0};
}

size_t cost_columns_size(const cost_columns *c, size_t n) {
    return n * ((c->few ? sizeof *c->few : 0) + (c->counts ? sizeof *c->counts : 0) +
                (c->weights ? sizeof *c->weights : 0) + (c->words ? sizeof *c->words : 0));
}
