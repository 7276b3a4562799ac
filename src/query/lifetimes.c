/* lifetimes.c: turns blocks into lives, each seen to its end or not. For sites with blocks that are
 * still alive, the survival curve (survival.h) estimates how many of these will die in time. */
#include "query/lifetimes.h"

#include <math.h>

static const double quantiles[LIFETIMES_QUANTILES] = {0.5, 0.9, 0.99};

/* Counted blocks. By MEASURE_BYTESECONDS, `blocks` has what estimate_weighted needs: the sum of the
 * samples' seconds, of their squares, and the longest life. */
typedef struct tally {
    uint64_t samples;
    estimate_blocks blocks;
} tally;

typedef struct tallies {
    tally in, out;
} tallies;

/* What died within a time or lived longer, and what was younger and alive at the end. */
typedef struct fates {
    tallies known;
    tally open;
    survival_ended ended; /* share that has ended by that time, if `open` is not empty */
} fates;

/* The counts of one site. */
typedef struct counts {
    tally all;
    tallies minor;
    fates soon, premature;
} counts;

/* What is asked, of which profile. */
typedef struct asking {
    const profile *profile;
    const lifetimes_spec *spec;
    estimate_chances chances;
} asking;

/* The weight of one block. */
typedef struct weighed {
    uint64_t samples;
    double chance;  /* to be tracked */
    double seconds; /* that the block lived, by MEASURE_BYTESECONDS; else negative */
} weighed;

/* Returns how long a block lived, or was seen, after a moment. */
static uint64_t age_since(const profile *p, size_t row, uint64_t since) {
    const uint64_t died = blocks_died(&p->table, row);
    const uint64_t end = died < p->duration ? died : p->duration;
    return end > since ? end - since : 0;
}

static uint64_t life_of(const profile *p, size_t row) {
    return age_since(p, row, blocks_born(&p->table, row));
}

static inline weighed weigh(const asking *a, size_t row) {
    const profile *p = a->profile;
    const bool held = a->spec->measure == MEASURE_BYTESECONDS;
    return (weighed){.samples = blocks_samples(&p->table, row),
                     .chance = estimate_chance(&a->chances, blocks_length(&p->table, row) + 1),
                     .seconds = held ? (double)life_of(p, row) / 1e6 : -1};
}

static void add_to_tally(tally *t, weighed w) {
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

static void fates_join(fates *f, const fates *others) {
    tallies_join(&f->known, &others->known);
    tally_join(&f->open, &others->open);
}

static void counts_join(counts *c, const counts *others) {
    tally_join(&c->all, &others->all);
    tallies_join(&c->minor, &others->minor);
    fates_join(&c->soon, &others->soon);
    fates_join(&c->premature, &others->premature);
}

static void count_if(tallies *t, weighed w, bool in) {
    add_to_tally(in ? &t->in : &t->out, w);
}

/* ---- blocks ------------------------------------------------------------------------------ */

static bool is_dead(const profile *p, size_t row) {
    return blocks_died(&p->table, row) != BLOCKS_NEVER;
}

/* Whether the block's future no longer matters. By MEASURE_BYTESECONDS it never does, because only
 * the time within the trace counts. */
static bool is_over(const asking *a, size_t row) {
    return is_dead(a->profile, row) || a->spec->measure == MEASURE_BYTESECONDS;
}

static void count_fate(fates *f, const asking *a, size_t row, weighed w, uint64_t since,
                       uint64_t limit) {
    const uint64_t age = age_since(a->profile, row, since);
    if (is_over(a, row))
        count_if(&f->known, w, age <= limit);
    else
        add_to_tally(age < limit ? &f->open : &f->known.out, w);
}

static void count_block(counts *c, const asking *a, size_t row, weighed w) {
    const block_table *b = &a->profile->table;
    bool promoted = blocks_was_promoted(b, row);
    add_to_tally(&c->all, w);
    count_fate(&c->soon, a, row, w, blocks_born(b, row), a->spec->within);
    if (b->source[row] == MEMTRACE_MINOR && (promoted || is_dead(a->profile, row)))
        count_if(&c->minor, w, !promoted);
    if (promoted)
        count_fate(&c->premature, a, row, w, blocks_promoted(b, row), a->spec->soon);
}

/* ---- lives ------------------------------------------------------------------------------- */

/* A block stands for its samples, which are as many as chance made of its words, or by
 * MEASURE_BLOCKS for the inverse of its chance to be tracked. */
static inline survival_lives survival_life_of(const asking *a, size_t row, uint64_t since) {
    const profile *p = a->profile;
    double rate = p->info.sample_rate, samples = (double)blocks_samples(&p->table, row);
    survival_lives life = {.time = age_since(p, row, since),
                           .ended = is_over(a, row),
                           .n = 1,
                           .weight = samples,
                           .variance = samples * (1 - rate)};
    if (a->spec->measure == MEASURE_BYTESECONDS) {
        const double seconds = (double)life.time / 1e6;
        life.weight *= seconds;
        life.variance *= seconds * seconds;
    } else if (a->spec->measure == MEASURE_BLOCKS) {
        double inclusion = estimate_chance(&a->chances, blocks_length(&p->table, row) + 1);
        life.weight = 1 / inclusion;
        life.variance = (1 - inclusion) / (inclusion * inclusion);
    }
    life.squares = life.weight * life.weight;
    return life;
}

/* Lives by length, in the order in which the lengths were first met. Many blocks have few distinct
 * lengths. */
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
    sum->squares += life.squares;
    sum->n++;
    return true;
}

/* ---- what becomes of blocks whose end was not seen ---------------------------------------- */

static fates *fates_of(counts *c, bool promoted) {
    return promoted ? &c->premature : &c->soon;
}

/* Returns a life that is cut at the limit. */
static survival_lives begin_of_life(const asking *a, size_t row, uint64_t since, uint64_t limit) {
    survival_lives life = survival_life_of(a, row, since);
    if (life.time > limit) {
        life.time = limit;
        life.ended = false;
    }
    return life;
}

/* Gathers the lives of all blocks in `of[n]`, and of those sites that have open fates. */
static bool gather_lives(const asking *a, const sites *places, counts *by_site, bool promoted,
                         lives *of) {
    const profile *p = a->profile;
    const size_t n = places->places.count;
    const uint64_t limit = promoted ? a->spec->soon : a->spec->within;
    bool ok = true;
    for (size_t i = 0; ok && i < p->table.count; i++) {
        const uint64_t since = promoted ? blocks_promoted(&p->table, i) : blocks_born(&p->table, i);
        const uint32_t site = places->of_row[i];
        if (site == SITES_NONE || since == BLOCKS_NEVER)
            continue;
        const survival_lives life = begin_of_life(a, i, since, limit);
        ok = lives_add(&of[n], life) &&
             (fates_of(&by_site[site], promoted)->open.samples == 0 || lives_add(&of[site], life));
    }
    return ok;
}

static bool find_ended(const asking *a, const sites *places, counts *by_site, bool promoted) {
    const size_t n = places->places.count;
    if (fates_of(&by_site[n], promoted)->open.samples == 0)
        return true;
    lives *of = calloc(n + 1, sizeof *of);
    bool ok = of && gather_lives(a, places, by_site, promoted, of);
    for (size_t i = 0; of && i <= n; i++) {
        fates *f = fates_of(&by_site[i], promoted);
        ok = ok && (f->open.samples == 0 ||
                    survival_find_ended(of[i].items.items, of[i].items.count, &f->ended));
        lives_free(&of[i]);
    }
    free(of);
    return ok;
}

/* ---- shares ------------------------------------------------------------------------------ */

/* Returns the amount of a tally, by MEASURE_BYTESECONDS. With no or few blocks, one word that was
 * held for the longest possible time bounds what was missed. */
static estimate held_by(const profile *p, const tally *t, double most) {
    const estimate_blocks *b = &t->blocks;
    return estimate_weighted(b->count, b->variance,
                             estimate_weight_possible(b->heaviest, b->tracked, most),
                             p->info.sample_rate);
}

/* With no blocks, the smallest possible block bounds how many were missed. */
static estimate share_of_blocks(const asking *a, estimate_blocks in, estimate_blocks out) {
    const double rate = a->profile->info.sample_rate;
    const uint64_t words = a->spec->may.least_words ? a->spec->may.least_words : 1;
    const double heaviest = 1 / estimate_inclusion(words, rate);
    in = estimate_blocks_possible(&in, a->spec->may.least_words, rate);
    out = estimate_blocks_possible(&out, a->spec->may.least_words, rate);
    in.heaviest = in.tracked ? in.heaviest : fmax(in.heaviest, heaviest);
    out.heaviest = out.tracked ? out.heaviest : fmax(out.heaviest, heaviest);
    return estimate_share(&in, &out);
}

/* Returns the share of `in` among both. Its blocks live for at most `most` microseconds; only
 * MEASURE_BYTESECONDS uses that. */
static lifetimes_share share_of(const asking *a, const tally *in, const tally *out, uint64_t most) {
    const profile *p = a->profile;
    uint64_t n = in->samples + out->samples;
    lifetimes_share s = {.samples = in->samples, .of_samples = n};
    if (n == 0) {
        s.share = (estimate){.value = 0, .low = 0, .high = 1};
        return s;
    }
    if (a->spec->measure == MEASURE_BYTESECONDS) {
        const double longest = cost_longest(p, a->spec->may);
        s.share = estimate_share_of(held_by(p, in, fmin((double)most / 1e6, longest)),
                                    held_by(p, out, longest));
        return s;
    }
    if (a->spec->measure != MEASURE_BLOCKS) {
        s.share = estimate_proportion(in->samples, n, p->info.sample_rate);
        return s;
    }
    s.share = share_of_blocks(a, in->blocks, out->blocks);
    return s;
}

/* Returns a number of blocks that is as uncertain as a share of so many units. */
static estimate_blocks blocks_like(const tally *seen, double number, double share, double units) {
    return (estimate_blocks){.count = number * share,
                             .variance = number * share * number / units,
                             .heaviest = fmax(seen->blocks.heaviest, number / units),
                             .tracked = seen->blocks.tracked};
}

static estimate share_ended(const asking *a, const fates *f) {
    const survival_ended *e = &f->ended;
    const double rate = a->profile->info.sample_rate;
    if (a->spec->measure != MEASURE_BLOCKS || rate >= 1)
        return estimate_proportion_of(e->share, e->size);
    const tally *in = &f->known.in;
    tally out = f->known.out;
    tally_join(&out, &f->open);
    const double number = in->blocks.count + out.blocks.count;
    const estimate_blocks within = blocks_like(in, number, e->share, e->size);
    const estimate_blocks without = blocks_like(&out, number, 1 - e->share, e->size);
    return share_of_blocks(a, within, without);
}

static double amount_of(const lifetimes_spec *spec, const tally *t) {
    return spec->measure == MEASURE_BLOCKS ? t->blocks.count : (double)t->samples;
}

/* At rate 1 all blocks are known, so the open ones limit the share. */
static void keep_known(const lifetimes_spec *spec, const fates *f, estimate *e) {
    const double in = amount_of(spec, &f->known.in), out = amount_of(spec, &f->known.out);
    const double all = in + out + amount_of(spec, &f->open);
    e->low = fmin(e->value, fmax(e->low, in / all));
    e->high = fmax(e->value, fmin(e->high, 1 - out / all));
}

/* Blocks that are still alive are as likely to die in time as others that reached the same age. */
static lifetimes_share share_of_fates(const asking *a, const fates *f, uint64_t most) {
    const tally *in = &f->known.in, *out = &f->known.out;
    lifetimes_share s = share_of(a, in, out, most);
    if (f->open.samples == 0 || s.of_samples == 0)
        return s;
    const estimate e = share_ended(a, f);
    s.share = e;
    if (e.value < 1)
        s.share.high = fmin(1, e.value + hypot(e.high - e.value, f->ended.hidden));
    else
        s.share.low = fmax(0, 1 - hypot(1 - e.low, f->ended.hidden));
    if (out->samples == 0) /* no block was seen for so long */
        s.share.high = 1;
    if (a->profile->info.sample_rate >= 1)
        keep_known(a->spec, f, &s.share);
    return s;
}

static lifetimes_part part_of(const asking *a, const counts *c) {
    const profile *p = a->profile;
    double word = p->info.word_size / 8.0;
    estimate words = a->spec->measure == MEASURE_BYTESECONDS
                         ? held_by(p, &c->all, cost_longest(p, a->spec->may))
                         : estimate_words(c->all.samples, p->info.sample_rate);
    lifetimes_part part = {
        .samples = c->all.samples,
        .blocks = c->all.blocks.tracked,
        .amount = estimate_times(words, word),
        .dead_soon = share_of_fates(a, &c->soon, a->spec->within),
        .dead_minor = share_of(a, &c->minor.in, &c->minor.out, p->duration),
        .premature = share_of_fates(a, &c->premature, p->duration),
    };
    if (a->spec->measure == MEASURE_BLOCKS)
        part.amount =
            estimate_blocks_number(&c->all.blocks, a->spec->may.least_words, p->info.sample_rate);
    return part;
}

/* ---- histogram --------------------------------------------------------------------------- */

/* Returns what is in `all` but not in `part`. */
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
    return decade + 1 < STATS_DECADES ? stats_decade_least((unsigned)decade + 1) : UINT64_MAX;
}

static void make_histogram(const asking *a, const counts *all, lifetimes *l) {
    const profile *p = a->profile;
    tally decades[STATS_DECADES] = {0}, alive = {0}, rest;
    for (size_t i = 0; i < p->table.count; i++)
        if (!a->spec->kept || a->spec->kept[i])
            add_to_tally(is_dead(p, i) ? &decades[stats_decade_of(life_of(p, i))] : &alive,
                         weigh(a, i));
    for (int i = 0; i < STATS_DECADES; i++) {
        rest = rest_of(&all->all, &decades[i]);
        l->decades[i] = share_of(a, &decades[i], &rest, most_of_decade(i));
    }
    rest = rest_of(&all->all, &alive);
    l->alive = share_of(a, &alive, &rest, p->duration);
}

/* ---- curve ------------------------------------------------------------------------------- */

static bool make_curve(const asking *a, lifetimes *l) {
    lives all = {.ended = {0}};
    bool ok = true;
    for (size_t i = 0; ok && i < a->profile->table.count; i++) {
        if (a->spec->kept && !a->spec->kept[i])
            continue;
        const survival_lives life = survival_life_of(a, i, blocks_born(&a->profile->table, i));
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

static bool count_sites(const lens *view, const asking *a, lifetimes *l) {
    const profile *p = a->profile;
    sites places;
    if (!sites_find(view, a->spec->kept, a->spec->by_function, &places))
        return false;
    size_t n = places.places.count;
    counts *by_site = calloc(n + 1, sizeof *by_site), *all = by_site + n;
    bool ok = by_site && vec_reserve(&l->sites, n);
    for (size_t i = 0; ok && i < p->table.count; i++)
        if (places.of_row[i] != SITES_NONE)
            count_block(&by_site[places.of_row[i]], a, i, weigh(a, i));
    for (size_t i = 0; ok && i < n; i++)
        counts_join(all, &by_site[i]);
    ok = ok && find_ended(a, &places, by_site, false) && find_ended(a, &places, by_site, true);
    for (size_t i = 0; ok && i < n; i++)
        l->sites.items[l->sites.count++] =
            (lifetimes_site){.place = places.places.items[i], .part = part_of(a, &by_site[i])};
    if (ok && n)
        qsort(l->sites.items, n, sizeof *l->sites.items, compare_sites);
    if (ok) {
        l->all = part_of(a, all);
        make_histogram(a, all, l);
    }
    free(by_site);
    sites_free(&places);
    return ok;
}

bool lifetimes_query(const lens *view, const lifetimes_spec *spec, lifetimes *l) {
    asking a = {.profile = view->profile, .spec = spec};
    *l = (lifetimes){0};
    estimate_chances_init(&a.chances, a.profile->info.sample_rate);
    const bool ok = count_sites(view, &a, l) && make_curve(&a, l);
    if (!ok)
        lifetimes_free(l);
    return ok;
}

void lifetimes_free(lifetimes *l) {
    vec_free(&l->sites);
    vec_free(&l->curve);
    *l = (lifetimes){0};
}
