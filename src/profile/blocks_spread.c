/* blocks_spread.c: bounds what was live, when the order of domains is known only by their clocks.
 *
 * Time is cut into fine bins, none shorter than a tick, the time for which a clock may stand still.
 * So an event that has its time in bin k happened in bin k or k + 1. At any moment of bin k, all
 * events of a domain up to bin k - 2 have happened, and none after bin k: its level is one of those
 * between the end of its bin k - 2 and the end of its bin k. This gives both ends:
 *
 * High: the sum over domains of the highest level that each reached in that range.
 *
 * Low: at an allocation with its time in bin k, the level of its own domain is certain. All other
 * domains had at least their lowest level from the end of bin k - 2 to the end of bin k + 1. One
 * kind of death makes the own level uncertain, too: a death that the table puts after a birth only
 * because the block was born in another domain, whose clock is ahead. Such a death floats: it may
 * have happened earlier.
 *
 * To save work, coarse bins first tell where as much as the known peak may have been live. Only the
 * events in these wanted bins and in their neighbors are gathered, as stretches of consecutive
 * bins, in rounds of a limited size. Births are stored by place, which is the order of time. Nearly
 * every death has the bin and the domain of the birth just before it and is added to that birth;
 * only the other deaths are sorted. */
#include "profile/blocks_spread.h"

#include <stdlib.h>
#include <string.h>

#include "base/inline.h"
#include "profile/radix.h"
#include "profile/tick.h"

enum {
    LEAST_COARSE = 1 << 16,
    MOST_COARSE = 1 << 20,
    ROWS_A_BIN = 4,
    MOST_FINE = 1 << 20,    /* in all; with more, bins are made longer */
    FINE_A_ROUND = 1 << 15, /* fine bins, unless one coarse bin has more */
    LOAD_A_ROUND = 3 << 17, /* births and deaths, unless one coarse bin has more; a large table has
                               a share of its rows instead, see make_round */
    MOST_ROUNDS = 512,
    CHUNK = 1024, /* rows whose range of times is kept */
    DOMAINS = UINT16_MAX + 1,
};

#define NO_BIRTH UINT32_MAX
#define NO_KEY   UINT32_MAX

/* A coarse bin: 2^shift fine bins. */
typedef struct coarse {
    uint64_t born;  /* samples */
    uint64_t live;  /* samples when the bin begins, by the times of the table */
    uint32_t place; /* of the first birth in this bin or a later one */
    uint32_t events;
    bool wanted;
} coarse;

/* Consecutive wanted bins, with one neighbor before and one after them. */
typedef struct stretch {
    size_t first, last;   /* coarse bins, both included */
    size_t begin, end;    /* fine bins of the round */
    size_t wanted, after; /* fine bins: the first wanted one, and the one after the last */
    uint32_t place;       /* of the stretch's first birth */
    uint32_t birth, n;    /* its number in the round, and the number of births */
} stretch;

/* A chunk of consecutive rows: the range of their births, and the range of the deaths of those rows
 * that are kept. */
typedef struct chunk {
    uint64_t first_born, last_born, first_died, last_died;
} chunk;

/* The birth of one row. */
typedef struct birth {
    uint64_t samples; /* 0: the row is not kept */
    uint32_t fine;
    uint32_t next; /* birth of the same domain; NO_BIRTH: none */
    uint16_t domain;
} birth;

/* The deaths between a birth and the next one that have the bin and the domain of that birth.
 * Deaths are added in random order, so these structs are small to stay in the cache. */
typedef struct ends {
    uint32_t key; /* the fine bin and the domain, see key_of */
    uint32_t died;
} ends;

/* A death whose bin or domain is not that of the birth just before it. */
typedef struct death {
    uint64_t samples;
    uint32_t place;
    uint32_t fine, stretch;
    uint16_t domain;
    bool floats; /* known only to come after the birth of its block, in another domain */
} death;

typedef VEC(death) deaths;

/* The events of one domain in a round. */
typedef struct share {
    bool is_met;
    uint32_t first, last;      /* numbers of births; NO_BIRTH: none */
    size_t deaths, deaths_end; /* range in the sorted deaths; the end is not included */
} share;

/* The level of one domain within a fine bin, in samples since the beginning of the stretch. */
typedef struct reach {
    int64_t least, most; /* including the level when the bin begins */
    int64_t own; /* highest after an allocation, if no floating death of the bin came before it;
                    INT64_MIN: no allocation */
    int64_t floating; /* samples of the bin's floating deaths */
} reach;

/* Sums over all domains for a fine bin. */
typedef struct fine {
    int64_t high, low; /* of the highest and of the lowest levels, see the head of this file */
    int64_t own; /* most by which a domain at one of its allocations is above its lowest level */
} fine;

typedef struct spreading {
    const block_table *table;
    const uint8_t *kept;
    uint64_t tick, inverse; /* µs; and 2^64 divided by the tick, rounded up */
    unsigned doubled;       /* a fine bin is 2^doubled ticks */
    unsigned shift;
    coarse *bins;
    size_t n_bins;
    chunk *chunks;
    /* The current round. */
    VEC(stretch) stretches;
    uint32_t *before; /* by coarse bin of the round, and one after the last: fine bins of the round
                         before it. It grows only at bins that are in the round */
    uint32_t *stretch_of;  /* by coarse bin of the round: the number of its stretch */
    size_t first, last;    /* coarse bins at its ends, both included */
    uint64_t from, length; /* µs: the time from the first to the last of these */
    birth *births;
    ends *ends; /* by birth */
    size_t n_births;
    deaths deaths, room;
    share *shares; /* by domain; valid for those in `met` */
    VEC(uint16_t) met;
    fine *fines;
    reach *reaches;
    size_t n_fines;
    /* Only one moment is asked for, in this domain unless it is the end of a microsecond. */
    bool is_moment;
    blocks_moment at;
    uint16_t domain;
    int64_t high, low;
} spreading;

/* ---- domains ----------------------------------------------------------------------------- */

bool blocks_are_of_several(const block_table *b) {
    if (b->is_ordered)
        return false;
    /* The column is missing where one domain made it needless. */
    unsigned differs = b->elsewhere != NULL;
    for (size_t i = 1; b->domain && i < b->count; i++)
        differs |= b->domain[i] ^ b->domain[0];
    return differs;
}

/* ---- coarse bins ------------------------------------------------------------------------- */

/* Multiplies by the inverse, which takes a fraction of the time of a division. */
static uint64_t ticks_of(const spreading *s, uint64_t time) {
    if (s->tick == 1)
        return time;
    if (time > UINT32_MAX)
        return time / s->tick;
    return (uint64_t)((__extension__(unsigned __int128) s->inverse * time) >> 64);
}

static uint64_t fine_of(const spreading *s, uint64_t time) {
    return ticks_of(s, time) >> s->doubled;
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
    s->inverse = UINT64_MAX / s->tick + 1;
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
    const uint64_t born = blocks_born(b, row);
    coarse *bin = &s->bins[coarse_at(s, born)];
    bin[1].place++;
    c->first_born = earlier(c->first_born, born);
    c->last_born = later(c->last_born, born);
    if (s->kept && !s->kept[row])
        return;
    const uint64_t samples = blocks_samples(b, row), died = blocks_died(b, row);
    bin->born += samples;
    bin[1].live += samples;
    bin->events++;
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
        add_row(s, c, i);
    }
    for (size_t i = 0; i < s->n_bins; i++) {
        s->bins[i + 1].live += s->bins[i].live;
        s->bins[i + 1].place += s->bins[i].place;
    }
    return true;
}

/* Returns the most that can have been live in a bin: what was live when the previous bin began, and
 * all that was born in both. */
static uint64_t bound_of(const spreading *s, size_t i) {
    const coarse *c = &s->bins[i];
    return i ? c[-1].live + c[-1].born + c->born : c->born;
}

/* Marks the bins in which `samples` may have been live, and returns their number. A single bin
 * between two stretches is marked, too: it would be a neighbor of both, so they become one. */
static size_t want(spreading *s, uint64_t samples) {
    size_t wanted = 0, after = 0; /* `after`: the bin after the last wanted one; 0: none yet */
    for (size_t i = 0; i < s->n_bins; i++) {
        if (bound_of(s, i) < samples)
            continue;
        for (size_t j = after; after > 0 && i - after < 2 && j < i; j++, wanted++)
            s->bins[j].wanted = true;
        s->bins[i].wanted = true;
        wanted++;
        after = i + 1;
    }
    return wanted;
}

/* Makes fine bins longer until there are at most MOST_FINE. Coarse bins keep their length, so each
 * has fewer fine ones. */
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

static bool any_in_round(const spreading *s, uint64_t first, uint64_t last) {
    return first <= last && is_in_round(s, coarse_at(s, first), coarse_at(s, last));
}

/* A fine bin of the round. */
typedef struct fine_bin {
    uint64_t from, length; /* µs */
    uint32_t fine, stretch;
} fine_bin;

/* Finds the fine bin of a time; false if it is not in the round, which the first test finds out for
 * most. */
static bool find_bin(const spreading *s, uint64_t time, fine_bin *found) {
    if (time - s->from >= s->length)
        return false;
    const size_t in = coarse_at(s, time);
    if (!is_in_round(s, in, in))
        return false;
    const uint64_t number = fine_of(s, time), length = s->tick << s->doubled;
    *found = (fine_bin){.from = number * length,
                        .length = length,
                        .fine = s->before[in] + ((uint32_t)number & ((1u << s->shift) - 1)),
                        .stretch = s->stretch_of[in]};
    return true;
}

/* Returns the number of the birth at a place; NO_BIRTH if the place is not in the stretch. */
static uint32_t birth_at(const spreading *s, uint32_t in, uint32_t place) {
    const stretch *x = &s->stretches.items[in];
    return place - x->place < x->n ? x->birth + (place - x->place) : NO_BIRTH;
}

/* Packs the fine bin `in` and a domain into one number. Bins from 65535 on have no key; only a
 * round of one very long coarse bin has so many. */
static uint32_t key_of(uint32_t in, uint16_t domain) {
    return in < NO_KEY >> 16 ? in << 16 | domain : NO_KEY;
}

/* Consecutive births are mostly in the same bin, so the last bin is tried first. */
static void gather_births(const spreading *s, size_t row, size_t end) {
    const block_table *b = s->table;
    fine_bin in = {0};
    for (; row < end; row++) {
        const uint64_t born = blocks_born(b, row);
        if (born - in.from >= in.length && !find_bin(s, born, &in))
            continue;
        const uint32_t at = birth_at(s, in.stretch, blocks_place(b, row));
        if (at == NO_BIRTH)
            continue;
        s->births[at] = (birth){.samples = !s->kept || s->kept[row] ? blocks_samples(b, row) : 0,
                                .fine = in.fine,
                                .domain = b->domain[row]};
        s->ends[at].key = key_of(in.fine, b->domain[row]);
    }
}

/* Whether the death is known only to come after its block's birth: the clock of the domain that
 * freed the block may be behind that of the domain that allocated it. */
static bool death_floats(const block_table *b, size_t row) {
    return blocks_freed_by(b, row) != b->domain[row] && b->after[row] == blocks_place(b, row) + 1;
}

static bool gather_death(spreading *s, size_t row, uint64_t died) {
    const block_table *b = s->table;
    fine_bin in;
    if (!find_bin(s, died, &in))
        return true;
    const uint64_t samples = blocks_samples(b, row);
    const uint16_t domain = blocks_freed_by(b, row);
    const uint32_t key = key_of(in.fine, domain);
    const uint32_t at = birth_at(s, in.stretch, b->after[row] - 1);
    ends *x = at != NO_BIRTH ? &s->ends[at] : NULL;
    if (x && x->key == key && key != NO_KEY && samples <= UINT32_MAX - x->died) {
        x->died += (uint32_t)samples;
        return true;
    }
    return vec_push(&s->deaths, ((death){.samples = samples,
                                         .place = b->after[row],
                                         .fine = in.fine,
                                         .stretch = in.stretch,
                                         .domain = domain,
                                         .floats = death_floats(b, row)}));
}

/* Which rows died in the round cannot be predicted, so they are selected without a branch. */
static bool gather_deaths(spreading *s, size_t row, size_t end) {
    const block_table *b = s->table;
    size_t of[CHUNK], n = 0;
    bool ok = true;
    for (; row < end; row++) {
        of[n] = row;
        n += (blocks_died(b, row) - s->from < s->length) & (!s->kept || s->kept[row]);
    }
    for (size_t i = 0; ok && i < n; i++)
        ok = gather_death(s, of[i], blocks_died(b, of[i]));
    return ok;
}

static size_t digit_of_place(const void *event, unsigned shift) {
    return radix_digit(((const death *)event)->place, shift);
}

static size_t digit_of_stretch(const void *event, unsigned shift) {
    return radix_digit(((const death *)event)->stretch, shift);
}

static size_t digit_of_domain(const void *event, unsigned shift) {
    return radix_digit(((const death *)event)->domain, shift);
}

static ALWAYS_INLINE void sort_by(spreading *s, uint64_t most, radix_digit_of *digit_of) {
    deaths *e = &s->deaths;
    death *sorted =
        radix_sort(e->items, s->room.items, e->count, sizeof *sorted, radix_bits(most), digit_of);
    if (sorted == e->items)
        return;
    const deaths other = s->room;
    s->room = (deaths){.items = e->items, .capacity = e->capacity};
    *e = (deaths){.items = sorted, .count = e->count, .capacity = other.capacity};
}

static int compare_fines(const void *a, const void *b) {
    const death *x = a, *y = b;
    return (x->fine > y->fine) - (x->fine < y->fine);
}

static bool are_together(const death *x, const death *y) {
    return x->place == y->place && x->stretch == y->stretch && x->domain == y->domain;
}

/* Sorts deaths of a domain between the same two births by time. */
static void sort_together(const deaths *all) {
    death *e = all->items;
    for (size_t i = 0, next; i < all->count; i = next) {
        bool in_order = true;
        for (next = i + 1; next < all->count && are_together(&e[next], &e[i]); next++)
            in_order &= e[next].fine >= e[next - 1].fine;
        if (!in_order)
            qsort(e + i, next - i, sizeof *e, compare_fines);
    }
}

/* Sorts by domain, stretch, place and time. False when there is no memory. */
static bool sort_deaths(spreading *s) {
    if (!vec_reserve(&s->deaths, 1) || !vec_reserve(&s->room, s->deaths.count + 1))
        return false;
    sort_by(s, s->table->count, digit_of_place);
    sort_by(s, s->stretches.count, digit_of_stretch);
    sort_by(s, UINT16_MAX, digit_of_domain);
    sort_together(&s->deaths);
    return true;
}

static share *share_of(spreading *s, uint16_t domain) {
    share *x = &s->shares[domain];
    if (!x->is_met) {
        *x = (share){.is_met = true, .first = NO_BIRTH, .last = NO_BIRTH};
        s->met.items[s->met.count++] = domain;
    }
    return x;
}

/* Gives each domain its births and deaths. */
static void share_out(spreading *s) {
    s->met.count = 0;
    for (uint32_t i = 0; i < s->n_births; i++) {
        share *x = share_of(s, s->births[i].domain);
        s->births[i].next = NO_BIRTH;
        *(x->first == NO_BIRTH ? &x->first : &s->births[x->last].next) = i;
        x->last = i;
    }
    for (size_t i = 0; i < s->deaths.count; i++) {
        share *x = share_of(s, s->deaths.items[i].domain);
        x->deaths = x->deaths_end ? x->deaths : i;
        x->deaths_end = i + 1;
    }
}

static bool make_births(spreading *s) {
    const stretch *last = &s->stretches.items[s->stretches.count - 1];
    s->n_births = last->birth + last->n;
    free(s->births);
    free(s->ends);
    s->births = calloc(s->n_births + 1, sizeof *s->births);
    s->ends = calloc(s->n_births + 1, sizeof *s->ends);
    return s->births && s->ends && vec_reserve(&s->met, DOMAINS) &&
           (s->shares || (s->shares = calloc(DOMAINS, sizeof *s->shares)));
}

static bool gather(spreading *s) {
    const size_t n = s->table->count;
    const uint64_t width = s->tick << (s->doubled + s->shift);
    s->from = s->first * width;
    if (__builtin_mul_overflow(s->last + 1 - s->first, width, &s->length))
        s->length = UINT64_MAX;
    s->deaths.count = 0;
    bool ok = make_births(s);
    for (int pass = 0; ok && pass < 2; pass++)
        for (size_t i = 0; ok && i < n; i += CHUNK) {
            const chunk *c = &s->chunks[i / CHUNK];
            const size_t end = n - i > CHUNK ? i + CHUNK : n;
            if (pass == 0 && any_in_round(s, c->first_born, c->last_born))
                gather_births(s, i, end);
            else if (pass == 1 && any_in_round(s, c->first_died, c->last_died))
                ok = gather_deaths(s, i, end);
        }
    ok = ok && sort_deaths(s);
    if (ok)
        share_out(s);
    return ok;
}

/* ---- one domain -------------------------------------------------------------------------- */

/* Bounds of the samples that a domain had added by the moment, less those that it had freed. The
 * lower one assumes that all floating deaths came before the moment. */
typedef struct moment_bounds {
    int64_t most, least;
} moment_bounds;

static size_t fine_at(const spreading *s, uint64_t time) {
    const size_t in = coarse_at(s, time);
    return s->before[in] + (size_t)(fine_of(s, time) & ((1u << s->shift) - 1));
}

/* Follows the events of one domain and fills `reaches`. */
typedef struct following {
    const spreading *s;
    const stretch *in;
    size_t known; /* fine bins begun in `reaches` */
    size_t last;  /* last bin whose floating deaths may have come before the moment */
    /* Samples: at present, at the moment, and of those floating deaths. */
    int64_t level, at_moment, floating;
} following;

/* Keeps the level for all fine bins before `end`, in which nothing more happens. */
static void rest_until(following *f, size_t end) {
    for (; f->known < end; f->known++)
        f->s->reaches[f->known] = (reach){.least = f->level, .most = f->level, .own = INT64_MIN};
}

static reach *go_to(following *f, uint32_t to) {
    for (; to >= f->in->end; f->in++) {
        rest_until(f, f->in->end);
        f->level = 0;
    }
    rest_until(f, (size_t)to + 1);
    return &f->s->reaches[f->known - 1];
}

static void be_born(following *f, const birth *b, uint32_t died, uint32_t place) {
    reach *r = go_to(f, b->fine);
    const bool is_before = place <= f->s->at.place, are_before = place < f->s->at.place;
    f->level += (int64_t)b->samples;
    r->most = f->level > r->most ? f->level : r->most;
    if (b->samples && f->level + r->floating > r->own)
        r->own = f->level + r->floating;
    f->at_moment = is_before ? f->level : f->at_moment;
    f->level -= died;
    r->least = f->level < r->least ? f->level : r->least;
    f->at_moment = are_before ? f->level : f->at_moment;
}

static void die(following *f, const death *d) {
    reach *r = go_to(f, d->fine);
    const int64_t samples = (int64_t)d->samples;
    f->level -= samples;
    r->floating += d->floats ? samples : 0;
    r->least = f->level < r->least ? f->level : r->least;
    if (d->place <= f->s->at.place)
        f->at_moment = f->level;
    else if (d->floats && d->fine <= f->last)
        f->floating += samples;
}

static uint32_t place_of(const stretch *in, uint32_t number) {
    return in->place + (number - in->birth);
}

/* A death with the place of a birth happened before that birth. */
static moment_bounds follow(const spreading *s, const share *of) {
    following f = {.s = s, .in = s->stretches.items};
    f.last = s->is_moment ? fine_at(s, s->at.time) + 1 : 0;
    const death *d = s->deaths.items + of->deaths, *end = s->deaths.items + of->deaths_end;
    const stretch *in = f.in; /* of the birth */
    for (uint32_t i = of->first; i != NO_BIRTH; i = s->births[i].next) {
        while (i - in->birth >= in->n)
            in++;
        const uint32_t number = (uint32_t)(in - s->stretches.items), place = place_of(in, i);
        for (; d < end && (d->stretch < number || (d->stretch == number && d->place <= place)); d++)
            die(&f, d);
        be_born(&f, &s->births[i], s->ends[i].died, place);
    }
    for (; d < end; d++)
        die(&f, d);
    rest_until(&f, f.in->end);
    f.level = 0;
    rest_until(&f, s->n_fines);
    return (moment_bounds){.most = f.at_moment, .least = f.at_moment - f.floating};
}

static int64_t lower(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t higher(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Joins the bin with those before and after it, and takes all their floating deaths off `least`. */
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

/* At its own allocation, the level of the moment's domain is certain. The end of a microsecond
 * belongs to no domain. */
static void add_at_moment(spreading *s, uint16_t domain, moment_bounds bounds) {
    const reach r = around(s, fine_at(s, s->at.time));
    const bool is_certain = s->at.place != BLOCKS_NOWHERE && domain == s->domain;
    s->low += is_certain ? bounds.least : r.least;
    s->high += is_certain ? bounds.most : r.most;
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
    for (size_t i = x->wanted; i < x->after; i++) {
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
    if (!make_fines(s) || !gather(s))
        return false;
    for (size_t i = 0; i < s->met.count; i++) {
        const uint16_t domain = s->met.items[i];
        const moment_bounds bounds = follow(s, &s->shares[domain]);
        if (s->is_moment)
            add_at_moment(s, domain, bounds);
        else
            add_domain(s);
        s->shares[domain].is_met = false;
    }
    end_round(s);
    return true;
}

/* Adds the coarse bins from `at` to `end`, not included. */
static bool add_stretch(spreading *s, size_t at, size_t end) {
    const size_t n = s->stretches.count;
    stretch x = {.first = at ? at - 1 : 0,
                 .last = end < s->n_bins ? end : s->n_bins - 1,
                 .begin = n ? s->stretches.items[n - 1].end : 0,
                 .birth = n ? s->stretches.items[n - 1].birth + s->stretches.items[n - 1].n : 0};
    x.place = s->bins[x.first].place;
    x.n = s->bins[x.last + 1].place - x.place;
    x.end = x.begin + ((x.last + 1 - x.first) << s->shift);
    x.wanted = x.begin + ((at - x.first) << s->shift);
    x.after = x.begin + ((end - x.first) << s->shift);
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

/* Collects the wanted bins from `*at` on that fit into one round, and sets `*at` to the first that
 * does not fit. */
static bool make_round(spreading *s, size_t *at) {
    const size_t part = s->table->count / (MOST_ROUNDS / 3), least = LOAD_A_ROUND;
    const size_t most = part > least ? part : least;
    size_t n = 0, fines = 0, end = *at;
    bool ok = true, fits = true;
    s->stretches.count = 0;
    while (ok && fits) {
        while (end < s->n_bins && !s->bins[end].wanted)
            end++;
        *at = end;
        for (fines += 2u << s->shift; fits && end < s->n_bins && s->bins[end].wanted;) {
            n += s->bins[end].events + s->bins[end + 1].place - s->bins[end].place;
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
    free(s->births);
    free(s->ends);
    free(s->shares);
    vec_free(&s->met);
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
