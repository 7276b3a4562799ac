/* stats.c: walks over blocks with the number of events between birth and death; a part takes one
 * pass. Medians are found digit by digit, without sorting. */
#include "query/stats.h"

#include <math.h>
#include <string.h>

#include "query/cost.h"

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

/* Avoids divisions, because it is called for each block. */
unsigned stats_decade_of(uint64_t life) {
    enum { MOST_DIGITS = 20 }; /* of 64 bits */
    unsigned digits = 0;
    for (uint64_t least = 1; digits < MOST_DIGITS && life >= least; least *= 10)
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

/* Marks in `lives`. Until a block dies, its entry there is the number of its birth. */
#define NO_BLOCK   UINT32_MAX
#define DIED_FIRST (UINT32_MAX - 1) /* by the clock of another domain, which may differ */

enum { AHEAD = 16 /* events; deaths are of rows anywhere */ };

static inline bool is_birth(const stats *s, size_t row, blocks_event kind) {
    const uint8_t *source = s->profile->table.source;
    if (kind == BLOCKS_BORN)
        return !s->major_only || source[row] != MEMTRACE_MINOR;
    return kind == BLOCKS_PROMOTED && s->major_only;
}

static void add_event(stats *s, size_t row, blocks_event kind) {
    uint32_t *life = &s->lives[row];
    if (is_birth(s, row, kind)) {
        *life = *life == DIED_FIRST ? 0 : (uint32_t)s->n_events;
        s->n_events++;
        s->whole.n++;
    } else if (kind == BLOCKS_DIED && *life == NO_BLOCK) {
        *life = DIED_FIRST;
    } else if (kind == BLOCKS_DIED) {
        *life = (uint32_t)s->n_events++ - *life;
    }
}

static void end_lives(stats *s) {
    const block_table *b = &s->profile->table;
    for (size_t i = 0; i < b->count; i++) {
        if (s->lives[i] == DIED_FIRST)
            s->lives[i] = NO_BLOCK;
        else if (blocks_died(b, i) == BLOCKS_NEVER && s->lives[i] != NO_BLOCK)
            s->lives[i] = (uint32_t)s->n_events - s->lives[i];
    }
}

static bool find_lives(stats *s, const uint8_t *kept) {
    const block_table *b = &s->profile->table;
    const uint64_t *events = b->order.items;
    const size_t n = b->order.count;
    s->lives = malloc((b->count + 1) * sizeof *s->lives);
    if (!s->lives)
        return false;
    memset(s->lives, 0xFF, b->count * sizeof *s->lives); /* NO_BLOCK */
    for (size_t i = 0; i < n; i++) {
        const size_t row = blocks_event_row(events[i]);
        __builtin_prefetch(&s->lives[blocks_event_row(events[i + AHEAD < n ? i + AHEAD : i])], 1);
        if (!kept || kept[row])
            add_event(s, row, blocks_event_kind(events[i]));
    }
    end_lives(s);
    return true;
}

/* Finds the next birth from `*at` on, and sets `*at` after it. */
static inline bool next_birth(const stats *s, size_t *at, size_t *row) {
    const block_table *b = &s->profile->table;
    while (*at < b->order.count) {
        const uint64_t event = b->order.items[(*at)++];
        const blocks_event kind = blocks_event_kind(event);
        *row = blocks_event_row(event);
        if (kind != BLOCKS_DIED && is_birth(s, *row, kind) && s->lives[*row] != NO_BLOCK)
            return true;
    }
    return false;
}

static inline stats_block block_of(const stats *s, size_t row) {
    const block_table *b = &s->profile->table;
    const bool moved = s->major_only && b->source[row] == MEMTRACE_MINOR;
    const bool survived = blocks_died(b, row) == BLOCKS_NEVER;
    const uint64_t born = moved ? blocks_promoted(b, row) : blocks_born(b, row);
    const uint64_t end = survived ? s->profile->duration : blocks_died(b, row);
    return (stats_block){.row = (uint32_t)row,
                         .words = blocks_length(b, row),
                         .born = born,
                         .events = s->lives[row],
                         .micros = end > born ? end - born : 0,
                         .survived = survived};
}

/* A block that died before its birth has no number of its death. */
static bool counts_death(const stats *s, uint64_t event) {
    const uint32_t life = s->lives[blocks_event_row(event)];
    return blocks_event_kind(event) == BLOCKS_DIED && life != NO_BLOCK && life > 0;
}

bool stats_next(stats_walk *w, stats_block *block) {
    const uint64_t *events = w->stats->profile->table.order.items;
    size_t at = w->at, row;
    if (!next_birth(w->stats, &w->at, &row))
        return false;
    for (; at + 1 < w->at; at++)
        w->n_events += counts_death(w->stats, events[at]);
    *block = block_of(w->stats, row);
    block->born_at = w->n_events++;
    return true;
}

/* ---- medians ----------------------------------------------------------------------------- */

enum { DIGIT_BITS = 16, DIGITS = 1 << DIGIT_BITS };

/* Finds the number at `rank` of a sorted sequence without sorting it: digit by digit from the
 * highest, with one pass over all numbers per digit. */
typedef struct ranking {
    uint64_t found; /* its digits so far */
    unsigned shift; /* where the next digit begins */
    size_t rank;    /* among the numbers that begin with these digits */
    size_t *count;  /* of these numbers, by the next digit */
    bool done;
} ranking;

static bool ranking_begin(ranking *r, size_t n, uint64_t most) {
    *r = (ranking){.rank = (n - 1) / 2, .count = calloc(DIGITS, sizeof *r->count)};
    while (r->shift + DIGIT_BITS < 64 && most >> (r->shift + DIGIT_BITS))
        r->shift += DIGIT_BITS;
    return r->count;
}

static inline void ranking_add(ranking *r, uint64_t number) {
    if (!r->done && number >> r->shift >> DIGIT_BITS == r->found)
        r->count[(number >> r->shift) % DIGITS]++;
}

/* To be called after all numbers were added. */
static void ranking_find_digit(ranking *r) {
    size_t digit = 0;
    if (r->done)
        return;
    for (; digit + 1 < DIGITS && r->rank >= r->count[digit]; digit++)
        r->rank -= r->count[digit];
    r->found = r->found << DIGIT_BITS | digit;
    r->done = r->shift == 0;
    r->shift -= r->done ? 0 : DIGIT_BITS;
    memset(r->count, 0, DIGITS * sizeof *r->count);
}

/* ---- a part ------------------------------------------------------------------------------ */

/* The sums of one pass over the blocks of a part. Small blocks need only be counted by size. */
typedef struct tally {
    double mean, squares, held_squares;
    uint64_t few[ESTIMATE_FEW_WORDS];       /* numbers of blocks, by words with header */
    estimate_blocks many[STATS_N_SIZES][2]; /* others, by size, and whether they are large */
    estimate_mean mean_words;               /* of the others */
    cost held[STATS_N_SIZES];
    ranking events, micros;
} tally;

static void add_life(stats_lives *l, ranking *r, uint64_t life) {
    l->mean += (double)life; /* still the sum; divided at the end */
    l->most = life > l->most ? life : l->most;
    l->decades[stats_decade_of(life)]++;
    ranking_add(r, life);
}

/* The mean is computed from an exact sum. Squares are summed up by Welford's recurrence, which is
 * stable with one huge block among many small ones. */
static void add_size(stats_part *part, tally *t, const stats_block *b, size_t n,
                     const estimate_chances *chances, uint64_t large) {
    const uint64_t words = b->words;
    const double off = (double)words - t->mean;
    const unsigned size = size_of(words);
    t->mean += off / (double)n;
    t->squares += off * ((double)words - t->mean);
    part->words += words;
    part->most = words > part->most ? words : part->most;
    part->n_large += words > large;
    part->n_survived += b->survived;
    part->sizes[size]++;
    if (words + 1 < ESTIMATE_FEW_WORDS) {
        t->few[words + 1]++;
        return;
    }
    const double chance = estimate_inclusion(words + 1, chances->rate);
    estimate_blocks_add_chance(&t->many[size][words > large], chance);
    estimate_mean_add(&t->mean_words, (double)words, chance, 1);
}

static double seconds_of(const stats_block *b) {
    return (double)b->micros / 1e6;
}

static void add_held(const profile *p, stats_part *part, tally *t, const stats_block *b, size_t n) {
    stats_held *h = &part->held;
    const double held = (double)b->words * seconds_of(b), off = held - h->mean;
    h->mean += off / (double)n;
    t->held_squares += off * (held - h->mean);
    h->most = fmax(h->most, held);
    const cost one = cost_of_seconds(blocks_samples(&p->table, b->row), seconds_of(b));
    cost_add(&t->held[size_of(b->words)], &one);
}

static void gather(const stats *s, const stats_spec *spec, size_t at,
                   const estimate_chances *chances, stats_part *part, tally *t) {
    size_t row;
    for (size_t n = 1; n <= part->n && next_birth(s, &at, &row); n++) {
        const stats_block b = block_of(s, row);
        add_size(part, t, &b, n, chances, spec->large);
        add_life(&part->events, &t->events, b.events);
        add_life(&part->micros, &t->micros, b.micros);
        if (spec->held)
            add_held(s->profile, part, t, &b, n);
    }
}

/* Finds both medians. The blocks have been counted by the first digits already. */
static void find_medians(const stats *s, size_t begin, stats_part *part, tally *t) {
    for (;;) {
        size_t at = begin, row;
        ranking_find_digit(&t->events);
        ranking_find_digit(&t->micros);
        if (t->events.done && t->micros.done)
            break;
        for (size_t n = 0; n < part->n && next_birth(s, &at, &row); n++) {
            const stats_block b = block_of(s, row);
            ranking_add(&t->events, b.events);
            ranking_add(&t->micros, b.micros);
        }
    }
    part->events.median = t->events.found;
    part->micros.median = t->micros.found;
}

/* Splits blocks into those of `least` to `most` words and the others. With `by_large`, larger
 * blocks are split by whether they are `large` instead. */
static void split(const tally *t, const estimate_chances *chances, uint64_t least, uint64_t most,
                  bool by_large, estimate_blocks *within, estimate_blocks *without) {
    for (uint64_t words = 0; words + 1 < ESTIMATE_FEW_WORDS; words++) {
        const bool hit = words >= least && words <= most;
        estimate_blocks_add_alike(hit ? within : without, chances->of_few[words + 1],
                                  t->few[words + 1]);
    }
    for (unsigned i = 0; i < STATS_N_SIZES; i++)
        for (int large = 0; large < 2; large++) {
            const bool hit = by_large ? large : stats_sizes[i].most == most;
            estimate_blocks_join(hit ? within : without, &t->many[i][large]);
        }
}

/* Bounds what was missed in a class of `least` to `most` words, if no or few blocks were tracked,
 * by the smallest possible block. */
static void expect_missed(estimate_blocks *b, uint64_t least, uint64_t most, filter_bounds may,
                          double rate) {
    const uint64_t words = least + 1 > may.least_words ? least + 1 : may.least_words;
    if (b->tracked == 0 && words - 1 <= most)
        b->heaviest = 1 / estimate_inclusion(words, rate);
    *b = estimate_blocks_possible(b, words, rate);
}

/* Returns the share of blocks of `least` to `most` words. */
static estimate share_between(const tally *t, const estimate_chances *chances, filter_bounds may,
                              uint64_t least, uint64_t most, bool by_large) {
    const uint64_t least_without = least > 0 ? 0 : most + 1;
    const uint64_t most_without = most < UINT64_MAX ? UINT64_MAX : least - 1;
    estimate_blocks within = {0}, without = {0};
    split(t, chances, least, most, by_large, &within, &without);
    expect_missed(&within, least, most, may, chances->rate);
    expect_missed(&without, least_without, most_without, may, chances->rate);
    return estimate_share(&within, &without);
}

static void estimate_part(tally *t, const estimate_chances *chances, const stats_spec *spec,
                          stats_part *part) {
    const uint64_t large = spec->large;
    estimate_blocks all = {0}, none = {0};
    split(t, chances, 0, 0, true, &all, &none);
    estimate_blocks_join(&all, &none);
    part->blocks = estimate_blocks_number(&all, spec->may.least_words, chances->rate);
    for (uint64_t words = 0; words + 1 < ESTIMATE_FEW_WORDS; words++)
        estimate_mean_add(&t->mean_words, (double)words, chances->of_few[words + 1],
                          t->few[words + 1]);
    part->mean_words = estimate_mean_value(&t->mean_words);
    if (large < UINT64_MAX)
        part->large = share_between(t, chances, spec->may, large + 1, UINT64_MAX, true);
    for (int i = 0; i < STATS_N_SIZES; i++)
        part->size_shares[i] = share_between(
            t, chances, spec->may, i ? stats_sizes[i - 1].most + 1 : 0, stats_sizes[i].most, false);
}

/* Returns what a class holds. With no or few tracked blocks, one that lives all the time bounds
 * what was missed. */
static estimate held_by(const profile *p, filter_bounds may, const cost *c) {
    const double most = estimate_weight_possible(c->heaviest, c->blocks, cost_longest(p, may));
    return estimate_weighted(c->weight, c->squares, most, p->info.sample_rate);
}

static void share_held(const profile *p, filter_bounds may, const cost by_size[STATS_N_SIZES],
                       stats_part *part) {
    for (int i = 0; i < STATS_N_SIZES; i++) {
        cost others = {0};
        for (int j = 0; j < STATS_N_SIZES; j++)
            if (j != i)
                cost_add(&others, &by_size[j]);
        part->held.sizes[i] =
            estimate_share_of(held_by(p, may, &by_size[i]), held_by(p, may, &others));
    }
}

static void divide(stats_part *part, const tally *t) {
    const double n = (double)part->n;
    part->mean = (double)part->words / n;
    part->variance = t->squares / n;
    part->deviation = sqrt(part->variance);
    part->held.variance = t->held_squares / n;
    part->held.deviation = sqrt(part->held.variance);
    part->events.mean /= n;
    part->micros.mean /= n;
}

/* Sums up the part's blocks, from this event on. */
static bool sum_up(const stats *s, const stats_spec *spec, size_t at, stats_part *part) {
    const profile *p = s->profile;
    const uint64_t longest = p->duration > p->table.last ? p->duration : p->table.last;
    estimate_chances chances;
    tally *t = calloc(1, sizeof *t);
    bool ok = t && ranking_begin(&t->events, part->n, s->n_events) &&
              ranking_begin(&t->micros, part->n, longest);
    estimate_chances_init(&chances, p->info.sample_rate);
    if (ok && part->n > 0) {
        gather(s, spec, at, &chances, part, t);
        find_medians(s, at, part, t);
        divide(part, t);
    }
    if (ok)
        estimate_part(t, &chances, spec, part);
    if (ok && spec->held)
        share_held(p, spec->may, t->held, part);
    if (t) {
        free(t->events.count);
        free(t->micros.count);
    }
    free(t);
    return ok;
}

static bool sum_up_segments(const stats_spec *spec, stats *s) {
    const size_t n = s->whole.n;
    const size_t each = spec->segments ? n / spec->segments + (n % spec->segments > 0) : 0;
    size_t at = 0, row;
    for (size_t first = 0; each > 0 && first < n; first += each) {
        stats_part part = {.first = first, .n = n - first < each ? n - first : each};
        if (!sum_up(s, spec, at, &part) || !vec_push(&s->segments, part))
            return false;
        for (size_t i = 0; i < part.n && next_birth(s, &at, &row);)
            i++;
    }
    return true;
}

bool stats_query(const profile *p, const stats_spec *spec, stats *s) {
    *s = (stats){.profile = p, .major_only = spec->major_only};
    const bool ok =
        find_lives(s, spec->kept) && sum_up(s, spec, 0, &s->whole) && sum_up_segments(spec, s);
    if (!ok)
        stats_free(s);
    return ok;
}

void stats_free(stats *s) {
    free(s->lives);
    vec_free(&s->segments);
    *s = (stats){0};
}
