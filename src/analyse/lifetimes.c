/* lifetimes.c: see lifetimes.h. */
#include "analyse/lifetimes.h"

#include <math.h>

#include "analyse/stats.h"

static const double quantiles[LIFETIMES_QUANTILES] = {0.5, 0.9, 0.99};

/* Blocks that belong to something. By MEASURE_BYTESECONDS, `blocks` has the sum of their samples'
 * seconds, the squares and the longest life: what estimate_weighted asks for. */
typedef struct tally {
    uint64_t samples;
    estimate_blocks blocks;
} tally;

typedef struct tallies {
    tally in, out;
} tallies;

/* What is counted of a site. */
typedef struct counts {
    tally all;
    tallies soon, minor, premature;
} counts;

/* What a block counts. */
typedef struct weighed {
    uint64_t samples;
    double chance;  /* to be tracked */
    double seconds; /* that it lived, by MEASURE_BYTESECONDS alone; else less than 0 */
} weighed;

/* How long a block lived, or was seen. */
static uint64_t life_of(const profile *p, size_t row) {
    const block_table *b = &p->table;
    return (blocks_died(b, row) < p->duration ? blocks_died(b, row) : p->duration) -
           blocks_born(b, row);
}

static weighed weigh(const profile *p, const lifetimes_spec *spec, const estimate_chances *chances,
                     size_t row) {
    const bool held = spec->measure == MEASURE_BYTESECONDS;
    return (weighed){.samples = blocks_samples(&p->table, row),
                     .chance = estimate_chance(chances, blocks_length(&p->table, row) + 1),
                     .seconds = held ? (double)life_of(p, row) / 1e6 : -1};
}

static void tally_add(tally *t, weighed w) {
    t->samples += w.samples;
    if (w.seconds < 0) {
        estimate_blocks_add_chance(&t->blocks, w.chance);
        return;
    }
    t->blocks.count += (double)w.samples * w.seconds;
    t->blocks.variance += (double)w.samples * w.seconds * w.seconds;
    t->blocks.heaviest = fmax(t->blocks.heaviest, w.seconds);
    t->blocks.tracked++;
}

static void tally_join(tally *t, const tally *others) {
    t->samples += others->samples;
    estimate_blocks_join(&t->blocks, &others->blocks);
}

static void tallies_join(tallies *t, const tallies *others) {
    tally_join(&t->in, &others->in);
    tally_join(&t->out, &others->out);
}

static void counts_join(counts *c, const counts *others) {
    tally_join(&c->all, &others->all);
    tallies_join(&c->soon, &others->soon);
    tallies_join(&c->minor, &others->minor);
    tallies_join(&c->premature, &others->premature);
}

static void count_if(tallies *t, weighed w, bool in) {
    tally_add(in ? &t->in : &t->out, w);
}

/* ---- blocks ------------------------------------------------------------------------------ */

static bool is_dead(const profile *p, size_t row) {
    return blocks_died(&p->table, row) != BLOCKS_NEVER;
}

/* Within `limit` of a moment: it is known of blocks that died, or are older at the end. */
static void count_death(tallies *t, const profile *p, size_t row, weighed w, uint64_t since,
                        uint64_t limit) {
    bool dead = is_dead(p, row);
    uint64_t died = blocks_died(&p->table, row), end = dead ? died : p->duration;
    uint64_t age = end > since ? end - since : 0;
    if (dead || age > limit)
        count_if(t, w, dead && age <= limit);
}

static void count_block(counts *c, const profile *p, const lifetimes_spec *spec, size_t row,
                        weighed w) {
    const block_table *b = &p->table;
    bool promoted = blocks_promoted(b, row) != BLOCKS_NEVER;
    tally_add(&c->all, w);
    count_death(&c->soon, p, row, w, blocks_born(b, row), spec->within);
    if (b->source[row] == MEMTRACE_MINOR && (promoted || is_dead(p, row)))
        count_if(&c->minor, w, !promoted);
    if (promoted)
        count_death(&c->premature, p, row, w, blocks_promoted(b, row), spec->soon);
}

/* ---- shares ------------------------------------------------------------------------------ */

/* Of none, and of few, a word that may have been held for so long says how much there may be. */
static estimate held_by(const profile *p, const tally *t, double most) {
    const estimate_blocks *b = &t->blocks;
    return estimate_weighted(b->count, b->variance,
                             estimate_weight_possible(b->heaviest, b->tracked, most),
                             p->info.sample_rate);
}

/* Those within live for `most` microseconds at most, as far as that is known. */
static lifetimes_share share_of(const profile *p, const lifetimes_spec *spec, const tally *in,
                                const tally *out, uint64_t most) {
    uint64_t n = in->samples + out->samples;
    lifetimes_share s = {.samples = in->samples, .of_samples = n};
    if (n == 0) {
        s.share = (estimate){.value = 0, .low = 0, .high = 1};
        return s;
    }
    if (spec->measure == MEASURE_BYTESECONDS) {
        const double longest = cost_longest(p, spec->may);
        s.share = estimate_share_of(held_by(p, in, fmin((double)most / 1e6, longest)),
                                    held_by(p, out, longest));
        return s;
    }
    if (spec->measure != MEASURE_BLOCKS) {
        s.share = estimate_proportion(in->samples, n, p->info.sample_rate);
        return s;
    }
    /* Of none, the smallest block, one word, says how many there may be all the same. */
    const double rate = p->info.sample_rate;
    estimate_blocks within = estimate_blocks_possible(&in->blocks, spec->may.least_words, rate);
    estimate_blocks without = estimate_blocks_possible(&out->blocks, spec->may.least_words, rate);
    const uint64_t words = spec->may.least_words ? spec->may.least_words : 1;
    double heaviest = 1 / estimate_inclusion(words, rate);
    within.heaviest = within.tracked ? within.heaviest : heaviest;
    without.heaviest = without.tracked ? without.heaviest : heaviest;
    s.share = estimate_share(&within, &without);
    return s;
}

static lifetimes_part part_of(const profile *p, const lifetimes_spec *spec, const counts *c) {
    double word = p->info.word_size / 8.0;
    estimate words = spec->measure == MEASURE_BYTESECONDS
                         ? held_by(p, &c->all, cost_longest(p, spec->may))
                         : estimate_words(c->all.samples, p->info.sample_rate);
    lifetimes_part part = {
        .samples = c->all.samples,
        .blocks = c->all.blocks.tracked,
        .amount = {words.value * word, words.low * word, words.high * word},
        .dead_soon = share_of(p, spec, &c->soon.in, &c->soon.out, spec->within),
        .dead_minor = share_of(p, spec, &c->minor.in, &c->minor.out, p->duration),
        .premature = share_of(p, spec, &c->premature.in, &c->premature.out, p->duration),
    };
    if (spec->measure == MEASURE_BLOCKS)
        part.amount =
            estimate_blocks_number(&c->all.blocks, spec->may.least_words, p->info.sample_rate);
    return part;
}

/* ---- histogram --------------------------------------------------------------------------- */

/* What is in `all` and not in `part`. */
static tally rest_of(const tally *all, const tally *part) {
    tally rest = {.samples = all->samples - part->samples,
                  .blocks = {.tracked = all->blocks.tracked - part->blocks.tracked}};
    if (rest.blocks.tracked > 0) {
        rest.blocks.count = fmax(0, all->blocks.count - part->blocks.count);
        rest.blocks.variance = fmax(0, all->blocks.variance - part->blocks.variance);
        rest.blocks.heaviest = all->blocks.heaviest;
    }
    return rest;
}

static uint64_t most_of_decade(int decade) {
    return decade + 1 < LIFETIMES_DECADES ? stats_decade_least((unsigned)decade + 1) : UINT64_MAX;
}

static void make_histogram(const profile *p, const lifetimes_spec *spec,
                           const estimate_chances *chances, const counts *all, lifetimes *l) {
    tally decades[LIFETIMES_DECADES] = {0}, alive = {0}, rest;
    for (size_t i = 0; i < p->table.count; i++)
        if (!spec->kept || spec->kept[i])
            tally_add(is_dead(p, i) ? &decades[stats_decade_of(life_of(p, i))] : &alive,
                      weigh(p, spec, chances, i));
    for (int i = 0; i < LIFETIMES_DECADES; i++) {
        rest = rest_of(&all->all, &decades[i]);
        l->decades[i] = share_of(p, spec, &decades[i], &rest, most_of_decade(i));
    }
    rest = rest_of(&all->all, &alive);
    l->alive = share_of(p, spec, &alive, &rest, p->duration);
}

/* ---- curve ------------------------------------------------------------------------------- */

/* A block stands for its samples, which are as many as chance makes of its words; or for the
 * inverse of its chance to be tracked. */
static survival_lives survival_life_of(const profile *p, const lifetimes_spec *spec,
                                       const estimate_chances *chances, size_t row) {
    double rate = p->info.sample_rate, samples = (double)blocks_samples(&p->table, row);
    survival_lives life = {.time = life_of(p, row),
                           .ended = is_dead(p, row),
                           .n = 1,
                           .weight = samples,
                           .variance = samples * (1 - rate)};
    if (spec->measure == MEASURE_BYTESECONDS) {
        /* What was held was: the end of the trace leaves nothing open. */
        const double seconds = (double)life.time / 1e6;
        life.weight *= seconds;
        life.variance *= seconds * seconds;
        life.ended = true;
    } else if (spec->measure == MEASURE_BLOCKS) {
        double inclusion = estimate_chance(chances, blocks_length(&p->table, row) + 1);
        life.weight = 1 / inclusion;
        life.variance = (1 - inclusion) / (inclusion * inclusion);
    }
    return life;
}

/* Lives, in the order in which their lengths were met first: of many blocks few are different. */
typedef struct lives {
    VEC(survival_lives) items;
    map64 ended, open; /* time → index into `items` */
} lives;

static void lives_free(lives *all) {
    vec_free(&all->items);
    map64_free(&all->ended);
    map64_free(&all->open);
}

static bool lives_add(lives *all, survival_lives life) {
    uint32_t *at = map64_put(life.ended ? &all->ended : &all->open, life.time);
    if (!at)
        return false;
    if (*at == MAP64_NONE) {
        *at = (uint32_t)all->items.count;
        return vec_push(&all->items, life);
    }
    survival_lives *sum = &all->items.items[*at];
    sum->weight += life.weight;
    sum->variance += life.variance;
    sum->n++;
    return true;
}

static bool make_curve(const profile *p, const lifetimes_spec *spec,
                       const estimate_chances *chances, lifetimes *l) {
    lives all = {.ended = {0}};
    bool ok = true;
    for (size_t i = 0; ok && i < p->table.count; i++) {
        if (spec->kept && !spec->kept[i])
            continue;
        const survival_lives life = survival_life_of(p, spec, chances, i);
        ok = life.weight <= 0 || lives_add(&all, life);
    }
    ok = ok && survival_estimate(all.items.items, all.items.count, &l->curve);
    lives_free(&all);
    for (int i = 0; ok && i < LIFETIMES_QUANTILES; i++)
        l->quantiles[i] = survival_find_quantile(&l->curve, quantiles[i]);
    return ok;
}

/* ---- the query --------------------------------------------------------------------------- */

static int compare_sites(const void *a, const void *b) {
    const lifetimes_site *x = a, *y = b;
    if (x->part.amount.value != y->part.amount.value)
        return x->part.amount.value > y->part.amount.value ? -1 : 1;
    return sites_compare_places(x->place, y->place);
}

static bool count_sites(const lens *view, const lifetimes_spec *spec,
                        const estimate_chances *chances, lifetimes *l) {
    const profile *p = view->profile;
    sites places;
    if (!sites_find(view, spec->kept, spec->by_function, &places))
        return false;
    size_t n = places.places.count;
    counts *by_site = calloc(n + 1, sizeof *by_site), *all = by_site + n;
    bool ok = by_site && vec_reserve(&l->sites, n);
    for (size_t i = 0; ok && i < p->table.count; i++)
        if (places.of_row[i] != SITES_NONE)
            count_block(&by_site[places.of_row[i]], p, spec, i, weigh(p, spec, chances, i));
    for (size_t i = 0; ok && i < n; i++)
        counts_join(all, &by_site[i]);
    for (size_t i = 0; ok && i < n; i++)
        l->sites.items[l->sites.count++] = (lifetimes_site){.place = places.places.items[i],
                                                            .part = part_of(p, spec, &by_site[i])};
    if (ok && n)
        qsort(l->sites.items, n, sizeof *l->sites.items, compare_sites);
    if (ok) {
        l->all = part_of(p, spec, all);
        make_histogram(p, spec, chances, all, l);
    }
    free(by_site);
    sites_free(&places);
    return ok;
}

bool lifetimes_query(const lens *view, const lifetimes_spec *spec, lifetimes *l) {
    *l = (lifetimes){0};
    estimate_chances chances;
    estimate_chances_init(&chances, view->profile->info.sample_rate);
    bool ok = count_sites(view, spec, &chances, l) && make_curve(view->profile, spec, &chances, l);
    if (!ok)
        lifetimes_free(l);
    return ok;
}

void lifetimes_free(lifetimes *l) {
    vec_free(&l->sites);
    vec_free(&l->curve);
    *l = (lifetimes){0};
}
