/* filter.c: which blocks a filter keeps; see filter.h. Each term makes one pass over the columns
 * that it is about, in loops that compilers turn into vector code; what depends on a stack is
 * decided once a node of the tree. */
#include "analyse/filter.h"

#include <math.h>
#include <string.h>

#include "analyse/filter_internal.h"

/* What the evaluation of one filter works with. */
typedef struct evaluation {
    const profile *profile;
    uint8_t *hits; /* by row: whether a value of the current term applies */
    uint64_t peak; /* the moment; once it was asked for */
    bool has_peak;
} evaluation;

/* Inclusive; empty if low > high. */
typedef struct limits {
    uint64_t low, high;
} limits;

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

static void hit_times(evaluation *e, const uint64_t *times, limits l) {
    size_t n = e->profile->table.count;
    for (size_t i = 0; i < n; i++)
        e->hits[i] |= (uint8_t)((times[i] >= l.low) & (times[i] <= l.high));
}

/* Live at some moment within the range. */
static void hit_live(evaluation *e, limits l) {
    const block_table *b = &e->profile->table;
    for (size_t i = 0; i < b->count; i++)
        e->hits[i] |= (uint8_t)((b->born[i] <= l.high) & (b->died[i] > l.low));
}

static void hit_lives(evaluation *e, limits l) {
    const block_table *b = &e->profile->table;
    uint64_t end = e->profile->duration;
    for (size_t i = 0; i < b->count; i++) {
        uint64_t life = (b->died[i] < end ? b->died[i] : end) - b->born[i];
        e->hits[i] |= (uint8_t)((life >= l.low) & (life <= l.high));
    }
}

static void hit_sizes(evaluation *e, const filter_value *v) {
    const block_table *b = &e->profile->table;
    filter_value words = *v;
    double word = e->profile->info.word_size / 8.0;
    if (words.low.anchor != ANCHOR_WORDS)
        words.low.value /= word;
    if (words.high.anchor != ANCHOR_WORDS)
        words.high.value /= word;
    limits l = resolve(&words, e, 1);
    for (size_t i = 0; i < b->count; i++) {
        uint64_t length = b->length[i];
        e->hits[i] |= (uint8_t)((length >= l.low) & (length <= l.high));
    }
    for (size_t i = 0; b->large.count && i < b->count; i++)
        if (b->length[i] == BLOCKS_LARGE) {
            uint64_t length = blocks_length(b, i);
            e->hits[i] = (uint8_t)(length >= l.low && length <= l.high);
        }
}

static void hit_domains(evaluation *e, limits l) {
    const block_table *b = &e->profile->table;
    for (size_t i = 0; i < b->count; i++)
        e->hits[i] |= (uint8_t)((b->domain[i] >= l.low) & (b->domain[i] <= l.high));
}

/* The major heap's blocks are also those that were promoted to it. */
static void hit_heap(evaluation *e, memtrace_source heap) {
    const block_table *b = &e->profile->table;
    bool major = heap == MEMTRACE_MAJOR;
    for (size_t i = 0; i < b->count; i++)
        e->hits[i] |=
            (uint8_t)((b->source[i] == heap) | (major & (b->promoted[i] != BLOCKS_NEVER)));
}

static void hit_before(evaluation *e, const uint64_t *times, bool happened) {
    for (size_t i = 0; i < e->profile->table.count; i++)
        e->hits[i] |= (uint8_t)((times[i] != BLOCKS_NEVER) == happened);
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

/* Functions and files are looked for in the whole stack; a type is that of the innermost frame. */
static bool hit_pattern(evaluation *e, filter_kind kind, const filter_pattern *pattern) {
    const profile *p = e->profile;
    size_t n_nodes = cct_count(&p->tree), n_frames = p->frames.count;
    uint8_t *frames = malloc(n_frames + 1), *nodes = calloc(n_nodes + 1, 1);
    matcher m = {.pattern = pattern};
    bool ok = frames && nodes;
    for (size_t i = 0; ok && i < n_frames; i++)
        frames[i] = frame_matches(p, (uint32_t)i, kind, &m);
    for (uint32_t i = 1; ok && i < n_nodes; i++)
        nodes[i] = frames[cct_frame(&p->tree, i)] |
                   (kind != FILTER_TYPE && nodes[cct_parent(&p->tree, i)]);
    for (size_t i = 0; ok && i < p->table.count; i++)
        e->hits[i] |= nodes[p->table.node[i]];
    map64_free(&m.known);
    free(frames);
    free(nodes);
    return ok;
}

/* ---- terms ------------------------------------------------------------------------------- */

static bool find_peak(evaluation *e, const filter_value *v) {
    uint64_t samples;
    bool asks = v->low.anchor == ANCHOR_PEAK || v->high.anchor == ANCHOR_PEAK;
    if (!asks || e->has_peak)
        return true;
    e->has_peak = true;
    return blocks_peak(&e->profile->table, &e->peak, &samples);
}

static bool hit_value(evaluation *e, filter_kind kind, const filter_value *v) {
    const block_table *b = &e->profile->table;
    if (!find_peak(e, v))
        return false;
    switch (kind) {
    case FILTER_ALLOC:
        hit_times(e, b->born, resolve(v, e, 1));
        return true;
    case FILTER_LIVE:
        hit_live(e, resolve(v, e, 1));
        return true;
    case FILTER_LIFE:
        hit_lives(e, resolve(v, e, 1));
        return true;
    case FILTER_SIZE:
        hit_sizes(e, v);
        return true;
    case FILTER_DOMAIN:
        hit_domains(e, resolve(v, e, 1));
        return true;
    case FILTER_HEAP:
        hit_heap(e, v->heap);
        return true;
    case FILTER_FN:
    case FILTER_FILE:
    case FILTER_TYPE:
        return hit_pattern(e, kind, &v->pattern);
    default:
        return true;
    }
}

static bool hit_term(evaluation *e, const filter_term *t) {
    const block_table *b = &e->profile->table;
    memset(e->hits, 0, b->count);
    if (t->kind == FILTER_PROMOTED)
        hit_before(e, b->promoted, true);
    if (t->kind == FILTER_SURVIVED)
        hit_before(e, b->died, false);
    for (size_t i = 0; i < t->values.count; i++)
        if (!hit_value(e, t->kind, &t->values.items[i]))
            return false;
    return true;
}

static void keep_hits(selection *s, const uint8_t *hits, const filter_term *t) {
    size_t before = s->n_kept, n = 0;
    uint8_t flip = t->negated;
    for (size_t i = 0; i < s->n_of; i++) {
        s->kept[i] &= hits[i] ^ flip;
        n += s->kept[i];
    }
    s->n_kept = n;
    if (n == 0 && before > 0) {
        s->n_removed = before;
        s->term_at = t->at;
        s->term_size = t->size;
    }
}

bool filter_select(const filter *f, const profile *p, selection *s) {
    size_t n = p->table.count;
    evaluation e = {.profile = p, .hits = malloc(n + 1)};
    *s = (selection){.kept = malloc(n + 1), .n_kept = n, .n_of = n};
    bool ok = s->kept && e.hits;
    if (ok)
        memset(s->kept, 1, n + 1);
    for (size_t i = 0; ok && f && i < f->terms.count; i++) {
        const filter_term *t = &f->terms.items[i];
        if (t->kind == FILTER_HIDE)
            continue;
        ok = hit_term(&e, t);
        if (ok)
            keep_hits(s, e.hits, t);
    }
    free(e.hits);
    if (!ok)
        selection_free(s);
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
