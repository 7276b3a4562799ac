/* blocks_places.c: the order of births and deaths.
 *
 * In a trace of one domain, the place of an allocation is its row. Otherwise the runs of the
 * domains, within which rows are in order, are merged by time. A death then comes after the
 * allocation that its own domain made last, and after all allocations with earlier times. What is
 * looked up for that lies at random places of memory, so it is prefetched in batches. */
#include "profile/blocks_places.h"

#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX

enum {
    DOMAINS = UINT16_MAX + 1,
    BATCH = 64,
    PLACES_A_PART = 64,
    STRIDE = 16, /* places compared without a branch: a cache line of short times */
};

/* Consecutive rows of one domain. */
typedef struct run {
    uint32_t begin, end; /* rows */
    uint32_t place;  /* while reading, events of the run had at least this place; see blocks_now */
    uint32_t before; /* the last row of its domain before the run; NO_ROW: none */
    uint32_t next;   /* the domain's next run; n_runs: none */
    uint16_t domain;
} run;

typedef struct merging {
    block_table *table;
    const uint32_t *before; /* as in blocks_settle */
    run *runs;
    uint32_t n_runs;
    uint32_t *first_run; /* by PLACES_A_PART places while reading: the run in which they begin */
    uint32_t *rows;      /* by place, until places are known; … */
    uint32_t *times;     /* … then in the same memory the births by place, if times are short */
} merging;

static uint32_t left(const merging *m, uint32_t row) {
    return m->before ? m->before[row] : row;
}

/* ---- one domain -------------------------------------------------------------------------- */

/* Whether a block died before the first run. Domain 0 may report deaths before any other domain is
 * met, without a row of its own. */
static bool ends_before_runs(const block_table *b) {
    size_t i = 0;
    while (i < b->count && b->after[i] != 0)
        i++;
    return i < b->count;
}

/* Whether all events came from one domain. Without any run that is domain 0; with a single one that
 * begins at the first row, its domain. */
static bool is_of_one(const block_table *b) {
    return b->runs.count == 0 ||
           (b->runs.count == 1 && b->runs.items[0].first == 0 && !ends_before_runs(b));
}

/* A death is placed after the birth at the earliest. */
static void settle_one(const merging *m) {
    uint32_t *after = m->table->after, runs = (uint32_t)m->table->runs.count;
    for (size_t i = 0; i < m->table->count; i++) {
        const uint32_t is_dead = after[i] != BLOCKS_NOWHERE;
        const uint32_t at = is_dead && m->before ? m->before[after[i] - runs] : after[i] - runs;
        const uint32_t place = at > i ? at : (uint32_t)i + 1;
        after[i] = is_dead ? place : BLOCKS_NOWHERE;
    }
}

/* ---- runs -------------------------------------------------------------------------------- */

static void link_runs(run *runs, uint32_t n, uint32_t *by_domain) {
    memset(by_domain, 0xFF, DOMAINS * sizeof *by_domain); /* by domain: its last row so far */
    for (uint32_t i = 0; i < n; i++) {
        runs[i].before = by_domain[runs[i].domain];
        if (runs[i].end > runs[i].begin)
            by_domain[runs[i].domain] = runs[i].end - 1;
    }
    for (size_t d = 0; d < DOMAINS; d++)
        by_domain[d] = n; /* by domain: its first run from here on */
    for (uint32_t i = n; i-- > 0;) {
        runs[i].next = by_domain[runs[i].domain];
        by_domain[runs[i].domain] = i;
    }
}

static bool make_runs(merging *m) {
    const block_table *b = m->table;
    m->n_runs = (uint32_t)b->runs.count + 1;
    m->runs = calloc(m->n_runs, sizeof *m->runs);
    uint32_t *by_domain = malloc(DOMAINS * sizeof *by_domain);
    const bool ok = m->runs && by_domain;
    for (uint32_t i = 0; ok && i < m->n_runs; i++) {
        const blocks_run r = i ? b->runs.items[i - 1] : (blocks_run){0};
        m->runs[i] = (run){.begin = left(m, r.first), .place = r.first + i, .domain = r.domain};
        if (i)
            m->runs[i - 1].end = m->runs[i].begin;
    }
    if (ok) {
        m->runs[m->n_runs - 1].end = (uint32_t)b->count;
        link_runs(m->runs, m->n_runs, by_domain);
    }
    free(by_domain);
    return ok;
}

/* ---- merging ----------------------------------------------------------------------------- */

/* The next row of a domain that has no place yet. */
typedef struct head {
    uint64_t time;
    uint32_t row, run;
} head;

typedef VEC(head) heads;

/* Moves the head to the first row of run `i`, or of the domain's next run that has rows. False if
 * there is none. */
static bool go_to(const merging *m, uint32_t i, head *h) {
    while (i < m->n_runs && m->runs[i].begin == m->runs[i].end)
        i = m->runs[i].next;
    if (i == m->n_runs)
        return false;
    *h = (head){.row = m->runs[i].begin, .run = i};
    h->time = blocks_born(m->table, h->row);
    return true;
}

/* At equal times, the row that comes first in the file is first. */
static bool is_before(const head *a, const head *b) {
    return a->time != b->time ? a->time < b->time : a->row < b->row;
}

static void sink(heads *h, size_t i) {
    for (size_t child; (child = 2 * i + 1) < h->count; i = child) {
        child += child + 1 < h->count && is_before(&h->items[child + 1], &h->items[child]);
        if (!is_before(&h->items[child], &h->items[i]))
            return;
        const head x = h->items[i];
        h->items[i] = h->items[child];
        h->items[child] = x;
    }
}

static bool gather_heads(const merging *m, heads *h) {
    for (uint32_t i = 0; i < m->n_runs; i++) {
        head first;
        bool is_first = m->runs[i].before == NO_ROW && m->runs[i].begin < m->runs[i].end;
        if (is_first && go_to(m, i, &first) && !vec_push(h, first))
            return false;
    }
    for (size_t i = h->count; i-- > 0;)
        sink(h, i);
    return true;
}

/* Returns the head that comes after the first one. */
static const head *second(const heads *h) {
    const head *x = h->items;
    return h->count < 3 || is_before(&x[1], &x[2]) ? &x[1] : &x[2];
}

/* Gives the next places to rows of the first head, as long as they come before all other heads. */
static uint32_t *take_first(const merging *m, heads *h, uint32_t *row) {
    head *first = &h->items[0];
    const uint32_t end = m->runs[first->run].end;
    do {
        *row++ = first->row;
        if (++first->row < end)
            first->time = blocks_born(m->table, first->row);
    } while (first->row < end && (h->count == 1 || is_before(first, second(h))));
    if (first->row == end && !go_to(m, m->runs[first->run].next, first))
        *first = h->items[--h->count];
    sink(h, 0);
    return row;
}

static bool merge_rows(merging *m) {
    heads h = {0};
    m->rows = malloc((m->table->count + 1) * sizeof *m->rows);
    const bool ok = m->rows && gather_heads(m, &h);
    for (uint32_t *row = m->rows; ok && h.count > 0;)
        row = take_first(m, &h, row);
    vec_free(&h);
    return ok;
}

static bool make_places(merging *m) {
    block_table *b = m->table;
    b->place = malloc((b->count + 1) * sizeof *b->place);
    for (size_t i = 0; b->place && i < b->count; i++)
        b->place[m->rows[i]] = (uint32_t)i;
    m->times = blocks_are_long(b) ? NULL : m->rows;
    for (size_t i = 0; b->place && m->times && i < b->count; i++)
        m->times[i] = b->times[BLOCKS_BORN].low[m->rows[i]];
    return b->place;
}

/* ---- deaths ------------------------------------------------------------------------------ */

static bool index_runs(merging *m) {
    const size_t n = m->runs[m->n_runs - 1].place / PLACES_A_PART + 1;
    m->first_run = malloc(n * sizeof *m->first_run);
    for (uint32_t part = 0, i = 0; m->first_run && part < n; part++) {
        while (i + 1 < m->n_runs && m->runs[i + 1].place <= part * PLACES_A_PART)
            i++;
        m->first_run[part] = i;
    }
    return m->first_run;
}

static const run *run_of(const merging *m, uint32_t place) {
    if (place >= m->runs[m->n_runs - 1].place)
        return &m->runs[m->n_runs - 1];
    uint32_t low = m->first_run[place / PLACES_A_PART];
    while (m->runs[low + 1].place <= place)
        low++;
    return &m->runs[low];
}

static uint32_t later(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static bool set_freed_by(block_table *b, size_t row, uint16_t domain) {
    if (!b->freed_by && (b->freed_by = malloc(b->count * sizeof *b->freed_by)))
        memset(b->freed_by, 0xFF, b->count * sizeof *b->freed_by);
    if (b->freed_by)
        b->freed_by[row] = domain;
    return b->freed_by;
}

static uint64_t time_of(const merging *m, size_t place) {
    return m->times ? m->times[place] : blocks_born(m->table, m->rows[place]);
}

static bool is_over(const merging *m, size_t place, uint64_t time) {
    return place >= m->table->count || time_of(m, place) >= time;
}

/* Returns the first place from `low` on whose time is not before `time`. */
static uint32_t search(const merging *m, size_t low, uint64_t time) {
    size_t step = 1;
    while (!is_over(m, low + step - 1, time)) {
        low += step;
        step *= 2;
    }
    for (size_t high = low + step - 1; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (is_over(m, middle, time))
            high = middle;
        else
            low = middle + 1;
    }
    return (uint32_t)low;
}

/* Like `search`, for a place that is mostly near: compares the first STRIDE without an
 * unpredictable branch. */
static uint32_t find_place(const merging *m, size_t place, uint64_t time) {
    if (!m->times || place + STRIDE > m->table->count || time > UINT32_MAX)
        return search(m, place, time);
    uint32_t earlier = 0;
    for (size_t i = 0; i < STRIDE; i++)
        earlier += m->times[place + i] < (uint32_t)time;
    return earlier < STRIDE ? (uint32_t)place + earlier : search(m, place + STRIDE, time);
}

/* A death whose place is being looked up. */
typedef struct death {
    uint32_t row;
    const run *in;   /* the run in which it happened */
    uint32_t number; /* the next allocation at that moment, numbered as while reading */
    uint32_t last;   /* the row that its domain had allocated last; NO_ROW: none */
    uint32_t place;  /* a lower bound unless `is_found` */
    bool is_found;   /* `place` is final */
} death;

/* Collects the rows from `row` to `end` that died; returns how many. */
static unsigned gather_deaths(const merging *m, size_t row, size_t end, death *of) {
    const block_table *b = m->table;
    unsigned n = 0;
    for (; row < end; row++) {
        if (b->after[row] == BLOCKS_NOWHERE)
            continue;
        const run *in = run_of(m, b->after[row]);
        const uint32_t number = b->after[row] - (uint32_t)(in - m->runs);
        if (m->before)
            __builtin_prefetch(&m->before[number]);
        of[n++] = (death){.row = (uint32_t)row, .in = in, .number = number};
    }
    return n;
}

static void find_last(const merging *m, death *of, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        const uint32_t rows = left(m, of[i].number);
        of[i].last = rows > of[i].in->begin ? rows - 1 : of[i].in->before;
        if (of[i].last == NO_ROW)
            continue;
        __builtin_prefetch(&m->table->place[of[i].last]);
        __builtin_prefetch(&m->table->times[BLOCKS_BORN].low[of[i].last]);
    }
}

/* Mostly the domain has allocated at the time of the death, so no later place has an earlier time,
 * and the bound is the place. */
static void bound_places(const merging *m, death *of, unsigned n) {
    const block_table *b = m->table;
    for (unsigned i = 0; i < n; i++) {
        const uint32_t row = of[i].row, last = of[i].last;
        of[i].place = b->place[row] + 1;
        of[i].is_found = last != NO_ROW && blocks_born(b, last) >= blocks_died(b, row);
        if (last != NO_ROW)
            of[i].place = later(of[i].place, b->place[last] + 1);
        if (of[i].is_found)
            continue;
        __builtin_prefetch(&m->rows[of[i].place]);
        __builtin_prefetch(&m->rows[of[i].place + STRIDE - 1]);
    }
}

static bool settle_deaths(const merging *m) {
    block_table *b = m->table;
    death of[BATCH];
    bool ok = true;
    for (size_t row = 0; ok && row < b->count; row += BATCH) {
        const size_t end = b->count - row > BATCH ? row + BATCH : b->count;
        const unsigned n = gather_deaths(m, row, end, of);
        find_last(m, of, n);
        bound_places(m, of, n);
        for (unsigned i = 0; ok && i < n; i++) {
            const death *d = &of[i];
            b->after[d->row] =
                d->is_found ? d->place : find_place(m, d->place, blocks_died(b, d->row));
            ok = d->in->domain == b->domain[d->row] || set_freed_by(b, d->row, d->in->domain);
        }
    }
    return ok;
}

static bool is_in_order(const block_table *b) {
    size_t i = 0;
    while (i < b->count && b->place[i] == i)
        i++;
    return i == b->count;
}

static bool settle_several(merging *m) {
    block_table *b = m->table;
    const bool ok =
        make_runs(m) && index_runs(m) && merge_rows(m) && make_places(m) && settle_deaths(m);
    if (ok && is_in_order(b)) {
        free(b->place);
        b->place = NULL;
    }
    free(m->runs);
    free(m->first_run);
    free(m->rows);
    return ok;
}

bool blocks_settle(block_table *b, const uint32_t *before) {
    merging m = {.table = b, .before = before};
    bool ok = true;
    if (is_of_one(b))
        settle_one(&m);
    else
        ok = settle_several(&m);
    return ok;
}
