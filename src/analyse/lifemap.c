/* lifemap.c: see lifemap.h. */
#include "analyse/lifemap.h"

uint64_t lifemap_life(unsigned class) {
    uint64_t least = 1;
    if (class == 0)
        return 0;
    if (class >= LIFEMAP_LIVES)
        return UINT64_MAX;
    for (unsigned i = 0; i < (class - 1) / 2; i++)
        least *= 10;
    return (class - 1) % 2 ? 3 * least : least;
}

uint64_t lifemap_size(unsigned class) {
    return class == 0 ? 0 : class >= LIFEMAP_SIZES ? UINT64_MAX : UINT64_C(1) << (class - 1);
}

/* The last class that begins at `x` or below. */
static unsigned class_of(const uint64_t *least, unsigned n, uint64_t x) {
    unsigned low = 0;
    for (unsigned high = n; high - low > 1;) {
        unsigned middle = (low + high) / 2;
        *(least[middle] <= x ? &low : &high) = middle;
    }
    return low;
}

static void add_block(const profile *p, const estimate_chances *chances, size_t row, measure m,
                      cost *c) {
    uint64_t samples = blocks_samples(&p->table, row);
    c->samples += samples;
    c->blocks++;
    if (m != MEASURE_BLOCKS) {
        c->weight += (double)samples;
        return;
    }
    double inclusion = estimate_chance(chances, blocks_length(&p->table, row) + 1);
    double weight = 1 / inclusion;
    c->weight += weight;
    c->squares += weight * weight * (1 - inclusion);
    c->heaviest = weight > c->heaviest ? weight : c->heaviest;
}

enum { ROW_CELLS = LIFEMAP_LIVES + 1 };

static void add_all(const profile *p, const uint8_t *kept, measure m, cost *cells) {
    const block_table *b = &p->table;
    uint64_t lives[LIFEMAP_LIVES], sizes[LIFEMAP_SIZES];
    estimate_chances chances;
    estimate_chances_init(&chances, p->info.sample_rate);
    for (unsigned i = 0; i < LIFEMAP_LIVES; i++)
        lives[i] = lifemap_life(i);
    for (unsigned i = 0; i < LIFEMAP_SIZES; i++)
        sizes[i] = lifemap_size(i);
    for (size_t i = 0; i < b->count; i++) {
        if (kept && !kept[i])
            continue;
        uint64_t bytes = blocks_length(b, i) * (p->info.word_size / 8);
        unsigned life = blocks_died(b, i) == BLOCKS_NEVER
                            ? LIFEMAP_ALIVE
                            : class_of(lives, LIFEMAP_LIVES, blocks_died(b, i) - blocks_born(b, i));
        add_block(p, &chances, i, m,
                  &cells[class_of(sizes, LIFEMAP_SIZES, bytes) * ROW_CELLS + life]);
    }
}

bool lifemap_query(const profile *p, const uint8_t *kept, measure m, lifemap *result) {
    *result = (lifemap){0};
    cost *cells = calloc((size_t)LIFEMAP_SIZES * ROW_CELLS, sizeof *cells);
    bool ok = cells;
    if (ok)
        add_all(p, kept, m, cells);
    for (unsigned i = 0; ok && i < LIFEMAP_SIZES * ROW_CELLS; i++) {
        unsigned life = i % ROW_CELLS;
        cost_add(&result->lives[life], &cells[i]);
        ok = cells[i].blocks == 0 ||
             vec_push(&result->cells, ((lifemap_cell){.size = (uint8_t)(i / ROW_CELLS),
                                                      .life = (uint8_t)life,
                                                      .cost = cells[i]}));
    }
    free(cells);
    if (!ok)
        lifemap_free(result);
    return ok;
}

void lifemap_free(lifemap *l) {
    vec_free(&l->cells);
}
