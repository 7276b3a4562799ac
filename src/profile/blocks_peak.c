/* blocks_peak.c: finds the moment at which most was live (blocks_peak of blocks.h).
 *
 * The places of allocations are cut into bins. The level at the beginning of a bin follows from the
 * births and deaths before it. Within the bin it can rise at most by all that is born there, as if
 * nothing died. With this upper bound, and the levels at the ends of bins as a lower bound of the
 * peak, most bins are ruled out. The candidates that remain are cut into finer bins, until a bin is
 * one place. A death between two allocations counts in the bin of the second one, before it. Each
 * step passes over the table once. */
#include <stdlib.h>

#include "base/inline.h"
#include "profile/blocks.h"
#include "profile/parallel.h"

enum {
    FEWEST_BINS = 1 << 14,
    FIRST_BINS = 1 << 17, /* at most, so that the counts of all rows stay in the cache */
    MOST_BINS = 1 << 22,  /* of a later step, unless the candidates alone need more */
    ROWS_A_BIN = 8,
    STRIDE = 64,    /* rows that are skipped or counted together */
    LEAST_BITS = 2, /* a step is finer by at least so many bits of the place */
    MOST_STEPS = 64 / LEAST_BITS + 1,
};

#define NO_BIN UINT32_MAX

/* A division of the places into bins. Those of the first step cover all places; later, each
 * candidate of the step before is cut into 2^bits bins. */
typedef struct step {
    unsigned width; /* a bin is 2^width places */
    unsigned bits;
    size_t n;       /* bins; one more counts what lives until the end */
    uint32_t *next; /* by bin: its number among the candidates, or NO_BIN */
} step;

/* The places of a bin. */
typedef struct stretch {
    uint64_t begin, live; /* its first place; the samples live before it */
} stretch;

typedef VEC(stretch) stretches;

/* A part of the rows, counted by one thread. */
typedef struct peak_part {
    size_t begin, end;
    /* Samples by bin; join_parts adds all to those of the first part. The bins of deaths are in
     * random order, so their counts have 32 bits to stay in the cache, and what exceeds them is in
     * `carried`. */
    uint64_t *born;
    uint32_t *died, *carried;
} peak_part;

typedef struct peak_search {
    const block_table *table;
    const uint8_t *kept; /* NULL: all */
    step steps[MOST_STEPS];
    size_t n_steps;
    uint32_t *before; /* by bin of the first step, and one after the last: candidates before it */
    peak_part parts[PARALLEL_MAX];
    size_t n_parts;
    stretches candidates;    /* found by the step before */
    uint64_t least;          /* samples that were live at some moment, so the peak is no lower */
    uint64_t place, samples; /* the peak; valid after the last step */
} peak_search;

static const step *last_step(const peak_search *s) {
    return &s->steps[s->n_steps - 1];
}

/* ---- counting ---------------------------------------------------------------------------- */

static inline size_t first_bin(const step *first, uint32_t place) {
    const size_t bin = place >> first->width;
    return bin < first->n ? bin : first->n;
}

/* Returns the bin of the last step that holds the place, given its candidate of the first step;
 * NO_BIN if it is in no candidate. */
static inline uint32_t later_bin(const peak_search *s, uint32_t candidate, uint32_t place) {
    for (size_t i = 1; candidate != NO_BIN; i++) {
        const step *x = &s->steps[i];
        const uint32_t within = (place >> x->width) & ((1u << x->bits) - 1);
        const uint32_t bin = candidate << x->bits | within;
        if (i + 1 == s->n_steps)
            return bin;
        candidate = x->next[bin];
    }
    return NO_BIN;
}

static inline void add_death(const peak_part *p, size_t bin, uint64_t samples) {
    const uint64_t sum = samples + p->died[bin];
    p->died[bin] = (uint32_t)sum;
    if (__builtin_expect(sum > UINT32_MAX, 0))
        p->carried[bin] += (uint32_t)(sum >> 32);
}

/* Rows are mostly sorted by birth, so the births of a bin are summed up in a variable. */
static ALWAYS_INLINE void count_first(const peak_search *s, const peak_part *p,
                                      const uint8_t *kept) {
    const block_table *b = s->table;
    const step x = s->steps[0];
    size_t current = 0;
    uint64_t sum = 0;
    for (size_t i = p->begin; i < p->end; i++) {
        if (kept && !kept[i])
            continue;
        const uint64_t samples = blocks_samples(b, i);
        const size_t bin = blocks_place(b, i) >> x.width;
        if (bin != current) {
            p->born[current] += sum;
            current = bin;
            sum = 0;
        }
        sum += samples;
        add_death(p, first_bin(&x, b->after[i]), samples);
    }
    p->born[current] += sum;
}

static inline void count_later_row(const peak_search *s, const peak_part *p, size_t row) {
    const block_table *b = s->table;
    const step *x = &s->steps[0];
    const uint32_t born = blocks_place(b, row), died = b->after[row];
    size_t bin = born >> x->width;
    if (s->kept && !s->kept[row])
        return;
    if ((bin = later_bin(s, x->next[bin], born)) != NO_BIN)
        p->born[bin] += blocks_samples(b, row);
    bin = first_bin(x, died);
    if ((bin = later_bin(s, x->next[bin], died)) != NO_BIN)
        add_death(p, bin, blocks_samples(b, row));
}

/* Whether the first step has a candidate between these places, both included. */
static inline bool any_between(const peak_search *s, uint32_t first, uint32_t last) {
    const step *x = &s->steps[0];
    return first <= last && s->before[first_bin(x, first)] < s->before[first_bin(x, last) + 1];
}

/* Whether one of STRIDE rows may be born in a candidate. Rows are mostly sorted by birth. */
static inline bool any_born(const peak_search *s, size_t at) {
    const uint32_t *place = s->table->place ? s->table->place + at : NULL;
    uint32_t first = UINT32_MAX, last = 0;
    if (!place)
        return any_between(s, (uint32_t)at, (uint32_t)at + STRIDE - 1);
    for (size_t i = 0; i < STRIDE; i++) {
        first = place[i] < first ? place[i] : first;
        last = place[i] > last ? place[i] : last;
    }
    return any_between(s, first, last);
}

/* Whether one of STRIDE rows may die in a candidate. Their deaths are mostly close to each
 * other. */
static inline bool any_died(const peak_search *s, size_t at) {
    const uint32_t *deaths = s->table->after + at;
    uint32_t first = UINT32_MAX, end = 0;
    for (size_t i = 0; i < STRIDE; i++) {
        const uint32_t next = deaths[i] + 1; /* 0: lives until the end */
        first = deaths[i] < first ? deaths[i] : first;
        end = next > end ? next : end;
    }
    return end > 0 && any_between(s, first, end - 1);
}

/* Most rows are born and die outside the candidates, and such rows are mostly neighbors. */
static void count_later(const peak_search *s, const peak_part *p) {
    size_t i = p->begin;
    for (; p->end - i >= STRIDE; i += STRIDE)
        if (any_born(s, i) || any_died(s, i))
            for (size_t j = 0; j < STRIDE; j++)
                count_later_row(s, p, i + j);
    for (; i < p->end; i++)
        count_later_row(s, p, i);
}

static void count_part(void *context, size_t part) {
    const peak_search *s = context;
    const peak_part *p = &s->parts[part];
    if (s->n_steps > 1)
        count_later(s, p);
    else if (s->kept)
        count_first(s, p, s->kept);
    else
        count_first(s, p, NULL);
}

static void join_parts(const peak_search *s) {
    const peak_part *all = &s->parts[0];
    for (size_t part = 1; part < s->n_parts; part++)
        for (size_t i = 0; i < last_step(s)->n; i++) {
            all->born[i] += s->parts[part].born[i];
            add_death(all, i, s->parts[part].died[i]);
            all->carried[i] += s->parts[part].carried[i];
        }
}

static void free_counts(peak_search *s) {
    for (size_t part = 0; part < s->n_parts; part++) {
        free(s->parts[part].born);
        free(s->parts[part].died);
        free(s->parts[part].carried);
        s->parts[part] = (peak_part){0};
    }
}

/* Each thread has counts of its own, so very many bins are counted by one thread. */
static bool count(peak_search *s) {
    const size_t rows = s->table->count, n = last_step(s)->n;
    bool ok = true;
    s->n_parts = n > MOST_BINS ? 1 : parallel_parts(rows);
    for (size_t part = 0; part < s->n_parts; part++) {
        peak_part *p = &s->parts[part];
        *p = (peak_part){.begin = parallel_begin(rows, s->n_parts, part),
                         .end = parallel_begin(rows, s->n_parts, part + 1),
                         .born = calloc(n + 1, sizeof *p->born),
                         .died = calloc(n + 1, sizeof *p->died),
                         .carried = calloc(n + 1, sizeof *p->carried)};
        ok &= p->born && p->died && p->carried;
    }
    if (ok) {
        parallel_run(s->n_parts, count_part, s);
        join_parts(s);
    }
    return ok;
}

/* ---- from step to step ------------------------------------------------------------------- */

/* Makes so many bins that few blocks are born in each. All places together are the only
 * candidate. */
static bool begin_search(peak_search *s) {
    const block_table *b = s->table;
    step *x = &s->steps[0];
    size_t most = FEWEST_BINS;
    while (most < FIRST_BINS && most < b->count / ROWS_A_BIN)
        most *= 2;
    while (b->count >> x->width >= most)
        x->width++;
    x->n = (b->count >> x->width) + 1;
    s->n_steps = 1;
    return vec_push(&s->candidates, ((stretch){0}));
}

static uint64_t change_in(const peak_search *s, size_t bin) {
    const peak_part *all = &s->parts[0];
    return all->born[bin] - all->died[bin] - ((uint64_t)all->carried[bin] << 32);
}

/* The level at the end of a bin was live at some moment. */
static void sum_up(peak_search *s) {
    const step *x = last_step(s);
    const size_t each = x->n / s->candidates.count;
    for (size_t bin = 0; bin < x->n; bin += each) {
        const stretch *c = &s->candidates.items[bin / each];
        uint64_t live = c->live;
        for (size_t i = 0; i < each; i++) {
            live += change_in(s, bin + i);
            s->least = live > s->least ? live : s->least;
            if (x->width == 0 && live > s->samples) {
                s->samples = live;
                s->place = c->begin + i;
            }
        }
    }
}

static bool mark_first(peak_search *s) {
    const step *x = last_step(s);
    s->before = malloc((x->n + 2) * sizeof *s->before);
    uint32_t n = 0;
    for (size_t bin = 0; s->before && bin <= x->n + 1; bin++) {
        s->before[bin] = n;
        n += bin < x->n && x->next[bin] != NO_BIN;
    }
    return s->before;
}

/* Numbers the bins of a candidate that the peak may be in. The peak follows a birth, so a bin
 * without one is ruled out. */
static bool cut(const peak_search *s, size_t candidate, size_t n, stretches *found) {
    const step *x = last_step(s);
    const stretch *c = &s->candidates.items[candidate];
    uint64_t live = c->live;
    for (size_t i = 0; i < n; i++) {
        const size_t bin = candidate * n + i;
        const uint64_t born = s->parts[0].born[bin], before = live;
        live += change_in(s, bin);
        x->next[bin] = NO_BIN;
        if (born == 0 || before + born < s->least)
            continue;
        x->next[bin] = (uint32_t)found->count;
        if (!vec_push(found, ((stretch){c->begin + ((uint64_t)i << x->width), before})))
            return false;
    }
    return true;
}

static bool find_candidates(peak_search *s) {
    step *x = &s->steps[s->n_steps - 1];
    const size_t n = s->candidates.count;
    stretches found = {0};
    bool ok = (x->next = malloc((x->n + 1) * sizeof *x->next));
    for (size_t i = 0; ok && i < n; i++)
        ok = cut(s, i, x->n / n, &found);
    vec_free(&s->candidates);
    s->candidates = found;
    if (ok)
        x->next[x->n] = NO_BIN;
    return ok && (s->n_steps > 1 || mark_first(s));
}

/* Begins a step with bins as fine as there is room for; false when there would be too many. */
static bool refine(peak_search *s) {
    const size_t rows = s->table->count, n = s->candidates.count;
    const unsigned width = last_step(s)->width;
    size_t most = FEWEST_BINS;
    unsigned bits = width < LEAST_BITS ? width : LEAST_BITS;
    while (most < MOST_BINS && most < rows / ROWS_A_BIN)
        most *= 2;
    while (bits < width && n << bits < most)
        bits++;
    s->steps[s->n_steps++] = (step){.width = width - bits, .bits = bits, .n = n << bits};
    return n < NO_BIN >> bits;
}

static void end_search(peak_search *s) {
    for (size_t i = 0; i < s->n_steps; i++)
        free(s->steps[i].next);
    free(s->before);
    free_counts(s);
    vec_free(&s->candidates);
}

static blocks_moment moment_of(const block_table *b, uint32_t place) {
    size_t row = place;
    for (size_t i = 0; b->place && i < b->count; i++)
        row = b->place[i] == place ? i : row;
    return b->count > 0 ? (blocks_moment){.time = blocks_born(b, row), .place = place}
                        : blocks_end_of(0);
}

static bool find_peak(const block_table *b, const uint8_t *kept, blocks_most *most) {
    peak_search s = {.table = b, .kept = kept};
    bool ok = begin_search(&s), more = true;
    while (ok && more) {
        ok = count(&s);
        if (ok)
            sum_up(&s);
        more = ok && last_step(&s)->width > 0;
        if (more)
            ok = find_candidates(&s);
        more = more && s.candidates.count > 0;
        free_counts(&s);
        if (ok && more)
            ok = refine(&s);
    }
    *most = (blocks_most){.at = s.samples ? moment_of(b, (uint32_t)s.place) : blocks_end_of(0),
                          .samples = s.samples};
    end_search(&s);
    return ok;
}

void blocks_remember_peak(block_table *b, const blocks_most *most) {
    free(b->peak);
    b->peak = calloc(1, sizeof *b->peak);
    if (b->peak && most)
        *b->peak = (blocks_peak_memo){.time = most->at.time,
                                      .place = most->at.place,
                                      .samples = most->samples,
                                      .known = true};
}

bool blocks_peak(const block_table *b, blocks_most *most) {
    blocks_peak_memo *memo = b->peak;
    if (memo && memo->known) {
        *most = (blocks_most){.at = {.time = memo->time, .place = memo->place},
                              .samples = memo->samples};
        return true;
    }
    if (!find_peak(b, NULL, most))
        return false;
    if (memo) {
        memo->time = most->at.time;
        memo->place = most->at.place;
        memo->samples = most->samples;
        memo->known = true;
    }
    return true;
}

bool blocks_peak_of(const block_table *b, const uint8_t *kept, blocks_most *most) {
    return kept ? find_peak(b, kept, most) : blocks_peak(b, most);
}
