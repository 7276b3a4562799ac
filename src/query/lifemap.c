/* lifemap.c: size classes are powers of two, lifetime classes 1 and 3 times powers of ten. Parts of
 * the table are added up in parallel, each into its own grid of cells. */
#include "query/lifemap.h"

#include "profile/parallel.h"

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

/* Returns the last class that begins at this size or below. */
static inline unsigned class_of_size(uint64_t bytes) {
    const unsigned class = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
    return class < LIFEMAP_SIZES ? class : LIFEMAP_SIZES - 1;
}

/* Returns the last class that begins at this lifetime or below. */
static inline unsigned class_of_life(const uint64_t least[LIFEMAP_LIVES], uint64_t x) {
    unsigned low = 0;
    for (unsigned high = LIFEMAP_LIVES; high - low > 1;) {
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

typedef struct adding {
    const profile *profile;
    const uint8_t *kept;
    measure measure;
    uint64_t lives[LIFEMAP_LIVES];
    size_t parts; /* of the table */
    cost *cells;  /* by part */
} adding;

enum { N_CELLS = LIFEMAP_SIZES * ROW_CELLS };

static void add_part(void *context, size_t part) {
    const adding *a = context;
    const profile *p = a->profile;
    const block_table *b = &p->table;
    const size_t end = parallel_begin(b->count, a->parts, part + 1);
    cost *cells = a->cells + part * N_CELLS;
    estimate_chances chances;
    estimate_chances_init(&chances, p->info.sample_rate);
    for (size_t i = parallel_begin(b->count, a->parts, part); i < end; i++) {
        if (a->kept && !a->kept[i])
            continue;
        uint64_t bytes = blocks_length(b, i) * (p->info.word_size / 8);
        unsigned life = blocks_died(b, i) == BLOCKS_NEVER
                            ? LIFEMAP_ALIVE
                            : class_of_life(a->lives, blocks_died(b, i) - blocks_born(b, i));
        add_block(p, &chances, i, a->measure, &cells[class_of_size(bytes) * ROW_CELLS + life]);
    }
}

/* Returns the sums by size and life, which the caller frees. NULL when there is no memory. */
static cost *add_up(const profile *p, const uint8_t *kept, measure m) {
    adding a = {
        .profile = p, .kept = kept, .measure = m, .parts = parallel_same_parts(p->table.count)};
    for (unsigned i = 0; i < LIFEMAP_LIVES; i++)
        a.lives[i] = lifemap_life(i);
    a.cells = calloc(a.parts * N_CELLS, sizeof *a.cells);
    if (!a.cells)
        return NULL;
    parallel_run(a.parts, add_part, &a);
    for (size_t i = N_CELLS; i < a.parts * N_CELLS; i++)
        cost_add(&a.cells[i % N_CELLS], &a.cells[i]);
    return a.cells;
}

bool lifemap_query(const profile *p, const uint8_t *kept, measure m, lifemap *result) {
    *result = (lifemap){0};
    cost *cells = add_up(p, kept, m);
    bool ok = cells;
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
