/* tally.c: a row is a combination of stack, source, and thread and scope. A live block is an id
 * that leads to its row. The list of blocks is compacted when half of it is gone. Packets of
 * different domains have no common order, so the end of a block may be read before its allocation;
 * it is kept for a while. */
#include "push/tally.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "query/estimate.h"

#define TALLY_GONE  UINT32_MAX
#define TALLY_EARLY (UINT32_MAX - 1)

enum {
    SOURCE_BITS = 2,
    PAIR_BITS = 30,
    MOST_LEVEL = 31, /* more than recorders use; the sums have room for it */
    FEW = 1024,      /* dead blocks that are not worth compacting for */
    MOST_AGE = 1     /* compactions that an early end survives; then its start was lost */
};

static const char *copy(tally *t, const char *text) {
    return intern(&t->profile.strings, text, strlen(text));
}

bool tally_begin(tally *t, const memtrace_info *info) {
    memtrace_info *mine = &t->profile.info;
    *mine = *info;
    mine->executable_name = copy(t, info->executable_name);
    mine->host_name = copy(t, info->host_name);
    mine->runtime_params = copy(t, info->runtime_params);
    mine->context = copy(t, info->context);
    return mine->executable_name && mine->host_name && mine->runtime_params && mine->context;
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* Compacts the list: keeps live blocks, and early ends for a while. */
static bool make_room(tally *t) {
    size_t kept = 0;
    map64_free(&t->block_of);
    for (size_t i = 0; i < t->blocks.count; i++) {
        tally_block b = t->blocks.items[i];
        if (b.row == TALLY_GONE || (b.row == TALLY_EARLY && ++b.samples > MOST_AGE))
            continue;
        uint32_t *index = map64_put(&t->block_of, b.id);
        if (!index)
            return false;
        *index = (uint32_t)kept;
        t->blocks.items[kept++] = b;
    }
    t->blocks.count = kept;
    t->n_gone = 0;
    return true;
}

static bool note_gone(tally *t, tally_block *b) {
    b->row = TALLY_GONE;
    t->n_gone++;
    return t->n_gone < FEW || t->n_gone < t->blocks.count / 2 || make_room(t);
}

static bool add_block(tally *t, tally_block b) {
    uint32_t *index = map64_put(&t->block_of, b.id);
    if (!index || !vec_reserve(&t->blocks, 1))
        return false;
    *index = (uint32_t)t->blocks.count;
    t->blocks.items[t->blocks.count++] = b;
    return true;
}

/* Returns the block with an id; NULL if there is none. */
static tally_block *find_block(tally *t, uint64_t id) {
    const uint32_t index = map64_get(&t->block_of, id);
    return index == MAP64_NONE ? NULL : &t->blocks.items[index];
}

/* ---- rows -------------------------------------------------------------------------------- */

static cct_path *path_of(tally *t, uint16_t domain) {
    const size_t more = domain >= t->paths.count ? domain + 1 - t->paths.count : 0;
    if (!vec_reserve(&t->paths, more))
        return NULL;
    for (size_t i = 0; i < more; i++)
        t->paths.items[t->paths.count++] = (cct_path){0};
    return &t->paths.items[domain];
}

/* Sets the index of a name, from 1; 0 for an empty name. Returns false when there is no memory. */
static bool find_name(tally *t, const char *text, uint32_t *index) {
    const char *name = copy(t, text);
    *index = 0;
    if (!name || !*name)
        return name;
    if (!map64_number(&t->name_of, (uintptr_t)name, index))
        return false;
    if (++*index > t->names.count)
        return vec_push(&t->names, name);
    return true;
}

/* Returns the state of a domain; NULL when there is no memory. */
static tally_domain *find_domain(tally *t, uint16_t domain) {
    while (t->domains.count <= domain)
        if (!vec_push(&t->domains, (tally_domain){0}))
            return NULL;
    return &t->domains.items[domain];
}

/* Sets the name of the domain's current thread, or of its current scope. */
static bool name_domain(tally *t, uint16_t domain, bool is_scope, const char *text) {
    uint32_t name, pair;
    tally_domain *state = find_domain(t, domain);
    if (!state || !find_name(t, text, &name))
        return false;
    *(is_scope ? &state->scope : &state->thread) = name;
    if (!map64_number(&t->number_of, (uint64_t)state->thread << 32 | state->scope, &pair))
        return false;
    state->number = state->thread || state->scope ? pair + 1 : 0;
    return true;
}

/* Returns the thread and scope of a domain. Those whose number does not fit into a row's key count
 * as unnamed. */
static tally_domain domain_state(const tally *t, uint16_t domain) {
    const tally_domain none = {0},
                       state = domain < t->domains.count ? t->domains.items[domain] : none;
    return state.number < UINT32_C(1) << PAIR_BITS
               ? state
               : (tally_domain){.level = state.level, .span = state.span};
}

static const char *name_at(const tally *t, uint32_t index) {
    return index ? t->names.items[index - 1] : NULL;
}

/* Returns the index of a row, which is made if there is none; MAP64_NONE when there is no
 * memory. */
static uint32_t row_of(tally *t, uint32_t node, memtrace_source source, tally_domain state) {
    const uint64_t stack = (uint64_t)node << SOURCE_BITS | (uint64_t)source;
    uint32_t *index = map64_put(&t->row_of, stack << PAIR_BITS | state.number);
    if (!index)
        return MAP64_NONE;
    if (*index == MAP64_NONE) {
        const tally_row row = {.node = node,
                               .thread = name_at(t, state.thread),
                               .scope = name_at(t, state.scope),
                               .source = source};
        if (!vec_push(&t->rows, row))
            return MAP64_NONE;
        *index = (uint32_t)t->rows.count - 1;
    }
    return *index;
}

/* ---- spans ------------------------------------------------------------------------------- */

/* Returns the span's index in `spans`, which is added if it is new; 0 when there is no memory. If
 * the hashes of two spans collide, only the newer one can be found. */
static uint32_t find_span(tally *t, const memtrace_span *span) {
    uint32_t *index = map64_put(&t->span_of, hash_bytes(span, sizeof *span));
    if (!index)
        return 0;
    if (*index == MAP64_NONE || memcmp(&t->spans.items[*index - 1], span, sizeof *span) != 0) {
        if (!vec_push(&t->spans, *span))
            return 0;
        *index = (uint32_t)t->spans.count;
    }
    return *index;
}

static uint64_t span_key(uint32_t span, uint32_t base) {
    return (uint64_t)span << 32 | base;
}

/* Adds a row like `base`, but for a span. */
static bool add_span_row(tally *t, uint32_t base, uint32_t span, uint32_t *row) {
    const tally_row of = t->rows.items[base];
    const tally_row new = {.node = of.node,
                           .thread = of.thread,
                           .scope = of.scope,
                           .span = span,
                           .base = base,
                           .source = of.source};
    t->n_span_rows++;
    if (t->unused_rows.count > 0) {
        *row = t->unused_rows.items[--t->unused_rows.count];
        t->rows.items[*row] = new;
        return true;
    }
    *row = (uint32_t)t->rows.count;
    return vec_push(&t->rows, new);
}

/* Returns the row of the domain's current span that corresponds to `base`; `base` itself if there
 * is no span; MAP64_NONE when there is no memory. */
static uint32_t span_row_of(tally *t, uint32_t base, const tally_domain *state) {
    static const memtrace_span none;
    if (!t->by_span || t->n_span_rows >= TALLY_SPAN_ROWS ||
        memcmp(&state->span, &none, sizeof none) == 0)
        return base;
    const uint32_t span = find_span(t, &state->span);
    uint32_t *row = span ? map64_put(&t->span_row_of, span_key(span, base)) : NULL;
    if (!row || (*row == MAP64_NONE && !add_span_row(t, base, span, row)))
        return MAP64_NONE;
    return *row;
}

/* Renumbers the spans that rows still use, and drops the others. */
static bool keep_spans(tally *t) {
    typeof(t->spans) before = t->spans;
    bool ok = true;
    memset(&t->spans, 0, sizeof t->spans);
    map64_free(&t->span_of);
    for (size_t i = 0; ok && i < t->rows.count; i++) {
        tally_row *row = &t->rows.items[i];
        if (row->span)
            ok = (row->span = find_span(t, &before.items[row->span - 1])) != 0;
    }
    vec_free(&before);
    return ok;
}

static bool keep_span_row(tally *t, size_t i) {
    const tally_row *row = &t->rows.items[i];
    uint32_t *place = map64_put(&t->span_row_of, span_key(row->span, row->base));
    if (place)
        *place = (uint32_t)i;
    return place;
}

bool tally_drop_spans(tally *t, bool (*is_said)(void *context, size_t row),
                      void (*drop)(void *context, size_t row), void *context) {
    enum { MANY = 1024 };
    bool ok = true;
    if (t->n_span_rows < MANY || t->n_span_rows / 2 < t->n_left_span_rows)
        return true;
    for (size_t i = 0; ok && i < t->rows.count; i++) {
        tally_row *row = &t->rows.items[i];
        if (!row->span || row->live > 0 || !is_said(context, i))
            continue;
        *row = (tally_row){0};
        t->n_span_rows--;
        drop(context, i);
        ok = vec_push(&t->unused_rows, (uint32_t)i);
    }
    t->n_left_span_rows = t->n_span_rows;
    ok = ok && keep_spans(t);
    map64_free(&t->span_row_of);
    for (size_t i = 0; ok && i < t->rows.count; i++)
        ok = !t->rows.items[i].span || keep_span_row(t, i);
    return ok;
}

static uint32_t clamp(uint64_t samples) {
    return samples < UINT32_MAX ? (uint32_t)samples : UINT32_MAX;
}

static uint64_t weight_of(uint32_t samples, uint8_t level) {
    return (uint64_t)samples << level;
}

static void add_to_row(tally_row *row, uint32_t samples, uint8_t level, double blocks) {
    row->allocated += weight_of(samples, level);
    row->allocated_samples += samples;
    row->allocated_blocks += blocks;
}

static void make_live(tally_row *row, const tally_block *b) {
    row->live += weight_of(b->samples, b->level);
    row->live_samples += b->samples;
    row->live_blocks += (double)b->blocks;
}

static void make_dead(tally_row *row, const tally_block *b) {
    row->live -= weight_of(b->samples, b->level);
    row->live_samples -= b->samples;
    row->live_blocks -= (double)b->blocks;
    if (row->live == 0)
        row->live_blocks = 0; /* removes rounding errors */
}

/* ---- events ------------------------------------------------------------------------------ */

static bool enter_span(tally *t, uint16_t domain, const char *name) {
    tally_domain *state = t->by_span ? find_domain(t, domain) : NULL;
    if (state)
        state->span = span_remark_ids(name);
    return state || !t->by_span;
}

static bool add_allocation(tally *t, const memtrace_event *e) {
    cct_path *path = path_of(t, e->domain);
    if (!path)
        return false;
    const uint32_t node =
        cct_walk(&t->profile.tree, path, e->frames, e->n_frames, e->common_prefix);
    if (node == CCT_NO_NODE)
        return false;
    if (e->kind == MEMTRACE_SPAN && e->name)
        return enter_span(t, e->domain, e->name);
    const bool is_scope = e->kind == MEMTRACE_SCOPE;
    if ((is_scope || (e->kind == MEMTRACE_THREAD && t->by_thread)) && e->name)
        return name_domain(t, e->domain, is_scope, e->name);
    if (e->kind != MEMTRACE_ALLOC || e->samples == 0)
        return true; /* its stack was still needed: the next one is encoded relative to it */
    const tally_domain state = domain_state(t, e->domain);
    const uint32_t base = row_of(t, node, e->source, state),
                   index = base == MAP64_NONE ? base : span_row_of(t, base, &state);
    if (index == MAP64_NONE)
        return false;
    estimate_blocks blocks = {0};
    estimate_blocks_add(&blocks, e->length + 1, ldexp(t->profile.info.sample_rate, -state.level));
    const tally_block b = {.id = e->id,
                           .row = index,
                           .samples = clamp(e->samples),
                           .blocks = (float)blocks.count,
                           .level = state.level};
    add_to_row(&t->rows.items[index], b.samples, b.level, blocks.count);
    tally_block *early = find_block(t, e->id);
    if (early)
        return note_gone(t, early);
    make_live(&t->rows.items[index], &b);
    return add_block(t, b);
}

static bool add_end(tally *t, uint64_t id) {
    tally_block *b = find_block(t, id);
    if (!b)
        return add_block(t, (tally_block){.id = id, .row = TALLY_EARLY});
    if (b->row >= TALLY_EARLY)
        return true;
    make_dead(&t->rows.items[b->row], b);
    return note_gone(t, b);
}

bool tally_set_level(tally *t, uint16_t domain, uint64_t level) {
    tally_domain *state = find_domain(t, domain);
    if (state)
        state->level = (uint8_t)(level < MOST_LEVEL ? level : MOST_LEVEL);
    return state;
}

bool tally_add(tally *t, const memtrace_event *event) {
    if (event->time > t->profile.duration)
        t->profile.duration = event->time;
    switch (event->kind) {
    case MEMTRACE_PROMOTE:
        return true;
    case MEMTRACE_COLLECT:
        return add_end(t, event->id);
    default:
        return add_allocation(t, event);
    }
}

void tally_free(tally *t) {
    for (size_t i = 0; i < t->paths.count; i++)
        cct_path_free(&t->paths.items[i]);
    vec_free(&t->paths);
    vec_free(&t->rows);
    vec_free(&t->blocks);
    map64_free(&t->row_of);
    map64_free(&t->block_of);
    vec_free(&t->domains);
    vec_free(&t->names);
    vec_free(&t->spans);
    vec_free(&t->unused_rows);
    map64_free(&t->span_of);
    map64_free(&t->span_row_of);
    map64_free(&t->name_of);
    map64_free(&t->number_of);
    profile_free(&t->profile);
    *t = (tally){0};
}
