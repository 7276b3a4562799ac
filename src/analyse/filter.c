/* filter.c: which blocks a filter keeps; see filter.h.
 *
 * First each term is prepared: bounds become whole numbers, and patterns a mark for each node of
 * the tree. Then the table is scanned once, in pieces that fit the processor's nearest cache: all
 * terms look at a piece, each at the columns that it is about, before the next one. */
#include "analyse/filter.h"

#include <math.h>
#include <string.h>

#include "analyse/filter_internal.h"
#include "analyse/parallel.h"

enum { PIECE = 4096 /* rows */ };

/* Inclusive; empty if low > high. */
typedef struct limits {
    uint64_t low, high;
} limits;

/* One of the values of a term. Which member, says the term's kind. */
typedef struct prepared_value {
    limits limits;
    memtrace_source heap;
} prepared_value;

typedef struct prepared_term {
    const filter_term *term;
    VEC(prepared_value) values;
    uint8_t *nodes; /* of patterns: by node, whether one of them applies; else NULL */
} prepared_term;

/* The evaluation of one filter. */
typedef struct evaluation {
    const profile *profile;
    VEC(prepared_term) terms; /* those that select blocks */
    uint64_t peak;            /* the moment; once it was asked for */
    bool has_peak;
    uint8_t *kept; /* by row */
    size_t parts;  /* of the table, that are scanned at the same time */
    size_t *left;  /* by part and term: how many rows that term left of those before it */
} evaluation;

/* ---- ranges ------------------------------------------------------------------------------ */

static double bound_value(const filter_bound *b, const evaluation *e) {
    if (b->anchor == ANCHOR_PEAK)
        return (double)e->peak;
    return b->anchor == ANCHOR_END ? (double)e->profile->duration : b->value;
}

/* The whole numbers within a range whose bounds count in `scale`s of them. */
static limits resolve(const filter_value *v, const evaluation *e, double scale) {
    limits l = {.low = 0, .high = UINT64_MAX - 1};
    double low = bound_value(&v->low, e) / scale, high = bound_value(&v->high, e) / scale;
    if (v->low.set)
        l.low = low >= 0x1p63 ? UINT64_MAX : (uint64_t)(v->low.strict ? floor(low) + 1 : ceil(low));
    if (v->high.set && v->high.strict && high <= 0)
        return (limits){.low = 1, .high = 0};
    if (v->high.set && high < 0x1p63)
        l.high = (uint64_t)(v->high.strict ? ceil(high) - 1 : floor(high));
    return l;
}

/* In bytes of the trace's words. */
static limits resolve_size(const filter_value *v, const evaluation *e) {
    filter_value words = *v;
    double word = e->profile->info.word_size / 8.0;
    if (words.low.anchor != ANCHOR_WORDS)
        words.low.value /= word;
    if (words.high.anchor != ANCHOR_WORDS)
        words.high.value /= word;
    return resolve(&words, e, 1);
}

/* ---- hits: rows of a piece to which a value applies, are marked in `hits` ------------------ */

/* One comparison instead of two: what is below `low` becomes very large. */
static inline bool within(uint64_t x, limits l) {
    return x - l.low <= l.high - l.low;
}

static void hit_times(const uint64_t *times, size_t n, limits l, uint8_t *hits) {
    for (size_t i = 0; i < n; i++)
        hits[i] |= within(times[i], l);
}

/* Live at some moment within the range. */
static void hit_live(const uint64_t *born, const uint64_t *died, size_t n, limits l,
                     uint8_t *hits) {
    for (size_t i = 0; i < n; i++)
        hits[i] |= (uint8_t)((born[i] <= l.high) & (died[i] > l.low));
}

static void hit_lives(const uint64_t *born, const uint64_t *died, size_t n, uint64_t end, limits l,
                      uint8_t *hits) {
    for (size_t i = 0; i < n; i++)
        hits[i] |= within((died[i] < end ? died[i] : end) - born[i], l);
}

static void hit_sizes(const block_table *b, size_t at, size_t n, limits l, uint8_t *hits) {
    const uint32_t *length = b->length + at;
    for (size_t i = 0; i < n; i++)
        hits[i] |=
            length[i] == BLOCKS_LARGE ? within(blocks_length(b, at + i), l) : within(length[i], l);
}

static void hit_domains(const uint16_t *domain, size_t n, limits l, uint8_t *hits) {
    for (size_t i = 0; i < n; i++)
        hits[i] |= within(domain[i], l);
}

/* The major heap's blocks are also those that were promoted to it. */
static void hit_heap(const block_table *b, size_t at, size_t n, memtrace_source heap,
                     uint8_t *hits) {
    const uint8_t *source = b->source + at;
    const uint64_t *promoted = b->promoted + at;
    for (size_t i = 0; i < n; i++)
        hits[i] |= source[i] == heap;
    for (size_t i = 0; heap == MEMTRACE_MAJOR && i < n; i++)
        hits[i] |= promoted[i] != BLOCKS_NEVER;
}

static void hit_before(const uint64_t *times, size_t n, bool happened, uint8_t *hits) {
    for (size_t i = 0; i < n; i++)
        hits[i] |= (times[i] != BLOCKS_NEVER) == happened;
}

static void hit_nodes(const uint32_t *node, size_t n, const uint8_t *nodes, uint8_t *hits) {
    for (size_t i = 0; i < n; i++)
        hits[i] |= nodes[node[i]];
}

/* ---- patterns ---------------------------------------------------------------------------- */

/* Whether a pattern matches, decided once a string: strings of a profile are unique. */
typedef struct matcher {
    const filter_pattern *pattern;
    map64 known;
} matcher;

static bool matches(matcher *m, const char *text) {
    uint32_t *known = map64_put(&m->known, (uintptr_t)text);
    if (!known)
        return filter_match(m->pattern, text);
    if (*known == MAP64_NONE)
        *known = filter_match(m->pattern, text);
    return *known;
}

static bool frame_matches(const profile *p, uint32_t frame, filter_kind kind, matcher *m) {
    const profile_frame *f = &p->frames.items[frame];
    if (kind == FILTER_TYPE)
        return f->type && matches(m, f->type);
    for (uint32_t i = 0; i < f->n; i++) {
        const profile_location *l = &p->locations.items[f->first + i];
        if (matches(m, kind == FILTER_FN ? l->function : l->file))
            return true;
    }
    return false;
}

/* Marks the nodes to which the pattern applies. Functions and files are looked for in the whole
 * stack; a type is that of the innermost frame. */
static bool mark_nodes(const profile *p, filter_kind kind, const filter_pattern *pattern,
                       uint8_t *nodes) {
    const cct *tree = &p->tree;
    const size_t n_frames = p->frames.count;
    uint8_t *frames = malloc(n_frames + 1), *own = calloc(cct_count(tree) + 1, 1);
    matcher m = {.pattern = pattern};
    const bool ok = frames && own;
    for (size_t i = 0; ok && i < n_frames; i++)
        frames[i] = frame_matches(p, (uint32_t)i, kind, &m);
    size_t chains = 1; /* begun: the root is one */
    for (uint32_t i = 1; ok && i < cct_count(tree); i++) {
        const bool first = tree->frames.items[i] & CCT_FIRST;
        const uint32_t parent = first ? tree->parents.items[chains] : i - 1;
        chains += first;
        own[i] = frames[cct_frame(tree, i)] | (kind != FILTER_TYPE && own[parent]);
        nodes[i] |= own[i];
    }
    map64_free(&m.known);
    free(frames);
    free(own);
    return ok;
}

/* ---- preparing --------------------------------------------------------------------------- */

static bool find_peak(evaluation *e, const filter_value *v) {
    uint64_t samples;
    bool asks = v->low.anchor == ANCHOR_PEAK || v->high.anchor == ANCHOR_PEAK;
    if (!asks || e->has_peak)
        return true;
    e->has_peak = true;
    return blocks_peak(&e->profile->table, &e->peak, &samples);
}

static bool prepare_value(evaluation *e, prepared_term *t, const filter_value *v) {
    const filter_kind kind = t->term->kind;
    if (!find_peak(e, v))
        return false;
    if (t->nodes)
        return mark_nodes(e->profile, kind, &v->pattern, t->nodes);
    const prepared_value value = {
        .limits = kind == FILTER_SIZE ? resolve_size(v, e) : resolve(v, e, 1), .heap = v->heap};
    return value.limits.low > value.limits.high || vec_push(&t->values, value);
}

static bool prepare_term(evaluation *e, const filter_term *term) {
    if (!vec_push(&e->terms, (prepared_term){.term = term}))
        return false;
    prepared_term *t = &e->terms.items[e->terms.count - 1];
    if (filter_values_of[term->kind] == VALUES_PATTERN &&
        !(t->nodes = calloc(cct_count(&e->profile->tree) + 1, 1)))
        return false;
    for (size_t i = 0; i < term->values.count; i++)
        if (!prepare_value(e, t, &term->values.items[i]))
            return false;
    return true;
}

static bool prepare(evaluation *e, const filter *f) {
    for (size_t i = 0; f && i < f->terms.count; i++)
        if (f->terms.items[i].kind != FILTER_HIDE && !prepare_term(e, &f->terms.items[i]))
            return false;
    return true;
}

static void evaluation_free(evaluation *e) {
    for (size_t i = 0; i < e->terms.count; i++) {
        vec_free(&e->terms.items[i].values);
        free(e->terms.items[i].nodes);
    }
    vec_free(&e->terms);
    free(e->left);
}

/* ---- scanning ---------------------------------------------------------------------------- */

static void hit_value(const evaluation *e, filter_kind kind, const prepared_value *v, size_t at,
                      size_t n, uint8_t *hits) {
    const block_table *b = &e->profile->table;
    switch (kind) {
    case FILTER_ALLOC:
        hit_times(b->born + at, n, v->limits, hits);
        return;
    case FILTER_LIVE:
        hit_live(b->born + at, b->died + at, n, v->limits, hits);
        return;
    case FILTER_LIFE:
        hit_lives(b->born + at, b->died + at, n, e->profile->duration, v->limits, hits);
        return;
    case FILTER_SIZE:
        hit_sizes(b, at, n, v->limits, hits);
        return;
    case FILTER_DOMAIN:
        hit_domains(b->domain + at, n, v->limits, hits);
        return;
    case FILTER_HEAP:
        hit_heap(b, at, n, v->heap, hits);
        return;
    default:
        return;
    }
}

static void hit_term(const evaluation *e, const prepared_term *t, size_t at, size_t n,
                     uint8_t *hits) {
    const block_table *b = &e->profile->table;
    const filter_kind kind = t->term->kind;
    memset(hits, 0, n);
    if (kind == FILTER_PROMOTED)
        hit_before(b->promoted + at, n, true, hits);
    if (kind == FILTER_SURVIVED)
        hit_before(b->died + at, n, false, hits);
    if (t->nodes)
        hit_nodes(b->node + at, n, t->nodes, hits);
    for (size_t i = 0; i < t->values.count; i++)
        hit_value(e, kind, &t->values.items[i], at, n, hits);
}

/* Returns how many are left. */
static size_t keep_hits(uint8_t *kept, const uint8_t *hits, size_t n, uint8_t flip) {
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        kept[i] &= hits[i] ^ flip;
        left += kept[i];
    }
    return left;
}

static void scan_part(void *context, size_t part) {
    const evaluation *e = context;
    const size_t rows = e->profile->table.count, end = parallel_begin(rows, e->parts, part + 1);
    size_t *left = e->left + part * e->terms.count;
    uint8_t hits[PIECE];
    for (size_t at = parallel_begin(rows, e->parts, part); at < end; at += PIECE) {
        const size_t n = end - at < PIECE ? end - at : PIECE;
        memset(e->kept + at, 1, n);
        for (size_t i = 0; i < e->terms.count; i++) {
            hit_term(e, &e->terms.items[i], at, n, hits);
            left[i] += keep_hits(e->kept + at, hits, n, e->terms.items[i].term->negated);
        }
    }
}

static void count_kept(const evaluation *e, selection *s) {
    for (size_t i = 0; i < e->terms.count; i++) {
        const filter_term *term = e->terms.items[i].term;
        const size_t before = s->n_kept;
        s->n_kept = 0;
        for (size_t part = 0; part < e->parts; part++)
            s->n_kept += e->left[part * e->terms.count + i];
        if (s->n_kept == 0 && before > 0) {
            s->n_removed = before;
            s->term_at = term->at;
            s->term_size = term->size;
        }
    }
}

bool filter_select(const filter *f, const profile *p, selection *s) {
    const size_t n = p->table.count;
    evaluation e = {.profile = p, .kept = malloc(n + 1), .parts = parallel_parts(n)};
    *s = (selection){.kept = e.kept, .n_kept = n, .n_of = n};
    bool ok =
        e.kept && prepare(&e, f) && (e.left = calloc(e.parts * e.terms.count + 1, sizeof *e.left));
    if (ok) {
        parallel_run(e.parts, scan_part, &e);
        count_kept(&e, s);
    } else {
        selection_free(s);
    }
    evaluation_free(&e);
    return ok;
}

void selection_free(selection *s) {
    free(s->kept);
    s->kept = NULL;
}

bool filter_selects(const filter *f) {
    for (size_t i = 0; f && i < f->terms.count; i++)
        if (f->terms.items[i].kind != FILTER_HIDE)
            return true;
    return false;
}

static unsigned columns_of(const filter_term *t) {
    static const unsigned columns[FILTER_N_KINDS] = {
        [FILTER_ALLOC] = BLOCKS_HAS(born),
        [FILTER_LIVE] = BLOCKS_HAS(born) | BLOCKS_HAS(died),
        [FILTER_LIFE] = BLOCKS_HAS(born) | BLOCKS_HAS(died),
        [FILTER_SIZE] = BLOCKS_HAS(length),
        [FILTER_HEAP] = BLOCKS_HAS(source) | BLOCKS_HAS(promoted),
        [FILTER_FN] = BLOCKS_HAS(node),
        [FILTER_FILE] = BLOCKS_HAS(node),
        [FILTER_TYPE] = BLOCKS_HAS(node),
        [FILTER_DOMAIN] = BLOCKS_HAS(domain),
        [FILTER_PROMOTED] = BLOCKS_HAS(promoted),
        [FILTER_SURVIVED] = BLOCKS_HAS(died),
    };
    unsigned all = columns[t->kind];
    for (size_t i = 0; i < t->values.count; i++) /* what is needed to find the peak */
        if (t->values.items[i].low.anchor == ANCHOR_PEAK ||
            t->values.items[i].high.anchor == ANCHOR_PEAK)
            all |= BLOCKS_PEAK_COLUMNS;
    return all;
}

unsigned filter_columns(const filter *f) {
    unsigned all = 0;
    for (size_t i = 0; f && i < f->terms.count; i++)
        all |= columns_of(&f->terms.items[i]);
    return all;
}

bool filter_hides_any(const filter *f) {
    for (size_t i = 0; f && i < f->terms.count; i++)
        if (f->terms.items[i].kind == FILTER_HIDE)
            return true;
    return false;
}

bool filter_hides(const filter *f, const char *function) {
    for (size_t i = 0; f && i < f->terms.count; i++) {
        const filter_term *t = &f->terms.items[i];
        for (size_t j = 0; t->kind == FILTER_HIDE && j < t->values.count; j++)
            if (filter_match(&t->values.items[j].pattern, function))
                return true;
    }
    return false;
}
