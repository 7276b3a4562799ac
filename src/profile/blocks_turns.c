/* blocks_turns.c: follows how much each domain holds of its own blocks. In any order of turns, the
 * peak is at most the sum of what each held at most. It is at least what a single one held at most,
 * and at least what nobody frees. A block that another domain frees may die at once or never.
 * Threads that follow each other may share a domain, and follow in another order in another run. So
 * what nobody frees counts by itself alone, except in domain 0, which only the main thread has. */
#include "profile/blocks_turns.h"

#include <stdlib.h>

/* What a domain holds, in samples, if blocks that others free live as shortly or as long as
 * possible. */
typedef struct holding {
    uint64_t least, most;        /* now */
    uint64_t most_of_least, top; /* the highest of each */
} holding;

typedef struct turns {
    const block_table *table;
    uint32_t *row_at;   /* by place */
    uint32_t *died;     /* by place: a row that died before the birth there, or BLOCKS_NOWHERE */
    uint32_t *next;     /* by row: the next that died there */
    holding *holdings;  /* by domain */
    uint64_t survivors; /* samples */
} turns;

enum { DOMAINS = UINT16_MAX + 1 };

/* The column is missing where one domain made it needless. */
static holding *holding_of(const turns *t, uint32_t row) {
    return &t->holdings[t->table->domain ? t->table->domain[row] : 0];
}

static void add_row(turns *t, uint32_t row) {
    const block_table *b = t->table;
    t->row_at[blocks_place(b, row)] = row;
    if (b->after[row] == BLOCKS_NOWHERE) {
        t->survivors += blocks_samples(b, row);
    } else if (!blocks_died_elsewhere(b, row)) {
        t->next[row] = t->died[b->after[row]];
        t->died[b->after[row]] = row;
    }
}

static void die(const turns *t, uint32_t row) {
    holding *h = holding_of(t, row);
    h->least -= blocks_samples(t->table, row);
    h->most -= blocks_samples(t->table, row);
}

/* Whether the block's thread certainly holds it until the domain frees it. */
static bool is_held(const turns *t, uint32_t row) {
    return !blocks_died_elsewhere(t->table, row) &&
           (t->table->after[row] != BLOCKS_NOWHERE || holding_of(t, row) == t->holdings);
}

static void be_born(const turns *t, uint32_t row) {
    holding *h = holding_of(t, row);
    const uint64_t samples = blocks_samples(t->table, row);
    h->most += samples;
    h->least += is_held(t, row) ? samples : 0;
    h->top = h->most > h->top ? h->most : h->top;
    h->most_of_least = h->least > h->most_of_least ? h->least : h->most_of_least;
}

static void follow(const turns *t) {
    for (uint32_t place = 0; place < t->table->count; place++) {
        for (uint32_t row = t->died[place]; row != BLOCKS_NOWHERE; row = t->next[row])
            die(t, row);
        if (t->row_at[place] != BLOCKS_NOWHERE) /* an index may tell lies */
            be_born(t, t->row_at[place]);
    }
}

static blocks_spread sum_up(const turns *t) {
    blocks_spread s = {.low = t->survivors};
    for (size_t i = 0; i < DOMAINS; i++) {
        const holding *h = &t->holdings[i];
        s.high += h->top;
        s.low = h->most_of_least > s.low ? h->most_of_least : s.low;
    }
    return s;
}

bool blocks_turns(const block_table *b, blocks_spread *spread) {
    const size_t n = b->count;
    turns t = {.table = b,
               .row_at = malloc((n + 1) * sizeof *t.row_at),
               .died = malloc((n + 1) * sizeof *t.died),
               .next = malloc((n + 1) * sizeof *t.next),
               .holdings = calloc(DOMAINS, sizeof *t.holdings)};
    const bool ok = t.row_at && t.died && t.next && t.holdings;
    for (size_t i = 0; ok && i <= n; i++)
        t.row_at[i] = t.died[i] = BLOCKS_NOWHERE;
    for (size_t i = 0; ok && i < n; i++)
        add_row(&t, (uint32_t)i);
    if (ok) {
        follow(&t);
        *spread = sum_up(&t);
    }
    free(t.row_at);
    free(t.died);
    free(t.next);
    free(t.holdings);
    return ok;
}
