/* filter.c: evaluates which blocks a filter keeps.
 *
 * First each term is prepared: bounds become whole numbers, and patterns become a mark for each
 * node of the tree. Then the table is scanned once, in pieces. All terms see a piece before the
 * next one is read, and each term reads only its own columns. While many rows are left, a term
 * looks at all rows of the piece; later at a list of those left. */
#include "query/filter.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/inline.h"
#include "profile/parallel.h"
#include "profile/spans.h"
#include "query/filter_internal.h"
#include "query/lens.h"
#include "query/module.h"
#include "query/name_sets.h"

/* Inclusive limits; none if low > high. */
typedef struct limits {
    uint64_t low, high;
} limits;

/* One of the values of a term; the term's kind tells which member is used. */
typedef struct prepared_value {
    limits limits;
    uint32_t from, to; /* places of bounds that are the peak; else BLOCKS_NOWHERE */
    memtrace_source heap;
} prepared_value;

typedef struct prepared_term {
    const filter_term *term;
    VEC(prepared_value) values;
    /* For patterns: whether one applies, by node, or by spans_index for names of spans. Otherwise
     * NULL. */
    uint8_t *nodes;
} prepared_term;

/* The evaluation of one filter. */
typedef struct evaluation {
    const profile *profile;
    VEC(prepared_term) terms; /* those that select blocks */
    blocks_most peak;         /* valid if has_peak */
    bool has_peak;
    size_t parts; /* of the table, scanned in parallel */
    size_t *left; /* by part and term: how many rows that term left */
    filter_visit *visit;
    void *context;
} evaluation;

/* ---- ranges ------------------------------------------------------------------------------ */

static double bound_value(const filter_bound *b, const evaluation *e) {
    if (b->anchor == ANCHOR_PEAK)
        return (double)e->peak.at.time;
    return b->anchor == ANCHOR_END ? (double)e->profile->duration : b->value;
}

/* Returns the whole numbers in a range, whose bounds are divided by `scale`. */
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

/* Resolves a size; bytes become words of the trace. */
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

/* The rows of a piece that a term looks at: those in the list, or all if it is NULL. Functions on
 * them are inlined once for each, so that neither has a branch for it. */
typedef struct piece_rows {
    size_t at, n; /* the first row of the piece; the number of rows */
    const uint16_t *list;
} piece_rows;

/* Sets the hits of all rows for which `condition`, an expression of `row`, is true. Without a list,
 * it works in strides of a constant length, so that the compiler vectorizes it. */
enum { STRIDE = 64 };
#define HIT_IF(r, hits, condition)                                                                 \
    do {                                                                                           \
        size_t i_ = 0;                                                                             \
        if (!(r).list)                                                                             \
            for (; i_ + STRIDE <= (r).n; i_ += STRIDE)                                             \
                for (size_t j_ = 0; j_ < STRIDE; j_++) {                                           \
                    const size_t row = (r).at + i_ + j_;                                           \
                    (hits)[i_ + j_] |= (uint8_t)(condition);                                       \
                }                                                                                  \
        for (; i_ < (r).n; i_++) {                                                                 \
            const size_t row = (r).at + ((r).list ? (r).list[i_] : i_);                            \
            (hits)[i_] |= (uint8_t)(condition);                                                    \
        }                                                                                          \
    } while (0)

/* One comparison instead of two: numbers below `low` wrap to very large ones. */
static inline bool within(uint64_t x, limits l) {
    return x - l.low <= l.high - l.low;
}

/* Limits for short times, which take half as many bytes. All times are then below BLOCKS_SHORT, so
 * limits can be cut to that. */
typedef struct short_limits {
    uint32_t low, high;
} short_limits;

static inline short_limits shorten(limits l) {
    return (short_limits){.low = l.low < BLOCKS_SHORT ? (uint32_t)l.low : BLOCKS_SHORT - 1,
                          .high = l.high < BLOCKS_SHORT ? (uint32_t)l.high : BLOCKS_SHORT - 1};
}

static inline bool within_short(uint32_t x, short_limits l) {
    return x - l.low <= l.high - l.low;
}

static ALWAYS_INLINE void hit_births(const block_table *b, piece_rows r, limits l,
                                     uint8_t *restrict hits) {
    const uint32_t *restrict born = b->times[BLOCKS_BORN].low;
    const short_limits s = shorten(l);
    if (blocks_are_long(b))
        HIT_IF(r, hits, within(blocks_born(b, row), l));
    else if (l.low < BLOCKS_SHORT)
        HIT_IF(r, hits, within_short(born[row], s));
}

static inline bool is_live_at(const block_table *b, size_t row, uint32_t place) {
    return (unsigned)(place != BLOCKS_NOWHERE) & (blocks_place(b, row) <= place) &
           (b->after[row] > place);
}

/* Whether the block was live at some moment of a range that has the peak as a bound. */
static bool is_live_within(const block_table *b, size_t row, const prepared_value *v) {
    const uint64_t born = blocks_born(b, row), died = blocks_died(b, row);
    const bool begins =
        v->to == BLOCKS_NOWHERE ? born <= v->limits.high : blocks_place(b, row) <= v->to;
    const bool lasts = v->from == BLOCKS_NOWHERE ? died > v->limits.low : b->after[row] > v->from;
    return begins && lasts &&
           (died > born || is_live_at(b, row, v->from) || is_live_at(b, row, v->to));
}

static ALWAYS_INLINE void hit_live_at_peak(const block_table *b, piece_rows r,
                                           const prepared_value *v, uint8_t *restrict hits) {
    if (v->from == v->to)
        HIT_IF(r, hits, is_live_at(b, row, v->from));
    else
        HIT_IF(r, hits, is_live_within(b, row, v));
}

/* Hits blocks that were live at some moment of the range. A block that was freed in the microsecond
 * of its birth is live at no moment. */
static ALWAYS_INLINE void hit_live(const block_table *b, piece_rows r, limits l,
                                   uint8_t *restrict hits) {
    const uint32_t *restrict born = b->times[BLOCKS_BORN].low, *restrict died =
                                                                   b->times[BLOCKS_DIED].low;
    const short_limits s = shorten(l);
    if (blocks_are_long(b))
        HIT_IF(r, hits,
               (unsigned)(blocks_born(b, row) <= l.high) & (blocks_died(b, row) > l.low) &
                   (blocks_died(b, row) > blocks_born(b, row)));
    else
        HIT_IF(r, hits, (born[row] <= s.high) & (died[row] > s.low) & (died[row] > born[row]));
}

static ALWAYS_INLINE void hit_lifetimes(const block_table *b, piece_rows r, uint64_t end, limits l,
                                        uint8_t *restrict hits) {
    const uint32_t *restrict born = b->times[BLOCKS_BORN].low, *restrict died =
                                                                   b->times[BLOCKS_DIED].low;
    const short_limits s = shorten(l);
    const uint32_t last = (uint32_t)end;
    if (blocks_are_long(b) || end >= BLOCKS_SHORT)
        HIT_IF(r, hits,
               within((blocks_died(b, row) < end ? blocks_died(b, row) : end) - blocks_born(b, row),
                      l));
    else if (l.low < BLOCKS_SHORT)
        HIT_IF(r, hits, within_short((died[row] < last ? died[row] : last) - born[row], s));
}

/* Hits lengths that do not fit the column. They are rare, and most pieces have none. */
static ALWAYS_INLINE void hit_large(const block_table *b, piece_rows r, limits l,
                                    uint8_t *restrict hits) {
    for (size_t i = 0; i < r.n; i++) {
        const size_t row = r.at + (r.list ? r.list[i] : i);
        if (b->length[row] == BLOCKS_LARGE)
            hits[i] |= within(blocks_length(b, row), l);
    }
}

static ALWAYS_INLINE void hit_sizes(const block_table *b, piece_rows r, limits l,
                                    uint8_t *restrict hits) {
    const uint32_t *restrict length = b->length;
    if (l.low < BLOCKS_LARGE) {
        const uint32_t low = (uint32_t)l.low;
        const uint32_t span = (uint32_t)((l.high < BLOCKS_LARGE ? l.high : BLOCKS_LARGE - 1) - low);
        HIT_IF(r, hits, length[row] - low <= span);
    }
    if (b->large.count > 0)
        hit_large(b, r, l, hits);
}

static ALWAYS_INLINE void hit_domains(const uint16_t *restrict domain, piece_rows r, limits l,
                                      uint8_t *restrict hits) {
    HIT_IF(r, hits, within(domain[row], l));
}

static ALWAYS_INLINE void hit_survivors(const block_table *b, piece_rows r,
                                        uint8_t *restrict hits) {
    const uint32_t *restrict died = b->times[BLOCKS_DIED].low;
    if (blocks_are_long(b))
        HIT_IF(r, hits, blocks_died(b, row) == BLOCKS_NEVER);
    else
        HIT_IF(r, hits, died[row] == BLOCKS_SHORT);
}

static ALWAYS_INLINE void hit_promoted(const bits_word *restrict promoted, piece_rows r,
                                       uint8_t *restrict hits) {
    if (promoted)
        HIT_IF(r, hits, bits_has(promoted, (uint32_t)row));
}

/* The major heap also has the blocks that were promoted to it. */
static ALWAYS_INLINE void hit_heap(const block_table *b, piece_rows r, memtrace_source heap,
                                   uint8_t *restrict hits) {
    const uint8_t *restrict source = b->source, of = (uint8_t)heap;
    HIT_IF(r, hits, source[row] == of);
    if (heap == MEMTRACE_MAJOR)
        hit_promoted(b->promoted, r, hits);
}

/* Bit 0 of a node's mark is for blocks in a heap, bit 1 for external blocks; see module.h. */
static ALWAYS_INLINE void hit_modules(const block_table *b, piece_rows r,
                                      const uint8_t *restrict nodes, uint8_t *restrict hits) {
    const uint32_t *restrict node = b->node;
    const uint8_t *restrict source = b->source;
    HIT_IF(r, hits, nodes[node[row]] >> (source[row] == MEMTRACE_EXTERNAL) & 1);
}

static ALWAYS_INLINE void hit_nodes(const uint32_t *restrict node, piece_rows r,
                                    const uint8_t *restrict nodes, uint8_t *restrict hits) {
    HIT_IF(r, hits, nodes[node[row]]);
}

static bool is_of_spans(filter_kind kind) {
    return filter_kind_spans(kind) != SPAN_N_KINDS;
}

/* Returns the index of the row's span or, after all spans, of the domain of a row without one. */
static inline size_t spans_index(const block_table *b, span_kind kind, size_t row,
                                 span_cursor *at) {
    const uint32_t span = spans_at(b, kind, row, at);
    return span == SPAN_NONE ? b->spans.count + b->domain[row] : span;
}

static ALWAYS_INLINE void hit_spans(const block_table *b, span_kind kind, piece_rows r,
                                    const uint8_t *restrict spans, uint8_t *restrict hits) {
    span_cursor at = {0};
    for (size_t i = 0; i < r.n; i++)
        hits[i] |= spans[spans_index(b, kind, r.at + (r.list ? r.list[i] : i), &at)];
}

/* ---- patterns ---------------------------------------------------------------------------- */

/* Caches by string whether a pattern matches. Equal strings of a profile are the same pointer. */
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

/* Marks the nodes to which the pattern applies. Functions and files may be anywhere in the stack; a
 * type is that of the innermost frame. */
static bool mark_nodes(const profile *p, filter_kind kind, const filter_pattern *pattern,
                       uint8_t *nodes) {
    const cct *tree = &p->tree;
    const size_t n_frames = p->frames.count;
    uint8_t *frames = malloc(n_frames + 1), *own = calloc(cct_count(tree) + 1, 1);
    matcher m = {.pattern = pattern};
    const bool ok = frames && own;
    for (size_t i = 0; ok && i < n_frames; i++)
        frames[i] = frame_matches(p, (uint32_t)i, kind, &m);
    size_t chains = 1; /* begun so far; the root is the first */
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

static uint16_t last_domain(const block_table *b) {
    uint16_t last = 0;
    for (size_t i = 0; i < b->count; i++)
        last = b->domain[i] > last ? b->domain[i] : last;
    return last;
}

static void mark_spans(const block_table *b, span_kind kind, const filter_pattern *pattern,
                       uint8_t *spans) {
    const size_t n = b->spans.count, last = last_domain(b);
    char unnamed[SPAN_UNNAMED] = "";
    for (size_t i = 0; i < n; i++)
        spans[i] |= b->spans.items[i].kind == kind && filter_match(pattern, b->spans.items[i].text);
    for (size_t i = 0; i <= last; i++) {
        if (kind == SPAN_THREAD)
            spans_unnamed((uint16_t)i, unnamed);
        spans[n + i] |= filter_match(pattern, unnamed);
    }
}

static bool module_matches(const void *pattern, const char *module) {
    return filter_match(pattern, module);
}

/* ---- preparing --------------------------------------------------------------------------- */

static bool find_peak(evaluation *e, const filter_value *v) {
    bool asks = v->low.anchor == ANCHOR_PEAK || v->high.anchor == ANCHOR_PEAK;
    if (!asks || e->has_peak)
        return true;
    e->has_peak = true;
    return blocks_peak(&e->profile->table, &e->peak);
}

/* The parser has checked bounds of the same kind. */
static bool ends_before_it_begins(const filter_value *v, const evaluation *e) {
    return v->low.set && v->high.set && v->low.anchor != v->high.anchor &&
           v->high.anchor != ANCHOR_END && bound_value(&v->low, e) > bound_value(&v->high, e);
}

bool filter_fits(const filter *f, const profile *p, filter_error *error) {
    evaluation e = {.profile = p};
    for (size_t i = 0; f && i < f->terms.count; i++) {
        const filter_term *t = &f->terms.items[i];
        for (size_t j = 0; filter_values_of[t->kind] == VALUES_TIME && j < t->values.count; j++) {
            const filter_value *v = &t->values.items[j];
            if (!find_peak(&e, v)) {
                *error = (filter_error){.reason = "not enough memory"};
                return false;
            }
            if (!ends_before_it_begins(v, &e))
                continue;
            const bool at_peak = v->low.anchor == ANCHOR_PEAK || v->high.anchor == ANCHOR_PEAK;
            *error = (filter_error){.column = t->column};
            snprintf(error->reason, sizeof error->reason,
                     "the range ends before it begins: %s is at %" PRIu64 "us in this trace",
                     at_peak ? "@peak" : "@end", at_peak ? e.peak.at.time : p->duration);
            return false;
        }
    }
    return true;
}

static uint32_t place_of(const filter_bound *b, const evaluation *e) {
    return b->set && b->anchor == ANCHOR_PEAK && !b->strict ? e->peak.at.place : BLOCKS_NOWHERE;
}

static bool prepare_value(evaluation *e, prepared_term *t, const filter_value *v) {
    const filter_kind kind = t->term->kind;
    if (!find_peak(e, v))
        return false;
    if (kind == FILTER_MODULE)
        return module_mark_nodes(e->profile, module_matches, &v->pattern, t->nodes);
    if (is_of_spans(kind)) {
        mark_spans(&e->profile->table, filter_kind_spans(kind), &v->pattern, t->nodes);
        return true;
    }
    if (t->nodes)
        return mark_nodes(e->profile, kind, &v->pattern, t->nodes);
    const prepared_value value = {.limits =
                                      kind == FILTER_SIZE ? resolve_size(v, e) : resolve(v, e, 1),
                                  .from = place_of(&v->low, e),
                                  .to = place_of(&v->high, e),
                                  .heap = v->heap};
    return value.limits.low > value.limits.high || vec_push(&t->values, value);
}

static bool prepare_term(evaluation *e, const filter_term *term) {
    if (!vec_push(&e->terms, (prepared_term){.term = term}))
        return false;
    prepared_term *t = &e->terms.items[e->terms.count - 1];
    const size_t n = is_of_spans(term->kind) ? e->profile->table.spans.count + UINT16_MAX
                                             : cct_count(&e->profile->tree);
    if (filter_kind_has_patterns(term->kind) && !(t->nodes = calloc(n + 1, 1)))
        return false;
    for (size_t i = 0; i < term->values.count; i++)
        if (!prepare_value(e, t, &term->values.items[i]))
            return false;
    return true;
}

/* Marks the stacks that remain after the first `n_terms` have cut and folded them. */
static bool mark_stacks(evaluation *e, const filter *f, size_t n_terms) {
    const filter_term *term = &f->terms.items[n_terms - 1];
    const size_t n = cct_count(&e->profile->tree);
    uint8_t *nodes = calloc(n + 1, 1);
    if (!nodes || !vec_push(&e->terms, ((prepared_term){.term = term, .nodes = nodes}))) {
        free(nodes);
        return false;
    }
    lens l;
    const bool ok = lens_init_of(&l, e->profile, false, f, n_terms);
    for (size_t i = 0; ok && i < n; i++)
        nodes[i] = l.shape->of[i] != SHAPE_NOWHERE;
    lens_free(&l);
    return ok;
}

static bool prepare(evaluation *e, const filter *f) {
    for (size_t i = 0; f && i < f->terms.count; i++) {
        const filter_kind kind = f->terms.items[i].kind;
        if (filter_kind_cuts(kind)
                ? !mark_stacks(e, f, i + 1)
                : !filter_kind_looks(kind) && !prepare_term(e, &f->terms.items[i]))
            return false;
    }
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

static ALWAYS_INLINE void hit_value(const evaluation *e, filter_kind kind, const prepared_value *v,
                                    piece_rows r, uint8_t *hits) {
    const block_table *b = &e->profile->table;
    switch (kind) {
    case FILTER_ALLOC:
        hit_births(b, r, v->limits, hits);
        return;
    case FILTER_LIVE:
        if (v->from == BLOCKS_NOWHERE && v->to == BLOCKS_NOWHERE)
            hit_live(b, r, v->limits, hits);
        else
            hit_live_at_peak(b, r, v, hits);
        return;
    case FILTER_LIFE:
        hit_lifetimes(b, r, e->profile->duration, v->limits, hits);
        return;
    case FILTER_SIZE:
        hit_sizes(b, r, v->limits, hits);
        return;
    case FILTER_DOMAIN:
        hit_domains(b->domain, r, v->limits, hits);
        return;
    case FILTER_HEAP:
        hit_heap(b, r, v->heap, hits);
        return;
    default:
        return;
    }
}

static ALWAYS_INLINE void hit_term(const evaluation *e, const prepared_term *t, piece_rows r,
                                   uint8_t *hits) {
    const block_table *b = &e->profile->table;
    const filter_kind kind = t->term->kind;
    memset(hits, 0, r.n);
    if (kind == FILTER_PROMOTED)
        hit_promoted(b->promoted, r, hits);
    if (kind == FILTER_SURVIVED)
        hit_survivors(b, r, hits);
    if (t->nodes && kind == FILTER_MODULE)
        hit_modules(b, r, t->nodes, hits);
    else if (is_of_spans(kind))
        hit_spans(b, filter_kind_spans(kind), r, t->nodes, hits);
    else if (t->nodes)
        hit_nodes(b->node, r, t->nodes, hits);
    for (size_t i = 0; i < t->values.count; i++)
        hit_value(e, kind, &t->values.items[i], r, hits);
}

/* ---- lists of what is left ----------------------------------------------------------------- */

/* Lists the marked ones of `n` rows from `begin` on, without an unpredictable branch per row.
 * Returns how many. */
static inline size_t list_some(const uint8_t *marks, size_t begin, size_t n, uint16_t *list) {
    size_t n_listed = 0;
    for (size_t i = begin; i < begin + n; i++) {
        list[n_listed] = (uint16_t)i;
        n_listed += marks[i];
    }
    return n_listed;
}

/* Lists all marked rows of a piece. If few are marked, most groups of eight have none. */
static size_t list_marks(const uint8_t *marks, size_t n, size_t n_marked, uint16_t *list) {
    size_t n_listed = 0, i = 0;
    if (n_marked > n / 32)
        return list_some(marks, 0, n, list);
    for (uint64_t some; i + sizeof some <= n; i += sizeof some) {
        memcpy(&some, marks + i, sizeof some);
        if (some)
            n_listed += list_some(marks, i, sizeof some, list + n_listed);
    }
    return n_listed + list_some(marks, i, n - i, list + n_listed);
}

/* Keeps the rows in the list that are hit, or with `flip` those that are not. */
static size_t keep_hits(const uint8_t *hits, size_t n, uint8_t flip, uint16_t *list) {
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++) {
        list[n_left] = list[i];
        n_left += hits[i] ^ flip;
    }
    return n_left;
}

static size_t list_all(size_t n, uint16_t *list) {
    for (size_t i = 0; i < n; i++)
        list[i] = (uint16_t)i;
    return n;
}

/* The rows of a piece that are left: as marks of all rows or, once they are few, as a list. */
typedef struct rows_left {
    uint8_t *marks;
    uint16_t *list;
    bool listed;
    size_t n;
} rows_left;

enum { LISTED_BELOW = 8 /* rows are listed when fewer than one of so many is left */ };

/* Leaves those of `n` marks that are hit, or with `flip` the others, and counts them in `*left`. */
static ALWAYS_INLINE void mark_hits(const uint8_t *restrict hits, size_t n, uint8_t flip,
                                    uint8_t *restrict marks, size_t *left) {
    size_t i = 0, sum = 0;
    for (; i + STRIDE <= n; i += STRIDE) {
        uint8_t some = 0; /* at most STRIDE */
        for (size_t j = 0; j < STRIDE; j++)
            some = (uint8_t)(some + (marks[i + j] &= hits[i + j] ^ flip));
        sum += some;
    }
    for (; i < n; i++)
        sum += marks[i] &= hits[i] ^ flip;
    *left = sum;
}

/* While many rows are left, it is faster to look at all rows than at a list. */
static ALWAYS_INLINE void scan_term(const evaluation *e, const prepared_term *t, size_t at,
                                    size_t n, rows_left *r) {
    uint8_t hits[FILTER_PIECE];
    const uint8_t flip = t->term->negated;
    if (r->listed) {
        hit_term(e, t, (piece_rows){.at = at, .n = r->n, .list = r->list}, hits);
        r->n = keep_hits(hits, r->n, flip, r->list);
        return;
    }
    hit_term(e, t, (piece_rows){.at = at, .n = n}, hits);
    mark_hits(hits, n, flip, r->marks, &r->n);
    r->listed = r->n < n / LISTED_BELOW;
    if (r->listed)
        r->n = list_marks(r->marks, n, r->n, r->list);
}

static size_t scan_piece(const evaluation *e, size_t at, size_t n, size_t *left, uint16_t *list) {
    uint8_t marks[FILTER_PIECE];
    rows_left r = {.marks = marks, .list = list, .n = n};
    if (e->terms.count == 0)
        return list_all(n, list);
    memset(marks, 1, n);
    for (size_t i = 0; r.n > 0 && i < e->terms.count; i++) {
        scan_term(e, &e->terms.items[i], at, n, &r);
        left[i] += r.n;
    }
    return r.listed ? r.n : list_marks(marks, n, r.n, list);
}

static void scan_part(void *context, size_t part) {
    const evaluation *e = context;
    const size_t rows = e->profile->table.count, end = parallel_begin(rows, e->parts, part + 1);
    size_t *left = e->left + part * e->terms.count;
    uint16_t list[FILTER_PIECE];
    for (size_t at = parallel_begin(rows, e->parts, part); at < end; at += FILTER_PIECE) {
        const size_t n = end - at < FILTER_PIECE ? end - at : FILTER_PIECE;
        const size_t n_left = scan_piece(e, at, n, left, list);
        e->visit(e->context, part, (filter_piece){.at = at, .n = n_left, .list = list});
    }
}

/* Whether the name of a term is enough to tell which term it is. */
static bool is_clear(const filter *f, const filter_term *term) {
    size_t n_alike = 0;
    for (size_t i = 0; i < f->terms.count; i++)
        n_alike += f->terms.items[i].kind == term->kind;
    return n_alike == 1 && !term->negated;
}

static void count_kept(const filter *f, const evaluation *e, selection *s) {
    for (size_t i = 0; i < e->terms.count; i++) {
        const filter_term *term = e->terms.items[i].term;
        const size_t before = s->n_kept;
        s->n_kept = 0;
        for (size_t part = 0; part < e->parts; part++)
            s->n_kept += e->left[part * e->terms.count + i];
        if (s->n_kept == 0 && before > 0) {
            const bool clear = is_clear(f, term);
            s->n_removed = before;
            s->term_at = clear ? term->at : term->whole_at;
            s->term_size = clear ? term->size : term->whole_size;
        }
    }
}

bool filter_scan(const filter *f, const profile *p, size_t parts, filter_visit *visit,
                 void *context, selection *s) {
    const size_t rows = p->table.count;
    evaluation e = {.profile = p, .parts = parts, .visit = visit, .context = context};
    *s = (selection){.n_kept = rows, .n_of = rows};
    bool ok = prepare(&e, f) && (e.left = calloc(parts * e.terms.count + 1, sizeof *e.left));
    if (ok) {
        parallel_run(parts, scan_part, &e);
        count_kept(f, &e, s);
    }
    evaluation_free(&e);
    return ok;
}

static void mark_kept(void *context, size_t part, filter_piece piece) {
    uint8_t *kept = context;
    (void)part;
    for (size_t i = 0; i < piece.n; i++)
        kept[piece.at + piece.list[i]] = 1;
}

const uint8_t *selection_rows(const selection *s) {
    return s->kept && memchr(s->kept, 0, s->n_of) ? s->kept : NULL;
}

bool filter_select(const filter *f, const profile *p, selection *s) {
    const size_t n = p->table.count;
    uint8_t *kept = calloc(n + 1, 1);
    const bool ok = kept && filter_scan(f, p, parallel_parts(n), mark_kept, kept, s);
    if (ok)
        s->kept = kept;
    else
        free(kept);
    return ok;
}

bool filter_is_of_stacks(const filter *f) {
    for (size_t i = 0; f && i < f->terms.count; i++) {
        const filter_kind kind = f->terms.items[i].kind;
        if (kind != FILTER_FN && kind != FILTER_FILE && kind != FILTER_TYPE &&
            !filter_kind_looks(kind))
            return false;
    }
    return filter_selects(f);
}

static bool keeps_stack(const evaluation *e, uint32_t node, uint64_t blocks) {
    for (size_t i = 0; i < e->terms.count; i++) {
        const prepared_term *t = &e->terms.items[i];
        if (t->nodes[node] == t->term->negated)
            return false;
        e->left[i] += blocks;
    }
    return true;
}

bool filter_select_stacks(const filter *f, const profile *p, uint8_t **kept, selection *s) {
    const cct *tree = &p->tree;
    const size_t rows = p->table.count;
    evaluation e = {.profile = p, .parts = 1};
    *s = (selection){.n_kept = rows, .n_of = rows};
    *kept = calloc(tree->totals.count + 1, 1);
    const bool ok = *kept && prepare(&e, f) && (e.left = calloc(e.terms.count + 1, sizeof *e.left));
    for (uint32_t i = 0; ok && i < tree->totals.count; i++)
        (*kept)[i] = keeps_stack(&e, tree->totals.items[i].node, cct_sums_at(tree, i).blocks);
    if (ok)
        count_kept(f, &e, s);
    evaluation_free(&e);
    return ok;
}

void selection_free(selection *s) {
    free(s->kept);
    s->kept = NULL;
}

bool filter_selects(const filter *f) {
    for (size_t i = 0; f && i < f->terms.count; i++)
        if (!filter_kind_looks(f->terms.items[i].kind) || filter_kind_cuts(f->terms.items[i].kind))
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
        [FILTER_MODULE] = BLOCKS_HAS(node) | BLOCKS_HAS(source),
        [FILTER_TYPE] = BLOCKS_HAS(node),
        [FILTER_THREAD] = BLOCKS_HAS(domain),
        [FILTER_SCOPE] = BLOCKS_HAS(domain),
        [FILTER_TRACE] = BLOCKS_HAS(domain),
        [FILTER_SPAN] = BLOCKS_HAS(domain),
        [FILTER_DOMAIN] = BLOCKS_HAS(domain),
        [FILTER_PROMOTED] = BLOCKS_HAS(promoted),
        [FILTER_SURVIVED] = BLOCKS_HAS(died),
        [FILTER_BELOW] = BLOCKS_HAS(node),
        [FILTER_ABOVE] = BLOCKS_HAS(node),
        [FILTER_PATH] = BLOCKS_HAS(node),
    };
    unsigned all = columns[t->kind];
    for (size_t i = 0; i < t->values.count; i++) /* to find the peak */
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

/* ---- what is kept, whatever the trace is --------------------------------------------------- */

static limits limits_of(const filter_term *t, const filter_value *v, const evaluation *e) {
    return t->kind == FILTER_SIZE ? resolve_size(v, e) : resolve(v, e, 1);
}

static bool accepts(const filter_term *t, const evaluation *e, uint64_t x) {
    bool hit = false;
    for (size_t i = 0; i < t->values.count; i++) {
        const limits l = limits_of(t, &t->values.items[i], e);
        hit = hit || (l.low <= l.high && within(x, l));
    }
    return hit != t->negated;
}

static bool all_accept(const filter *f, filter_kind kind, const evaluation *e, uint64_t x) {
    bool ok = true;
    for (size_t i = 0; ok && i < f->terms.count; i++)
        ok = f->terms.items[i].kind != kind || accepts(&f->terms.items[i], e, x);
    return ok;
}

/* Returns the least number, or the largest up to `best`, that all terms of this kind keep. It is
 * `best` or adjacent to a bound. If no number is kept, returns `best`. */
static uint64_t extreme(const filter *f, filter_kind kind, const evaluation *e, bool least,
                        uint64_t best) {
    bool any = all_accept(f, kind, e, best);
    uint64_t found = best;
    for (size_t i = 0; i < f->terms.count; i++) {
        const filter_term *t = &f->terms.items[i];
        for (size_t j = 0; t->kind == kind && j < t->values.count; j++) {
            const limits l = limits_of(t, &t->values.items[j], e);
            const uint64_t at[] = {l.low, l.high, l.high + 1, l.low - (l.low > 0)};
            for (size_t k = 0; k < sizeof at / sizeof *at; k++)
                if ((least || at[k] <= best) && (!any || (least ? at[k] < found : at[k] > found)) &&
                    all_accept(f, kind, e, at[k])) {
                    found = at[k];
                    any = true;
                }
        }
    }
    return found;
}

filter_bounds filter_bounds_of(const filter *f, const profile *p) {
    const evaluation e = {.profile = p};
    if (!f)
        return (filter_bounds){0};
    const uint64_t length = extreme(f, FILTER_SIZE, &e, true, 0);
    const uint64_t life = extreme(f, FILTER_LIFE, &e, false, p->duration);
    return (filter_bounds){.least_words = length > 0 ? length + 1 : 0,
                           .life_below = life < p->duration ? life + 1 : 0};
}

bool filter_hides_any(const filter *f) {
    for (size_t i = 0; f && i < f->terms.count; i++)
        if (filter_kind_looks(f->terms.items[i].kind))
            return true;
    return false;
}

size_t filter_shape_terms(const filter *f) {
    size_t n = 0;
    for (size_t i = 0; f && i < f->terms.count; i++)
        if (filter_kind_folds(f->terms.items[i].kind))
            n = i + 1;
    return n;
}

static bool hides(const filter *f, filter_kind kind, const char *text) {
    for (size_t i = 0; f && i < f->terms.count; i++) {
        const filter_term *t = &f->terms.items[i];
        for (size_t j = 0; t->kind == kind && j < t->values.count; j++)
            if (filter_match(&t->values.items[j].pattern, text))
                return true;
    }
    return false;
}

bool filter_hides(const filter *f, const char *function) {
    return hides(f, FILTER_HIDE, function);
}

bool filter_hides_module(const filter *f, const char *module) {
    return hides(f, FILTER_HIDE_MODULE, module);
}

static bool hides_file(const filter_term *t, const filter_pattern *p, const char *file) {
    if (t->kind == FILTER_HIDE)
        return p->how == MATCH_LIBRARY && name_is_library_file(file);
    return t->kind == FILTER_HIDE_FILE && filter_match(p, file);
}

bool filter_hides_file(const filter *f, const char *file) {
    for (size_t i = 0; f && i < f->terms.count; i++) {
        const filter_term *t = &f->terms.items[i];
        for (size_t j = 0; j < t->values.count; j++)
            if (hides_file(t, &t->values.items[j].pattern, file))
                return true;
    }
    return false;
}

bool filter_hides_modules(const filter *f) {
    for (size_t i = 0; f && i < f->terms.count; i++)
        if (f->terms.items[i].kind == FILTER_HIDE_MODULE)
            return true;
    return false;
}

bool filter_hides_files(const filter *f) {
    for (size_t i = 0; f && i < f->terms.count; i++) {
        const filter_term *t = &f->terms.items[i];
        bool any = t->kind == FILTER_HIDE_FILE;
        for (size_t j = 0; t->kind == FILTER_HIDE && j < t->values.count; j++)
            any |= t->values.items[j].pattern.how == MATCH_LIBRARY;
        if (any)
            return true;
    }
    return false;
}
