/* cost_columns.h: a single cost, and many costs in columns that are as narrow as possible and leave
 * out what their measure does not need. There may be as many as stacks. */
#ifndef QUERY_COST_COLUMNS_H
#define QUERY_COST_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeros is nothing. Costs are added field by field, except `heaviest` and `most_per_word`,
 * which are maxima. */
typedef struct cost {
    uint64_t samples;
    uint64_t blocks; /* sampled blocks */
    double weight;   /* sum of the weights of samples or, by MEASURE_BLOCKS, of blocks */
    /* Where samples count differently: what the interval needs (see cost_estimate), and the largest
     * weight. */
    double squares;
    double heaviest;
    /* Blocks alone: the sum of each block's weight divided by its words, and 1 / the words of the
     * smallest block. These hold at any rate. */
    double per_word;
    double most_per_word;
} cost;

static inline void cost_add(cost *sum, const cost *c) {
    sum->samples += c->samples;
    sum->blocks += c->blocks;
    sum->weight += c->weight;
    sum->squares += c->squares;
    if (c->heaviest > sum->heaviest)
        sum->heaviest = c->heaviest;
    sum->per_word += c->per_word;
    if (c->most_per_word > sum->most_per_word)
        sum->most_per_word = c->most_per_word;
}

/* Which columns exist. */
typedef struct cost_shape {
    bool few;     /* all sums of samples and blocks fit 32 bits */
    bool weights; /* samples count differently */
    bool words;   /* by MEASURE_BLOCKS: `per_word` and `most_per_word` are needed */
    bool packed;  /* weights are packed from the start, as few are added to each */
} cost_shape;

typedef struct cost_few {
    uint32_t samples, blocks;
} cost_few;

typedef struct cost_counts {
    uint64_t samples, blocks;
} cost_counts;

typedef struct cost_weights {
    double weight, squares, heaviest;
} cost_weights;

/* Weights with less precision, once all is added: the interval does not need eight digits. */
typedef struct cost_packed {
    double weight;
    float squares, heaviest;
} cost_packed;

typedef struct cost_words {
    double per_word, most_per_word;
} cost_words;

/* All zeros is no columns. There is either `few` or `counts`, and at most one of `weights` and
 * `packed`. */
typedef struct cost_columns {
    cost_few *few;
    cost_counts *counts;
    cost_weights *weights;
    cost_packed *packed;
    cost_words *words;
} cost_columns;

/* Makes columns of `n` empty costs. False when there is no memory; must be freed in any case. */
bool cost_columns_make(cost_columns *c, size_t n, cost_shape shape);
void cost_columns_free(cost_columns *c);

/* Packs `n` costs once all is added, so that they take less memory; only if there are COST_MANY. */
enum { COST_MANY = 1 << 20 };
void cost_columns_pack(cost_columns *c, size_t n);

/* Returns the bytes of `n` costs. */
size_t cost_columns_size(const cost_columns *c, size_t n);

static inline cost_shape cost_columns_shape(const cost_columns *c) {
    return (cost_shape){.few = c->few, .weights = c->weights || c->packed, .words = c->words};
}

static inline uint64_t cost_columns_samples(const cost_columns *c, size_t i) {
    return c->few ? c->few[i].samples : c->counts[i].samples;
}

static inline uint64_t cost_columns_blocks(const cost_columns *c, size_t i) {
    return c->few ? c->few[i].blocks : c->counts[i].blocks;
}

static inline cost cost_columns_at(const cost_columns *c, size_t i) {
    cost one = {.samples = cost_columns_samples(c, i), .blocks = cost_columns_blocks(c, i)};
    one.weight = (double)one.samples;
    if (c->weights) {
        one.weight = c->weights[i].weight;
        one.squares = c->weights[i].squares;
        one.heaviest = c->weights[i].heaviest;
    }
    if (c->packed) {
        one.weight = c->packed[i].weight;
        one.squares = (double)c->packed[i].squares;
        one.heaviest = (double)c->packed[i].heaviest;
    }
    if (c->words) {
        one.per_word = c->words[i].per_word;
        one.most_per_word = c->words[i].most_per_word;
    }
    return one;
}

/* Adds the cost at `i` to a sum. Most costs have no columns but counts. */
static inline void cost_columns_add_to(const cost_columns *c, size_t i, cost *sum) {
    if (c->weights || c->packed || c->words) {
        const cost one = cost_columns_at(c, i);
        cost_add(sum, &one);
        return;
    }
    sum->samples += cost_columns_samples(c, i);
    sum->blocks += cost_columns_blocks(c, i);
    sum->weight += (double)cost_columns_samples(c, i);
}

/* Announces that a cost will soon be added to. */
static inline void cost_columns_expect(const cost_columns *c, size_t i) {
    if (c->few)
        __builtin_prefetch(&c->few[i], 1);
    if (c->weights)
        __builtin_prefetch(&c->weights[i], 1);
    if (c->packed)
        __builtin_prefetch(&c->packed[i], 1);
    if (c->words)
        __builtin_prefetch(&c->words[i], 1);
}

/* Returns the sum of the costs from `from` to before `end`. */
cost cost_columns_sum(const cost_columns *c, size_t from, size_t end);

/* Adds to a cost; fields without a column are ignored. */
static inline void cost_columns_add(const cost_columns *c, size_t i, const cost *add) {
    if (c->few) {
        c->few[i].samples += (uint32_t)add->samples;
        c->few[i].blocks += (uint32_t)add->blocks;
    } else {
        c->counts[i].samples += add->samples;
        c->counts[i].blocks += add->blocks;
    }
    if (c->weights) {
        cost_weights *w = &c->weights[i];
        w->weight += add->weight;
        w->squares += add->squares;
        w->heaviest = add->heaviest > w->heaviest ? add->heaviest : w->heaviest;
    }
    if (c->packed) {
        cost_packed *w = &c->packed[i];
        w->weight += add->weight;
        w->squares += (float)add->squares;
        w->heaviest = (float)add->heaviest > w->heaviest ? (float)add->heaviest : w->heaviest;
    }
    if (c->words) {
        cost_words *w = &c->words[i];
        w->per_word += add->per_word;
        w->most_per_word =
            add->most_per_word > w->most_per_word ? add->most_per_word : w->most_per_word;
    }
}

#endif
