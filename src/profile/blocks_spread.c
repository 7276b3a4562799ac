/* blocks_spread.c: time is cut into bins no shorter than what a clock stands still for. An event
 * has then happened in the bin of its time, or in the next. So at any moment of bin k, each domain
 * is somewhere between the end of its events of bin k - 2 and the end of those of bin k. The most
 * that may have been live is the sum of the highest that each domain reached there. And at the
 * moment of an allocation whose time is in bin k, what its own domain had made is certain, but for
 * deaths that the table has behind it only since they are of blocks born later in another domain;
 * and each other one had made no less than the lowest from the end of bin k - 2 to the end of bin k
 * + 1.
 *
 * First, coarse bins say where so much may have been live: only events there, and in the bins
 * beside, are looked at, in stretches of bins that follow each other. */
#include "profile/blocks_spread.h"

#include <stdlib.h>
#include <string.h>

#include "profile/radix.h"
#include "profile/tick.h"

enum {
    LEAST_COARSE = 1 << 16,
    MOST_COARSE = 1 << 20,
    ROWS_A_BIN = 4,
    MOST_FINE = 1 << 20,      /* in all; if there are more, bins are made longer */
    FINE_A_ROUND = 1 << 15,   /* unless a coarse bin has more */
    EVENTS_A_ROUND = 1 << 18, /* the same; and of a large table, the following share of its rows */
    MOST_ROUNDS = 512,
    CHUNK = 1024, /* rows whose times are known together */
};

/* A coarse bin is 2^shift fine ones. */
typedef struct coarse {
    uint64_t born; /* samples */
    uint64_t live; /* when it begins, by the table's times */
    uint32_t events;
    bool wanted;
} coarse;

/* Wanted bins that follow each other, and one before and behind. */
typedef struct stretch {
    size_t first, last;    /* coarse bins, both included */
    size_t begin, end;     /* fine bins of the round */
    size_t wanted, behind; /* of these: the first that is wanted, and the one behind the last */
} stretch;

/* Rows that follow each other, and between which times they were born and died. */
typedef struct chunk {
    uint64_t first_born, last_born, first_died, last_died;
} chunk;

/* A birth or a death. */
typedef struct moved {
    uint64_t samples;
    uint32_t place;
    uint32_t fine, stretch;
    uint16_t domain;
    bool is_birth;
    bool floats; /* a death whose place is only known to be behind a birth in another domain */
} moved;

typedef VEC(moved) events;

/* Of one domain, relative to the beginning of a stretch. */
typedef struct reach {
    int64_t least, most; /* within the bin, and when it begins */
    int64_t own;         /* most after an allocation if no death of the bin floats, or INT64_MIN */
    int64_t floating;    /* what deaths that float take away within the bin */
} reach;

/* Sums over domains. */
typedef struct fine {
    int64_t high, low; /* as the head of this file has it for this bin */
    int64_t own;       /* most by which a domain's own is above its lowest */
} fine;

typedef struct spreading {
    const block_table *table;
    const uint8_t *kept;
    uint64_t tick;
    unsigned doubled; /* a fine bin is 2^doubled ticks */
    unsigned shift;
    coarse *bins;
    size_t n_bins;
    chunk *chunks;
    /* Of a round. */
    VEC(stretch) stretches;
    uint32_t *before;      /* by coarse bin between its ends, and for the one behind: fine ones
                              before it; a bin of the round is where they grow */
    uint32_t *stretch_of;  /* the same: the number of its stretch */
    size_t first, last;    /* the coarse bins of its ends, both included */
    uint64_t from, length; /* the time of these */
    events births, deaths, room;
    fine *fines;
    reach *reaches;
    size_t n_fines;
    /* Of a moment: nothing else is looked at. */
    bool is_moment;
    blocks_moment at;
    uint16_t domain;
    int64_t high, low;
} spreading;

/* ---- domains ----------------------------------------------------------------------------- */

bool blocks_are_of_several(const block_table *b) {
    if (b->is_ordered)
        return false;
    unsigned differs = b->elsewhere != NULL;
    for (size_t i = 1; b->domain && i < b->count; i++) /* else there was no need to read them */
        differs |= b->domain[i] ^ b->domain[0];
    return differs;
}

/* ---- coarse bins ------------------------------------------------------------------------- */

static uint64_t fine_of(const spreading *s, uint64_t time) {
    return (s->tick == 1 ? time : time / s->tick) >> s->doubled;
}

static size_t coarse_at(const spreading *s, uint64_t time) {
    return (size_t)(fine_of(s, time) >> s->shift);
}

static void choose_width(spreading *s) {
    const uint64_t tick = tick_of(s->table);
    size_t most = LEAST_COARSE;
    while (most < MOST_COARSE && most < s->table->count / ROWS_A_BIN)
        most *= 2;
    s->tick = tick ? tick : 1;
    while (fine_of(s, s->table->last) >> s->shift >= most)
        s->shift++;
    s->n_bins = coarse_at(s, s->table->last) + 1;
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void add_row(spreading *s, chunk *c, size_t row) {
    const block_table *b = s->table;
    const uint64_t samples = blocks_samples(b, row);
    const uint64_t born = blocks_born(b, row), died = blocks_died(b, row);
    coarse *bin = &s->bins[coarse_at(s, born)];
    bin->born += samples;
    bin[1].live += samples;
    bin->events++;
    c->first_born = earlier(c->first_born, born);
    c->last_born = later(c->last_born, born);
    if (died == BLOCKS_NEVER)
        return;
    bin = &s->bins[coarse_at(s, died)];
    bin[1].live -= samples;
    bin->events++;
    c->first_died = earlier(c->first_died, died);
    c->last_died = later(c->last_died, died);
}

static bool make_coarse(spreading *s) {
    const size_t n = s->table->count;
    s->bins = calloc(s->n_bins + 1, sizeof *s->bins);
    s->chunks = malloc((n / CHUNK + 1) * sizeof *s->chunks);
    s->before = malloc((s->n_bins + 1) * sizeof *s->before);
    s->stretch_of = malloc(s->n_bins * sizeof *s->stretch_of);
    if (!s->bins || !s->chunks || !s->before || !s->stretch_of)
        return false;
    for (size_t i = 0; i < n; i++) {
        chunk *c = &s->chunks[i / CHUNK];
        if (i % CHUNK == 0)
            *c = (chunk){.first_born = UINT64_MAX, .first_died = UINT64_MAX};
        if (!s->kept || s->kept[i])
            add_row(s, c, i);
    }
    for (size_t i = 0; i < s->n_bins; i++)
        s->bins[i + 1].live += s->bins[i].live;
    return true;
}

/* What at most was live within a bin: what was when the one before begins, and all that is born. */
static uint64_t bound_of(const spreading *s, size_t i) {
    const coarse *c = &s->bins[i];
    return i ? c[-1].live + c[-1].born + c->born : c->born;
}

/* A bin beside two stretches would be in both: they become one. */
static size_t want(spreading *s, uint64_t samples) {
    size_t wanted = 0, behind = 0; /* the last one wanted */
    for (size_t i = 0; i < s->n_bins; i++) {
        if (bound_of(s, i) < samples)
            continue;
        for (size_t j = behind; behind > 0 && i - behind < 2 && j < i; j++, wanted++)
            s->bins[j].wanted = true;
        s->bins[i].wanted = true;
        wanted++;
        behind = i + 1;
    }
    return wanted;
}

/* Fine bins become longer, and so coarse ones shorter in fine ones. */
static void limit_fines(spreading *s, size_t wanted) {
    while (s->shift > 0 && wanted << s->shift > MOST_FINE) {
        s->doubled++;
        s->shift--;
    }
}

/* ---- the events of a round --------------------------------------------------------------- */

static bool is_in_round(const spreading *s, size_t first, size_t last) {
    first = first > s->first ? first : s->first;
    last = last < s->last ? last : s->last;
    return first <= last && s->before[first] < s->before[last + 1];
}

/* The clock of the domain that frees a block may be behind that of the one that allocated it. */
static bool death_floats(const block_table *b, size_t row) {
    return blocks_ender(b, row) != b->domain[row] && b->after[row] == blocks_place(b, row) + 1;
}

static bool push_event(spreading *s, size_t row, uint64_t time, bool is_birth) {
    const block_table *b = s->table;
    const size_t bin = coarse_at(s, time);
    if (!is_in_round(s, bin, bin))
        return true;
    const uint32_t within = (uint32_t)fine_of(s, time) & ((1u << s->shift) - 1);
    return vec_push(is_birth ? &s->births : &s->deaths,
                    ((moved){.samples = blocks_samples(b, row),
                             .place = is_birth ? blocks_place(b, row) : b->after[row],
                             .fine = s->before[bin] + within,
                             .stretch = s->stretch_of[bin],
                             .domain = is_birth ? b->domain[row] : blocks_ender(b, row),
                             .is_birth = is_birth,
                             .floats = !is_birth && death_floats(b, row)}));
}

/* Most rows are not: this is without a division. */
static bool may_be_in_round(const spreading *s, uint64_t time) {
    return time - s->from < s->length;
}

static bool gather_row(spreading *s, size_t row) {
    const uint64_t born = blocks_born(s->table, row), died = blocks_died(s->table, row);
    return (!may_be_in_round(s, born) || push_event(s, row, born, true)) &&
           (died == BLOCKS_NEVER || !may_be_in_round(s, died) || push_event(s, row, died, false));
}

static void begin_gathering(spreading *s) {
    const uint64_t width = s->tick << (s->doubled + s->shift);
    s->from = s->first * width;
    if (__builtin_mul_overflow(s->last + 1 - s->first, width, &s->length))
        s->length = UINT64_MAX;
    s->births.count = s->deaths.count = 0;
}

static bool any_in_round(const spreading *s, uint64_t first, uint64_t last) {
    return first <= last && is_in_round(s, coarse_at(s, first), coarse_at(s, last));
}

static bool gather(spreading *s) {
    const size_t n = s->table->count;
    bool ok = true;
    begin_gathering(s);
    for (size_t i = 0; ok && i < n; i += CHUNK) {
        const chunk *c = &s->chunks[i / CHUNK];
        const bool any = any_in_round(s, c->first_born, c->last_born) ||
                         any_in_round(s, c->first_died, c->last_died);
        for (size_t row = i; ok && any && row < i + CHUNK && row < n; row++)
            ok = (s->kept && !s->kept[row]) || gather_row(s, row);
    }
    return ok;
}

static size_t digit_of_place(const void *event, unsigned shift) {
    return radix_digit(((const moved *)event)->place, shift);
}

static size_t digit_of_stretch(const void *event, unsigned shift) {
    return radix_digit(((const moved *)event)->stretch, shift);
}

static size_t digit_of_domain(const void *event, unsigned shift) {
    return radix_digit(((const moved *)event)->domain, shift);
}

static inline __attribute__((always_inline)) void sort_by(spreading *s, events *e, uint64_t most,
                                                          radix_digit_of *digit_of) {
    moved *sorted =
        radix_sort(e->items, s->room.items, e->count, sizeof *sorted, radix_bits(most), digit_of);
    if (sorted == e->items)
        return;
    const events other = s->room;
    s->room = (events){.items = e->items, .capacity = e->capacity};
    *e = (events){.items = sorted, .count = e->count, .capacity = other.capacity};
}

static int compare_fines(const void *a, const void *b) {
    const moved *x = a, *y = b;
    return (x->fine > y->fine) - (x->fine < y->fine);
}

static bool are_together(const moved *x, const moved *y) {
    return x->place == y->place && x->stretch == y->stretch && x->domain == y->domain;
}

/* Those that died between the same allocations, by time. */
static void sort_together(const events *deaths) {
    moved *e = deaths->items;
    for (size_t i = 0, next; i < deaths->count; i = next) {
        bool in_order = true;
        for (next = i + 1; next < deaths->count && are_together(&e[next], &e[i]); next++)
            in_order &= e[next].fine >= e[next - 1].fine;
        if (!in_order)
            qsort(e + i, next - i, sizeof *e, compare_fines);
    }
}

/* By domain, stretch and place. A domain's births are in this order already. False when there is no
 * memory. */
static bool sort_events(spreading *s) {
    const size_t births = s->births.count, deaths = s->deaths.count;
    if (!vec_reserve(&s->births, 1) || !vec_reserve(&s->deaths, 1) ||
        !vec_reserve(&s->room, (births > deaths ? births : deaths) + 1))
        return false;
    sort_by(s, &s->births, UINT16_MAX, digit_of_domain);
    if (!vec_reserve(&s->room, deaths + 1))
        return false;
    sort_by(s, &s->deaths, s->table->count, digit_of_place);
    sort_by(s, &s->deaths, s->stretches.count, digit_of_stretch);
    sort_by(s, &s->deaths, UINT16_MAX, digit_of_domain);
    sort_together(&s->deaths);
    return true;
}

/* ---- one domain -------------------------------------------------------------------------- */

/* What is left of the births and deaths of a domain, or of all. */
typedef struct cursor {
    const moved *births, *no_birth, *deaths, *no_death;
} cursor;

static const moved *end_of_domain(const moved *from, const moved *end, uint16_t domain) {
    while (from < end && from->domain == domain)
        from++;
    return from;
}

static cursor take_domain(cursor *all) {
    const bool has_birth = all->births < all->no_birth, has_death = all->deaths < all->no_death;
    const bool is_births = has_birth && (!has_death || all->births->domain <= all->deaths->domain);
    const uint16_t domain = is_births ? all->births->domain : all->deaths->domain;
    const cursor taken = {all->births, end_of_domain(all->births, all->no_birth, domain),
                          all->deaths, end_of_domain(all->deaths, all->no_death, domain)};
    all->births = taken.no_birth;
    all->deaths = taken.no_death;
    return taken;
}

/* What died behind the same allocations as the next one died before it. */
static const moved *next_event(cursor *c) {
    if (c->births == c->no_birth)
        return c->deaths == c->no_death ? NULL : c->deaths++;
    if (c->deaths == c->no_death || c->deaths->stretch > c->births->stretch ||
        (c->deaths->stretch == c->births->stretch && c->deaths->place > c->births->place))
        return c->births++;
    return c->deaths++;
}

/* What a domain has made up to the moment: at most, and at least, if deaths that float came before.
 */
typedef struct made {
    int64_t most, least;
} made;

static size_t fine_at(const spreading *s, uint64_t time) {
    const size_t bin = coarse_at(s, time);
    return s->before[bin] + (size_t)(fine_of(s, time) & ((1u << s->shift) - 1));
}

/* Nothing happens in fine bins up to this one. */
static void rest_until(spreading *s, size_t *bin, size_t end, int64_t level) {
    while (*bin < end)
        s->reaches[(*bin)++] = (reach){.least = level, .most = level, .own = INT64_MIN};
}

/* Follows the events of a domain. */
static made follow(spreading *s, cursor c) {
    const size_t last = s->is_moment ? fine_at(s, s->at.time) + 1 : 0;
    int64_t level = 0, then = 0, floating = 0;
    size_t known = 0; /* fine bins of which `reaches` has begun to tell */
    uint32_t in = 0;  /* the stretch */
    for (const moved *e; (e = next_event(&c));) {
        if (e->stretch != in) {
            rest_until(s, &known, s->stretches.items[in].end, level);
            in = e->stretch;
            level = 0;
        }
        rest_until(s, &known, (size_t)e->fine + 1, level);
        reach *r = &s->reaches[known - 1];
        level += e->is_birth ? (int64_t)e->samples : -(int64_t)e->samples;
        r->floating += e->floats ? (int64_t)e->samples : 0;
        r->least = level < r->least ? level : r->least;
        r->most = level > r->most ? level : r->most;
        r->own = e->is_birth && level + r->floating > r->own ? level + r->floating : r->own;
        if (e->place <= s->at.place)
            then = level;
        else if (e->floats && e->fine <= last)
            floating += (int64_t)e->samples;
    }
    rest_until(s, &known, s->stretches.items[in].end, level);
    rest_until(s, &known, s->n_fines, 0);
    return (made){.most = then, .least = then - floating};
}

static int64_t lower(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t higher(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* From the bin before to the one behind. */
static reach around(const spreading *s, size_t i) {
    reach r = s->reaches[i];
    int64_t floating = 0;
    for (size_t j = i ? i - 1 : 0; j <= i + 1 && j < s->n_fines; j++) {
        r.least = lower(r.least, s->reaches[j].least);
        r.most = higher(r.most, s->reaches[j].most);
        floating += s->reaches[j].floating;
    }
    r.least -= floating;
    return r;
}

static void add_domain(const spreading *s) {
    for (size_t i = 0; i < s->n_fines; i++) {
        const reach *r = &s->reaches[i];
        const int64_t least = around(s, i).least;
        s->fines[i].high += higher(r->most, i ? r[-1].most : 0);
        s->fines[i].low += least;
        const int64_t floating = r->floating + (i + 1 < s->n_fines ? r[1].floating : 0);
        if (r->own != INT64_MIN)
            s->fines[i].own = higher(s->fines[i].own, r->own - floating - least);
    }
}

/* Of the domain of the moment it is certain how much it had made; the end of a microsecond is no
 * domain's. */
static void add_at_moment(spreading *s, uint16_t domain, made then) {
    const reach r = around(s, fine_at(s, s->at.time));
    const bool is_certain = s->at.place != BLOCKS_NOWHERE && domain == s->domain;
    s->low += is_certain ? then.least : r.least;
    s->high += is_certain ? then.most : r.most;
}

/* ---- rounds ------------------------------------------------------------------------------ */

static bool make_fines(spreading *s) {
    s->n_fines = s->stretches.items[s->stretches.count - 1].end;
    free(s->fines);
    free(s->reaches);
    s->fines = calloc(s->n_fines, sizeof *s->fines);
    s->reaches = malloc(s->n_fines * sizeof *s->reaches);
    for (size_t i = 0; s->fines && i < s->n_fines; i++)
        s->fines[i].own = INT64_MIN;
    return s->fines && s->reaches;
}

static void sum_up(spreading *s, const stretch *x) {
    const int64_t base = (int64_t)s->bins[x->first].live;
    for (size_t i = x->wanted; i < x->behind; i++) {
        const fine *f = &s->fines[i];
        s->high = higher(s->high, base + f->high);
        if (f->own != INT64_MIN)
            s->low = higher(s->low, base + f->low + f->own);
    }
}

static void end_round(spreading *s) {
    for (size_t i = 0; !s->is_moment && i < s->stretches.count; i++)
        sum_up(s, &s->stretches.items[i]);
    if (s->is_moment) {
        s->low += (int64_t)s->bins[s->first].live;
        s->high += (int64_t)s->bins[s->first].live;
    }
}

static bool run_round(spreading *s) {
    if (!make_fines(s) || !gather(s) || !sort_events(s))
        return false;
    cursor all = {s->births.items, s->births.items + s->births.count, s->deaths.items,
                  s->deaths.items + s->deaths.count};
    while (all.births < all.no_birth || all.deaths < all.no_death) {
        const cursor domain = take_domain(&all);
        const uint16_t number =
            domain.births < domain.no_birth ? domain.births->domain : domain.deaths->domain;
        const made then = follow(s, domain);
        if (s->is_moment)
            add_at_moment(s, number, then);
        else
            add_domain(s);
    }
    end_round(s);
    return true;
}

/* Adds the coarse bins from `at` to `end`, this one not included. */
static bool add_stretch(spreading *s, size_t at, size_t end) {
    const size_t n = s->stretches.count;
    stretch x = {.first = at ? at - 1 : 0,
                 .last = end < s->n_bins ? end : s->n_bins - 1,
                 .begin = n ? s->stretches.items[n - 1].end : 0};
    x.end = x.begin + ((x.last + 1 - x.first) << s->shift);
    x.wanted = x.begin + ((at - x.first) << s->shift);
    x.behind = x.begin + ((end - x.first) << s->shift);
    s->first = n ? s->first : x.first;
    for (size_t i = n ? s->last + 1 : x.first; i < x.first; i++)
        s->before[i] = (uint32_t)x.begin;
    for (size_t i = x.first; i <= x.last; i++) {
        s->before[i] = (uint32_t)(x.begin + ((i - x.first) << s->shift));
        s->stretch_of[i] = (uint32_t)n;
    }
    s->before[x.last + 1] = (uint32_t)x.end;
    s->last = x.last;
    return vec_push(&s->stretches, x);
}

/* What fits into one round of the wanted bins from `at` on, which becomes the first that does not.
 */
static bool make_round(spreading *s, size_t *at) {
    const size_t share = s->table->count / (MOST_ROUNDS / 2), least = EVENTS_A_ROUND;
    const size_t most = share > least ? share : least;
    size_t n = 0, fines = 0, end = *at;
    bool ok = true, fits = true;
    s->stretches.count = 0;
    while (ok && fits) {
        while (end < s->n_bins && !s->bins[end].wanted)
            end++;
        *at = end;
        for (fines += 2u << s->shift; fits && end < s->n_bins && s->bins[end].wanted;) {
            n += s->bins[end].events;
            fines += 1u << s->shift;
            fits = (n <= most && fines <= FINE_A_ROUND) || (s->stretches.count == 0 && end == *at);
            end += fits;
        }
        fits = fits && end < s->n_bins;
        ok = end == *at || add_stretch(s, *at, end);
        *at = end;
    }
    return ok;
}

static bool run_rounds(spreading *s) {
    bool ok = true;
    for (size_t at = 0; ok && at < s->n_bins;) {
        ok = make_round(s, &at);
        if (ok && s->stretches.count > 0)
            ok = run_round(s);
    }
    return ok;
}

static void end_spreading(spreading *s) {
    free(s->bins);
    free(s->fines);
    free(s->reaches);
    free(s->chunks);
    free(s->before);
    free(s->stretch_of);
    vec_free(&s->stretches);
    vec_free(&s->births);
    vec_free(&s->deaths);
    vec_free(&s->room);
}

static blocks_spread spread_of(const spreading *s, uint64_t samples) {
    const int64_t value = (int64_t)samples;
    return (blocks_spread){.low = (uint64_t)higher(0, lower(s->low, value)),
                           .high = (uint64_t)higher(s->high, value)};
}

static bool find_spread(const block_table *b, const uint8_t *kept, const blocks_most *most,
                        blocks_spread *spread) {
    spreading s = {.table = b, .kept = kept};
    *spread = (blocks_spread){.low = most->samples, .high = most->samples};
    if (!blocks_are_of_several(b))
        return true;
    choose_width(&s);
    bool ok = make_coarse(&s);
    if (ok) {
        limit_fines(&s, want(&s, most->samples));
        ok = run_rounds(&s);
    }
    if (ok)
        *spread = spread_of(&s, most->samples);
    end_spreading(&s);
    return ok;
}

bool blocks_spread_of_most(const block_table *b, const uint8_t *kept, const blocks_most *most,
                           blocks_spread *spread) {
    blocks_peak_memo *memo = kept ? NULL : b->peak;
    if (memo && memo->spread_known) {
        *spread = (blocks_spread){.low = memo->low, .high = memo->high};
        return true;
    }
    if (!find_spread(b, kept, most, spread))
        return false;
    if (memo) {
        memo->low = spread->low;
        memo->high = spread->high;
        memo->spread_known = true;
    }
    return true;
}

bool blocks_spread_at(const block_table *b, const uint8_t *kept, blocks_moment at, uint64_t samples,
                      blocks_spread *spread) {
    spreading s = {.table = b, .kept = kept, .is_moment = true, .at = at};
    *spread = (blocks_spread){.low = samples, .high = samples};
    if (!blocks_are_of_several(b))
        return true;
    for (size_t i = 0; at.place != BLOCKS_NOWHERE && i < b->count; i++)
        if (blocks_place(b, i) == at.place)
            s.domain = b->domain[i];
    choose_width(&s);
    limit_fines(&s, 3);
    bool ok = make_coarse(&s);
    if (ok) {
        const size_t bin = coarse_at(&s, at.time);
        ok = add_stretch(&s, bin, bin + 1) && run_round(&s);
    }
    if (ok)
        *spread = spread_of(&s, samples);
    end_spreading(&s);
    return ok;
}
