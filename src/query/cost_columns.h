/* cost_columns.h: costs, alone and many of them in columns: as narrow as they fit, without what
 * their measure has no use for. There may be as many as stacks. */
#ifndef QUERY_COST_COLUMNS_H
#define QUERY_COST_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Legal when zeroed: nothing. Costs add up, but for `heaviest` and `most_per_word`, which are the
 * largest. */
typedef struct cost {
    uint64_t samples;
    uint64_t blocks; /* sampled ones */
    double weight;   /* sum of the samples' weights; of blocks, of those of the blocks */
    double squares; /* blocks and byte-seconds alone: what the interval needs (see cost_estimate) */
    double heaviest; /* the same */
    double
        per_word; /* blocks alone: sum of what a word of each block has of the block's weight … */
    double most_per_word; /* … and 1 / the words of the smallest, which hold at any rate */
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

/* Which columns there are. */
typedef struct cost_shape {
    bool few;     /* no sum of samples or blocks is beyond 32 bits */
    bool weights; /* samples do not count alike */
    bool words;   /* of numbers of blocks */
    bool packed;  /* weights are packed from the beginning: few are added to each */
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

/* The same of many costs, when all is added: what says how sure an amount is has its own digits
 * elsewhere than in the eighth place. */
typedef struct cost_packed {
    double weight;
    float squares, heaviest;
} cost_packed;

typedef struct cost_words {
    double per_word, most_per_word;
} cost_words;

/* Legal when zeroed: none. Of `few` and `counts` there is one, of `weights` and `packed` at most.
 */
typedef struct cost_columns {
    cost_few *few;
    cost_counts *counts;
    cost_weights *weights;
    cost_packed *packed;
    cost_words *words;
} cost_columns;

/* Of `n` costs of nothing; false when there is no memory, and to be freed in any case. */
bool cost_columns_make(cost_columns *c, size_t n, cost_shape shape);
void cost_columns_free(cost_columns *c);

/* When all is added: `n` costs take less memory from now on, if they are COST_MANY. */
enum { COST_MANY = 1 << 20 };
void cost_columns_pack(cost_columns *c, size_t n);

/* Bytes of `n` costs. */
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

/* Something will be added to one soon. */
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

/* Of the costs from one to before another. */
cost cost_columns_sum(const cost_columns *c, size_t from, size_t end);

/* What the shape has no column for is not looked at. */
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
