/* stats.c: see stats.h. */
#include "analyse/stats.h"

#include <math.h>
#include <string.h>

#include "analyse/cost.h"

const stats_size stats_sizes[STATS_N_SIZES] = {
#define STATS_SIZE(name, most) {name, most},
    STATS_SIZES(STATS_SIZE)
#undef STATS_SIZE
};

uint64_t stats_decade_least(unsigned decade) {
    uint64_t least = decade > 0;
    for (; decade > 1; decade--)
        least *= 10;
    return least;
}

unsigned stats_decade_of(uint64_t life) {
    unsigned digits = 0;
    for (; life > 0; life /= 10)
        digits++;
    return digits;
}

static unsigned size_of(uint64_t words) {
    unsigned i = 0;
    while (words > stats_sizes[i].most)
        i++;
    return i;
}

/* ---- from the events to the blocks ------------------------------------------------------- */

/* In `at`, by row: MAP64_NONE, or the index of a block, or this. */
#define DIED_FIRST (MAP64_NONE - 1) /* by the clock of another domain, which differs a little */

static bool is_birth(const profile *p, const stats_spec *spec, size_t row, blocks_event kind) {
    if (kind == BLOCKS_BORN)
        return !spec->major_only || p->table.source[row] != MEMTRACE_MINOR;
    return kind == BLOCKS_PROMOTED && spec->major_only && p->table.source[row] == MEMTRACE_MINOR;
}

static bool add_birth(const profile *p, stats *s, size_t row, blocks_event kind, uint32_t *at) {
    const block_table *b = &p->table;
    stats_block block = {.row = (uint32_t)row,
                         .words = blocks_length(b, row),
                         .born = kind == BLOCKS_BORN ? b->born[row] : b->promoted[row],
                         .born_at = s->n_events++,
                         .survived = *at != DIED_FIRST};
    *at = (uint32_t)s->blocks.count;
    return vec_push(&s->blocks, block);
}

static void add_death(const profile *p, stats *s, size_t row, uint32_t *at) {
    if (*at == MAP64_NONE) {
        *at = DIED_FIRST;
        return;
    }
    stats_block *block = &s->blocks.items[*at];
    uint64_t died = p->table.died[row];
    block->survived = false;
    block->events = s->n_events++ - block->born_at;
    block->micros = died > block->born ? died - block->born : 0;
}

static void end_lives(const profile *p, stats *s) {
    for (size_t i = 0; i < s->blocks.count; i++) {
        stats_block *block = &s->blocks.items[i];
        if (!block->survived)
            continue;
        block->events = s->n_events - block->born_at;
        block->micros = p->duration - block->born;
    }
}

static bool gather(const profile *p, const stats_spec *spec, stats *s) {
    const block_table *b = &p->table;
    uint32_t *at = malloc((b->count + 1) * sizeof *at);
    bool ok = at;
    for (size_t i = 0; ok && i < b->count; i++)
        at[i] = MAP64_NONE;
    for (size_t i = 0; ok && i < b->order.count; i++) {
        size_t row = blocks_event_row(b->order.items[i]);
        blocks_event kind = blocks_event_kind(b->order.items[i]);
        if (spec->kept && !spec->kept[row])
            continue;
        if (is_birth(p, spec, row, kind))
            ok = add_birth(p, s, row, kind, &at[row]);
        else if (kind == BLOCKS_DIED)
            add_death(p, s, row, &at[row]);
    }
    free(at);
    if (ok)
        end_lives(p, s);
    return ok;
}

/* ---- a part ------------------------------------------------------------------------------ */

/* The number that would stand at `rank` if they were sorted, which they are not: of many millions,
 * that takes far longer than to find the one from its first digit on. */
static uint64_t select_rank(const uint64_t *numbers, size_t n, size_t rank, uint64_t most) {
    enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };
    uint64_t found = 0;
    unsigned shift = 0;
    while (shift + DIGIT_BITS < 64 && most >> (shift + DIGIT_BITS))
        shift += DIGIT_BITS;
    for (;; shift -= DIGIT_BITS) {
        size_t count[DIGITS] = {0}, digit = 0;
        for (size_t i = 0; i < n; i++)
            if (numbers[i] >> shift >> DIGIT_BITS == found)
                count[(numbers[i] >> shift) % DIGITS]++;
        for (; rank >= count[digit]; digit++)
            rank -= count[digit];
        found = found << DIGIT_BITS | digit;
        if (shift == 0)
            return found;
    }
}

static stats_lives sum_up_lives(const uint64_t *lives, size_t n) {
    stats_lives l = {0};
    double sum = 0;
    if (n == 0)
        return l;
    for (size_t i = 0; i < n; i++) {
        sum += (double)lives[i];
        l.most = lives[i] > l.most ? lives[i] : l.most;
        l.decades[stats_decade_of(lives[i])]++;
    }
    l.mean = sum / (double)n;
    l.median = select_rank(lives, n, (n - 1) / 2, l.most);
    return l;
}

/* The mean is that of the exact sum; squares are summed up by Welford's recurrence, which does not
 * suffer from one huge block among many small ones. */
static void sum_up_sizes(const stats_block *blocks, uint64_t large, stats_part *part) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < part->n; i++) {
        uint64_t words = blocks[i].words;
        double off = (double)words - mean;
        mean += off / (double)(i + 1);
        squares += off * ((double)words - mean);
        part->words += words;
        part->most = words > part->most ? words : part->most;
        part->n_large += words > large;
        part->n_survived += blocks[i].survived;
        part->sizes[size_of(words)]++;
    }
    if (part->n == 0)
        return;
    part->mean = (double)part->words / (double)part->n;
    part->variance = squares / (double)part->n;
    part->deviation = sqrt(part->variance);
}

/* The share of blocks of `least` to `most` words. Of a class in which no block was tracked, the
 * smallest possible block says how many there may be all the same. */
static estimate share_between(const stats_block *blocks, size_t n, const estimate_chances *chances,
                              uint64_t least, uint64_t most) {
    const double rate = chances->rate;
    estimate_blocks within = {0}, without = {0};
    for (size_t i = 0; i < n; i++) {
        bool hit = blocks[i].words >= least && blocks[i].words <= most;
        estimate_blocks_add_chance(hit ? &within : &without,
                                   estimate_chance(chances, blocks[i].words + 1));
    }
    if (within.tracked == 0)
        within.heaviest = 1 / estimate_inclusion(least + 1, rate);
    if (without.tracked == 0)
        without.heaviest = 1 / estimate_inclusion(least > 0 ? 1 : most + 2, rate);
    return estimate_share(&within, &without);
}

static void estimate_part(const stats_block *blocks, double rate, uint64_t large,
                          stats_part *part) {
    estimate_blocks all = {0};
    estimate_mean mean = {0};
    estimate_chances chances;
    estimate_chances_init(&chances, rate);
    for (size_t i = 0; i < part->n; i++) {
        estimate_blocks_add_chance(&all, estimate_chance(&chances, blocks[i].words + 1));
        estimate_mean_add(&mean, (double)blocks[i].words, blocks[i].words + 1, rate);
    }
    part->blocks = estimate_blocks_total(&all);
    part->mean_words = estimate_mean_value(&mean);
    if (large < UINT64_MAX)
        part->large = share_between(blocks, part->n, &chances, large + 1, UINT64_MAX);
    for (int i = 0; i < STATS_N_SIZES; i++)
        part->size_shares[i] = share_between(
            blocks, part->n, &chances, i ? stats_sizes[i - 1].most + 1 : 0, stats_sizes[i].most);
}

static double seconds_of(const stats_block *b) {
    return (double)b->micros / 1e6;
}

static void sum_up_held(const stats_block *blocks, stats_part *part) {
    stats_held *h = &part->held;
    double squares = 0;
    for (size_t i = 0; i < part->n; i++) {
        const double held = (double)blocks[i].words * seconds_of(&blocks[i]), off = held - h->mean;
        h->mean += off / (double)(i + 1);
        squares += off * (held - h->mean);
        h->most = fmax(h->most, held);
    }
    if (part->n == 0)
        return;
    h->variance = squares / (double)part->n;
    h->deviation = sqrt(h->variance);
}

/* Of a class in which no block was tracked, one that is there all the time says how much it may
 * hold all the same. */
static estimate held_by(const profile *p, const cost *c) {
    const double most = c->blocks ? c->heaviest : (double)p->duration / 1e6;
    return estimate_weighted(c->weight, c->squares, most, p->info.sample_rate);
}

static void share_held(const profile *p, const stats_block *blocks, stats_part *part) {
    cost by_size[STATS_N_SIZES] = {0};
    for (size_t i = 0; i < part->n; i++) {
        const cost one =
            cost_of_seconds(blocks_samples(&p->table, blocks[i].row), seconds_of(&blocks[i]));
        cost_add(&by_size[size_of(blocks[i].words)], &one);
    }
    for (int i = 0; i < STATS_N_SIZES; i++) {
        cost others = {0};
        for (int j = 0; j < STATS_N_SIZES; j++)
            if (j != i)
                cost_add(&others, &by_size[j]);
        part->held.sizes[i] = estimate_share_of(held_by(p, &by_size[i]), held_by(p, &others));
    }
}

static bool sum_up(const profile *p, const stats_spec *spec, const stats *s, stats_part *part) {
    const stats_block *blocks = part->n > 0 ? s->blocks.items + part->first : NULL;
    uint64_t *lives = calloc(part->n + 1, sizeof *lives);
    if (!lives)
        return false;
    sum_up_sizes(blocks, spec->large, part);
    for (size_t i = 0; i < part->n; i++)
        lives[i] = blocks[i].events;
    part->events = sum_up_lives(lives, part->n);
    for (size_t i = 0; i < part->n; i++)
        lives[i] = blocks[i].micros;
    part->micros = sum_up_lives(lives, part->n);
    free(lives);
    estimate_part(blocks, p->info.sample_rate, spec->large, part);
    if (spec->held) {
        sum_up_held(blocks, part);
        share_held(p, blocks, part);
    }
    return true;
}

static bool sum_up_segments(const profile *p, const stats_spec *spec, stats *s) {
    size_t n = s->blocks.count;
    size_t each = spec->segments ? n / spec->segments + (n % spec->segments > 0) : 0;
    for (size_t first = 0; each > 0 && first < n; first += each) {
        stats_part part = {.first = first, .n = n - first < each ? n - first : each};
        if (!sum_up(p, spec, s, &part) || !vec_push(&s->segments, part))
            return false;
    }
    return true;
}

bool stats_query(const profile *p, const stats_spec *spec, stats *s) {
    *s = (stats){0};
    bool ok = gather(p, spec, s);
    s->whole.n = s->blocks.count;
    ok = ok && sum_up(p, spec, s, &s->whole) && sum_up_segments(p, spec, s);
    if (!ok)
        stats_free(s);
    return ok;
}

void stats_free(stats *s) {
    vec_free(&s->blocks);
    vec_free(&s->segments);
    *s = (stats){0};
}
