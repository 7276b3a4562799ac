/* blocks_spread.c: time is cut into bins no shorter than what a clock stands still for. An event
 * has then happened in the bin of its time, or in the next. So at any moment of bin k, each domain
 * is somewhere between the end of its events of bin k - 2 and the end of those of bin k. The most
 * that may have been live is the sum of the highest that each domain reached there. And at the
 * moment of an allocation whose time is in bin k, what its own domain had made is certain, but for
 * deaths that the table has behind it only since they are of blocks born later in another domain;
 * and each other one had made no less than the lowest from the end of bin k - 2 to the end of bin k
 * + 1.
 *
 * First, coarse bins say where so much may have been live: only there events are looked at. */
#include "profile/blocks_spread.h"

#include <stdlib.h>
#include <string.h>

#include "profile/radix.h"
#include "profile/tick.h"

enum {
    MOST_COARSE = 1 << 16,
    MOST_FINE = 1 << 20,      /* in all; if there are more, bins are made longer */
    FINE_A_ROUND = 1 << 15,   /* unless a coarse bin has more */
    EVENTS_A_ROUND = 1 << 20, /* the same; and of a large table, the following share of its rows */
    MOST_ROUNDS = 32,
    CHUNK = 1024, /* rows whose times are known together */
    PLACE_BITS = 33,
};

/* A coarse bin is 2^shift fine ones. */
typedef struct coarse {
    uint64_t born, died; /* samples */
    uint64_t live;       /* when it begins, by the table's times */
    uint32_t events;
    bool wanted;
} coarse;

/* Rows that follow each other, and between which times they were born and died. */
typedef struct chunk {
    uint64_t first_born, last_born, first_died, last_died;
} chunk;

typedef struct moved {
    uint64_t time, samples;
    uint64_t order; /* the domain; below it twice the place, and 1 for a birth, which comes last */
    bool floats;    /* a death whose place is only known to be behind a birth in another domain */
} moved;

/* Of one domain, relative to the beginning of a round. */
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
    uint64_t width; /* of a fine bin, us */
    unsigned shift;
    coarse *bins;
    size_t n_bins;
    chunk *chunks;
    size_t first, last;        /* the coarse bins of a round, both included */
    VEC(moved) events, sorted; /* of a round; the same, or room for it */
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

static size_t coarse_at(const spreading *s, uint64_t time) {
    return (size_t)((time / s->width) >> s->shift);
}

static void choose_width(spreading *s) {
    const uint64_t tick = tick_of(s->table);
    s->width = tick ? tick : 1;
    while ((s->table->last / s->width) >> s->shift >= MOST_COARSE)
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
    bin->events++;
    c->first_born = earlier(c->first_born, born);
    c->last_born = later(c->last_born, born);
    if (died == BLOCKS_NEVER)
        return;
    bin = &s->bins[coarse_at(s, died)];
    bin->died += samples;
    bin->events++;
    c->first_died = earlier(c->first_died, died);
    c->last_died = later(c->last_died, died);
}

static bool make_coarse(spreading *s) {
    const size_t n = s->table->count;
    s->bins = calloc(s->n_bins + 1, sizeof *s->bins);
    s->chunks = malloc((n / CHUNK + 1) * sizeof *s->chunks);
    if (!s->bins || !s->chunks)
        return false;
    for (size_t i = 0; i < n; i++) {
        chunk *c = &s->chunks[i / CHUNK];
        if (i % CHUNK == 0)
            *c = (chunk){.first_born = UINT64_MAX, .first_died = UINT64_MAX};
        if (!s->kept || s->kept[i])
            add_row(s, c, i);
    }
    for (size_t i = 0; i < s->n_bins; i++)
        s->bins[i + 1].live = s->bins[i].live + s->bins[i].born - s->bins[i].died;
    return true;
}

/* What at most was live within a bin: what was when the one before begins, and all that is born. */
static uint64_t bound_of(const spreading *s, size_t i) {
    const coarse *c = &s->bins[i];
    return i ? c[-1].live + c[-1].born + c->born : c->born;
}

static size_t want(spreading *s, uint64_t samples) {
    size_t wanted = 0;
    for (size_t i = 0; i < s->n_bins; i++) {
        s->bins[i].wanted = bound_of(s, i) >= samples;
        wanted += s->bins[i].wanted;
    }
    return wanted;
}

/* Fine bins become longer, and so coarse ones shorter in fine ones. */
static void limit_fines(spreading *s, size_t wanted) {
    while (s->shift > 0 && wanted << s->shift > MOST_FINE) {
        s->width *= 2;
        s->shift--;
    }
}

/* ---- the events of a round --------------------------------------------------------------- */

static uint64_t begin_of(const spreading *s, size_t bin) {
    return ((uint64_t)bin << s->shift) * s->width;
}

/* The clock of the domain that frees a block may be behind that of the one that allocated it. */
static bool death_floats(const block_table *b, size_t row) {
    return blocks_ender(b, row) != b->domain[row] && b->after[row] == blocks_place(b, row) + 1;
}

static uint64_t order_of(uint16_t domain, uint32_t place, bool is_birth) {
    return (uint64_t)domain << PLACE_BITS | (uint64_t)place << 1 | is_birth;
}

static bool gather_row(spreading *s, size_t row, uint64_t from, uint64_t to) {
    const block_table *b = s->table;
    const uint64_t born = blocks_born(b, row), died = blocks_died(b, row);
    const moved birth = {.time = born,
                         .samples = blocks_samples(b, row),
                         .order = order_of(b->domain[row], blocks_place(b, row), true)};
    if (born - from < to - from && !vec_push(&s->events, birth))
        return false;
    return died - from >= to - from ||
           vec_push(&s->events, ((moved){.time = died,
                                         .samples = birth.samples,
                                         .order = order_of(blocks_ender(b, row), b->after[row], 0),
                                         .floats = death_floats(b, row)}));
}

static bool gather(spreading *s, uint64_t from, uint64_t to) {
    const size_t n = s->table->count;
    bool ok = true;
    s->events.count = 0;
    for (size_t i = 0; ok && i < n; i += CHUNK) {
        const chunk *c = &s->chunks[i / CHUNK];
        const bool any = (c->first_born < to && c->last_born >= from) ||
                         (c->first_died < to && c->last_died >= from);
        for (size_t row = i; ok && any && row < i + CHUNK && row < n; row++)
            ok = (s->kept && !s->kept[row]) || gather_row(s, row, from, to);
    }
    return ok;
}

static size_t digit_of(const void *event, unsigned shift) {
    return radix_digit(((const moved *)event)->order, shift);
}

static int compare_times(const void *a, const void *b) {
    const moved *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* By domain and order; those that died between the same allocations, by time. NULL: no memory. */
static const moved *sort_events(spreading *s) {
    const size_t n = s->events.count;
    if (!vec_reserve(&s->events, 1) || !vec_reserve(&s->sorted, n + 1))
        return NULL;
    moved *sorted =
        radix_sort(s->events.items, s->sorted.items, n, sizeof *sorted, PLACE_BITS + 16, digit_of);
    for (size_t i = 0, next; i < n; i = next) {
        bool in_order = true;
        for (next = i + 1; next < n && sorted[next].order == sorted[i].order; next++)
            in_order &= sorted[next].time >= sorted[next - 1].time;
        if (!in_order)
            qsort(sorted + i, next - i, sizeof *sorted, compare_times);
    }
    return sorted;
}

/* ---- one domain -------------------------------------------------------------------------- */

static uint16_t domain_of(const moved *event) {
    return (uint16_t)(event->order >> PLACE_BITS);
}

/* What a domain has made up to the moment: at most, and at least, if deaths that float came before.
 */
typedef struct made {
    int64_t most, least;
} made;

static size_t fine_at(const spreading *s, uint64_t time, uint64_t from) {
    return (size_t)((time - from) / s->width);
}

/* Follows the events of a domain. */
static made follow(spreading *s, const moved *events, size_t n, uint64_t from) {
    const uint64_t moment = order_of(domain_of(events), s->at.place, true);
    const size_t last = s->is_moment ? fine_at(s, s->at.time, from) + 1 : 0;
    int64_t level = 0, then = 0, floating = 0;
    size_t bin = 0;
    s->reaches[0] = (reach){.own = INT64_MIN};
    for (size_t i = 0; i < n; i++) {
        const size_t at = fine_at(s, events[i].time, from);
        while (bin < at)
            s->reaches[++bin] = (reach){.least = level, .most = level, .own = INT64_MIN};
        reach *r = &s->reaches[bin];
        const bool is_birth = events[i].order % 2;
        level += is_birth ? (int64_t)events[i].samples : -(int64_t)events[i].samples;
        r->floating += events[i].floats ? (int64_t)events[i].samples : 0;
        r->least = level < r->least ? level : r->least;
        r->most = level > r->most ? level : r->most;
        r->own = is_birth && level + r->floating > r->own ? level + r->floating : r->own;
        if (events[i].order <= moment)
            then = level;
        else if (events[i].floats && at <= last)
            floating += (int64_t)events[i].samples;
    }
    while (bin + 1 < s->n_fines)
        s->reaches[++bin] = (reach){.least = level, .most = level, .own = INT64_MIN};
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
static void add_at_moment(spreading *s, uint16_t domain, made then, uint64_t from) {
    const reach r = around(s, fine_at(s, s->at.time, from));
    const bool is_certain = s->at.place != BLOCKS_NOWHERE && domain == s->domain;
    s->low += is_certain ? then.least : r.least;
    s->high += is_certain ? then.most : r.most;
}

/* ---- rounds ------------------------------------------------------------------------------ */

static bool make_fines(spreading *s, size_t n) {
    s->n_fines = n;
    free(s->fines);
    free(s->reaches);
    s->fines = calloc(n, sizeof *s->fines);
    s->reaches = malloc(n * sizeof *s->reaches);
    for (size_t i = 0; s->fines && i < n; i++)
        s->fines[i].own = INT64_MIN;
    return s->fines && s->reaches;
}

static void sum_up(spreading *s, int64_t base) {
    for (size_t i = 0; i < s->n_fines; i++) {
        const fine *f = &s->fines[i];
        if (!s->bins[s->first + (i >> s->shift)].wanted)
            continue;
        s->high = higher(s->high, base + f->high);
        if (f->own != INT64_MIN)
            s->low = higher(s->low, base + f->low + f->own);
    }
}

/* Coarse bins, and what lies beside them. */
static bool run_round(spreading *s) {
    const uint64_t from = begin_of(s, s->first), to = begin_of(s, s->last + 1);
    const int64_t base = (int64_t)s->bins[s->first].live;
    if (!make_fines(s, (s->last + 1 - s->first) << s->shift) || !gather(s, from, to))
        return false;
    const moved *events = sort_events(s);
    const size_t n = s->events.count;
    if (!events)
        return false;
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && domain_of(&events[next]) == domain_of(&events[i]);)
            next++;
        const made then = follow(s, events + i, next - i, from);
        if (s->is_moment)
            add_at_moment(s, domain_of(&events[i]), then, from);
        else
            add_domain(s);
    }
    if (s->is_moment) {
        s->low += base;
        s->high += base;
    } else {
        sum_up(s, base);
    }
    return true;
}

/* The wanted bins from `at` on that fit into one round, with a bin before them and one behind. */
static size_t next_round(spreading *s, size_t at) {
    const size_t share = s->table->count / (MOST_ROUNDS / 2), least = EVENTS_A_ROUND;
    const size_t most = share > least ? share : least;
    size_t events = 0, end = at;
    while (end < s->n_bins && s->bins[end].wanted &&
           (end == at ||
            (events + s->bins[end].events <= most && (end - at) << s->shift < FINE_A_ROUND)))
        events += s->bins[end++].events;
    s->first = at ? at - 1 : 0;
    s->last = end < s->n_bins ? end : s->n_bins - 1;
    return end;
}

static bool run_rounds(spreading *s) {
    bool ok = true;
    for (size_t at = 0; ok && at < s->n_bins;) {
        if (!s->bins[at].wanted) {
            at++;
            continue;
        }
        at = next_round(s, at);
        ok = run_round(s);
    }
    return ok;
}

static void end_spreading(spreading *s) {
    free(s->bins);
    free(s->fines);
    free(s->reaches);
    free(s->chunks);
    vec_free(&s->events);
    vec_free(&s->sorted);
}

static blocks_spread spread_of(const spreading *s, uint64_t samples) {
    const int64_t value = (int64_t)samples;
    return (blocks_spread){.low = (uint64_t)higher(0, lower(s->low, value)),
                           .high = (uint64_t)higher(s->high, value)};
}

bool blocks_spread_of_most(const block_table *b, const uint8_t *kept, const blocks_most *most,
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
    bool ok = make_coarse(&s);
    if (ok) {
        const size_t bin = coarse_at(&s, at.time);
        s.first = bin ? bin - 1 : 0;
        s.last = bin + 1 < s.n_bins ? bin + 1 : bin;
        ok = run_round(&s);
    }
    if (ok)
        *spread = spread_of(&s, samples);
    end_spreading(&s);
    return ok;
}
