/* blocks_places.c: in a trace of one domain, the place of an allocation is its row, and nothing has
 * to be found. Otherwise the domains' runs, in which rows are in order, are merged by time. A death
 * then comes behind the allocation that its domain had last made, and behind all of earlier times.
 */
#include "profile/blocks_places.h"

#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX

enum {
    DOMAINS = UINT16_MAX + 1,
    ROWS_A_BIN = 8,
    MOST_BINS = 1 << 22,
    AHEAD = 32, /* rows: what a death needs may be anywhere in memory */
};

/* Rows that follow each other, of one domain. */
typedef struct run {
    uint32_t begin, end; /* rows */
    uint32_t place;      /* while reading, events of it had at least this one; see blocks_now */
    uint32_t before;     /* the last row of its domain before it; NO_ROW: there is none */
    uint32_t next;       /* the domain's next run; the number of runs: there is none */
    uint16_t domain;
} run;

typedef struct merging {
    block_table *table;
    const uint32_t *before; /* as of blocks_settle */
    run *runs;
    uint32_t n_runs;
    uint32_t *rows;  /* by place; once places are known … */
    uint32_t *times; /* … the same memory: births by place, where times are short */
    /* Places by time: the first one at or after a bin's beginning. */
    uint32_t *first;
    size_t n_bins;
    unsigned width; /* a bin is 2^width us */
} merging;

static uint32_t left(const merging *m, uint32_t row) {
    return m->before ? m->before[row] : row;
}

/* ---- one domain -------------------------------------------------------------------------- */

/* The domain 0 of a table that was told of none has no run, and one that begins at the first row
 * is the only one. */
static bool is_of_one(const block_table *b) {
    return b->runs.count == 0 || (b->runs.count == 1 && b->runs.items[0].first == 0);
}

/* Nothing dies before it is born. */
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
    memset(by_domain, 0xFF, DOMAINS * sizeof *by_domain); /* the last row of each so far */
    for (uint32_t i = 0; i < n; i++) {
        runs[i].before = by_domain[runs[i].domain];
        if (runs[i].end > runs[i].begin)
            by_domain[runs[i].domain] = runs[i].end - 1;
    }
    for (size_t d = 0; d < DOMAINS; d++)
        by_domain[d] = n; /* the first run of each from here on */
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

/* The next row of a domain. */
typedef struct head {
    uint64_t time;
    uint32_t row, run;
} head;

typedef VEC(head) heads;

/* False: the domain has no more rows. */
static bool go_to(const merging *m, uint32_t i, head *h) {
    while (i < m->n_runs && m->runs[i].begin == m->runs[i].end)
        i = m->runs[i].next;
    if (i == m->n_runs)
        return false;
    *h = (head){.row = m->runs[i].begin, .run = i};
    h->time = blocks_born(m->table, h->row);
    return true;
}

/* At equal times, of the domain whose run is first. */
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

/* The first head has moved on. */
static void pass(const merging *m, heads *h) {
    head *first = &h->items[0];
    if (++first->row < m->runs[first->run].end)
        first->time = blocks_born(m->table, first->row);
    else if (!go_to(m, m->runs[first->run].next, first))
        *first = h->items[--h->count];
    sink(h, 0);
}

static bool merge_rows(merging *m) {
    heads h = {0};
    m->rows = malloc((m->table->count + 1) * sizeof *m->rows);
    const bool ok = m->rows && gather_heads(m, &h);
    for (size_t place = 0; ok && h.count > 0; place++) {
        m->rows[place] = h.items[0].row;
        pass(m, &h);
    }
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

/* ---- places by time ------------------------------------------------------------------------ */

static uint64_t time_of(const merging *m, size_t place) {
    return m->times ? m->times[place] : blocks_born(m->table, m->rows[place]);
}

static bool index_times(merging *m) {
    const block_table *b = m->table;
    size_t most = 1, bin = 0;
    while (most < MOST_BINS && most < b->count / ROWS_A_BIN)
        most *= 2;
    while (b->last >> m->width >= most)
        m->width++;
    m->n_bins = (size_t)(b->last >> m->width) + 1;
    m->first = malloc((m->n_bins + 1) * sizeof *m->first);
    for (size_t place = 0; m->first && place < b->count; place++)
        for (; bin <= time_of(m, place) >> m->width; bin++)
            m->first[bin] = (uint32_t)place;
    for (; m->first && bin <= m->n_bins; bin++)
        m->first[bin] = (uint32_t)b->count;
    return m->first;
}

/* The first place that is not before this time. */
static uint32_t place_at(const merging *m, uint64_t time) {
    const size_t bin = (size_t)(time >> m->width);
    uint32_t low = m->first[bin], high = m->first[bin + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (time_of(m, middle) < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- deaths ------------------------------------------------------------------------------ */

/* Of rows near each other it is mostly the same, `*near`. */
static const run *run_of(const merging *m, uint32_t place, uint32_t *near) {
    uint32_t low = *near, high = *near + 1;
    if (m->runs[low].place <= place && (high == m->n_runs || place < m->runs[high].place))
        return &m->runs[low];
    low = 0;
    high = m->n_runs;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        *(m->runs[middle].place <= place ? &low : &high) = middle;
    }
    *near = low;
    return &m->runs[low];
}

static uint32_t later(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static bool set_ender(block_table *b, size_t row, uint16_t domain) {
    if (!b->ender && (b->ender = malloc(b->count * sizeof *b->ender)))
        memset(b->ender, 0xFF, b->count * sizeof *b->ender);
    if (b->ender)
        b->ender[row] = domain;
    return b->ender;
}

static bool settle_death(const merging *m, size_t row, uint32_t *near) {
    block_table *b = m->table;
    const run *in = run_of(m, b->after[row], near);
    const uint32_t rows = left(m, b->after[row] - (uint32_t)(in - m->runs));
    const uint32_t last = rows > in->begin ? rows - 1 : in->before;
    uint32_t place = later(b->place[row] + 1, place_at(m, blocks_died(b, row)));
    if (last != NO_ROW)
        place = later(place, b->place[last] + 1);
    b->after[row] = place;
    return in->domain == b->domain[row] || set_ender(b, row, in->domain);
}

/* Asks for the bin of one row, and for what another one's bin, which is there, leads to. */
static void look_ahead(const merging *m, size_t row) {
    const block_table *b = m->table;
    const size_t far = row + 2 * AHEAD, near = row + AHEAD;
    if (far >= b->count)
        return;
    if (b->after[far] != BLOCKS_NOWHERE)
        __builtin_prefetch(&m->first[blocks_died(b, far) >> m->width]);
    if (b->after[near] != BLOCKS_NOWHERE)
        __builtin_prefetch(&m->rows[m->first[blocks_died(b, near) >> m->width]]);
}

static bool settle_several(merging *m) {
    block_table *b = m->table;
    bool ok = make_runs(m) && merge_rows(m) && make_places(m) && index_times(m), in_order = true;
    uint32_t near = 0;
    for (size_t i = 0; ok && i < b->count; i++) {
        look_ahead(m, i);
        ok = b->after[i] == BLOCKS_NOWHERE || settle_death(m, i, &near);
        in_order &= b->place[i] == i;
    }
    if (ok && in_order) {
        free(b->place);
        b->place = NULL;
    }
    free(m->runs);
    free(m->rows);
    free(m->first);
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
