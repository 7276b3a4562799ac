/* classes.c: rows are sorted by stack in a counting sort. The few rows of a stack are sorted by a
 * key that holds the rest. There may be as many groups as blocks, so only one group exists at a
 * time. A thread name and a scope make a pair, numbered because there are few distinct pairs. */
#include "query/classes.h"

#include "base/large.h"
#include "profile/spans.h"

static const struct {
    const char *text;
    uint64_t below;
} lifetimes[] = {
#define LIFETIME_CLASS(name, text, below) {text, below},
    LIFETIME_CLASSES(LIFETIME_CLASS)
#undef LIFETIME_CLASS
};

const char *lifetime_class_text(lifetime_class c) {
    return lifetimes[c].text;
}

lifetime_class lifetime_class_of(uint64_t born, uint64_t died) {
    if (died == BLOCKS_NEVER)
        return LIFETIME_ALIVE;
    int c = 0;
    while (died - born >= lifetimes[c].below && c < LIFETIME_LONG)
        c++;
    return (lifetime_class)c;
}

static unsigned size_class(uint64_t bytes) {
    unsigned bits = 0;
    for (; bytes > 0; bytes >>= 1)
        bits++;
    return bits;
}

/* ---- who allocates ----------------------------------------------------------------------- */

/* The names of a thread and a scope. They are interned: equal names are the same pointer. */
typedef struct who {
    const char *thread, *scope; /* NULL: no name */
} who;

typedef struct whos {
    const block_table *blocks;
    span_cursor of_thread, of_scope;
    map64 names;   /* name → its number */
    map64 numbers; /* numbers of the two names → number of the pair */
    VEC(who) all;  /* by number */
    who last;      /* neighboring rows mostly have the same pair */
    uint32_t last_number;
    uint32_t *of_row; /* NULL: no row has a name */
} whos;

/* Numbers names from 1 on; 0: no name. False when there is no memory. */
static bool name_number(whos *w, const char *name, uint64_t *number) {
    uint32_t n;
    *number = 0;
    if (name && !map64_number(&w->names, (uintptr_t)name, &n))
        return false;
    *number = name ? n + UINT64_C(1) : 0;
    return true;
}

/* Finds the number of a pair that differs from the last one. */
static bool learn_who(whos *w, const who *is) {
    uint64_t thread, scope;
    if (!name_number(w, is->thread, &thread) || !name_number(w, is->scope, &scope) ||
        !map64_number(&w->numbers, thread << 32 | scope, &w->last_number))
        return false;
    w->last = *is;
    return w->last_number < w->all.count || vec_push(&w->all, *is);
}

/* Names hold for spans of rows, so they are looked up in the order of rows. */
static bool find_whos(whos *w, const uint8_t *kept) {
    const block_table *b = w->blocks;
    bool ok = learn_who(w, &(who){0});
    if (!ok || b->spans.count == 0)
        return ok;
    w->of_row = large_new(b->count + 1, sizeof *w->of_row);
    ok = w->of_row;
    for (size_t i = 0; ok && i < b->count; i++) {
        if (kept && !kept[i])
            continue;
        const who is = {spans_text(b, SPAN_THREAD, i, &w->of_thread),
                        spans_text(b, SPAN_SCOPE, i, &w->of_scope)};
        if (is.thread != w->last.thread || is.scope != w->last.scope)
            ok = learn_who(w, &is);
        w->of_row[i] = w->last_number;
    }
    return ok;
}

static void whos_free(whos *w) {
    map64_free(&w->names);
    map64_free(&w->numbers);
    vec_free(&w->all);
    free(w->of_row);
}

/* ---- rows of a stack --------------------------------------------------------------------- */

/* Rows sorted by stack, and where each stack's rows end. */
typedef struct stack_rows {
    uint32_t *ends, *rows;
} stack_rows;

static bool sort_rows(const profile *p, const uint8_t *kept, stack_rows *s) {
    const block_table *b = &p->table;
    const size_t n_stacks = p->tree.n_stacks;
    s->ends = large_zeroed(n_stacks + 2, sizeof *s->ends);
    s->rows = large_new(b->count + 1, sizeof *s->rows);
    if (!s->ends || !s->rows)
        return false;
    for (size_t i = 0; i < b->count; i++)
        if (!kept || kept[i])
            s->ends[cct_stack(&p->tree, b->node[i]) + 1]++;
    for (size_t stack = 0; stack <= n_stacks; stack++)
        s->ends[stack + 1] += s->ends[stack];
    for (size_t i = 0; i < b->count; i++)
        if (!kept || kept[i])
            s->rows[s->ends[cct_stack(&p->tree, b->node[i])]++] = (uint32_t)i;
    return true;
}

/* ---- groups ------------------------------------------------------------------------------ */

enum { SIZE_BITS = 7, LIFETIME_BITS = 3, SOURCE_BITS = 2 };

typedef struct keyed_row {
    uint64_t key;
    uint32_t row;
} keyed_row;

typedef struct grouping {
    const profile *profile;
    whos whos;
    stack_rows sorted;
    VEC(keyed_row) rows; /* of one stack */
    estimate_chances chances;
} grouping;

static uint64_t key_of(const grouping *g, size_t row) {
    const block_table *b = &g->profile->table;
    uint64_t key = g->whos.of_row ? g->whos.of_row[row] : 0;
    key = key << SOURCE_BITS | b->source[row];
    key = key << LIFETIME_BITS |
          (uint64_t)lifetime_class_of(blocks_born(b, row), blocks_died(b, row));
    return key << SIZE_BITS | size_class(blocks_length(b, row) * (g->profile->info.word_size / 8));
}

static classes_group group_of(const grouping *g, const keyed_row *first) {
    uint64_t key = first->key;
    classes_group new = {.node = g->profile->table.node[first->row]};
    new.size = key &((1u << SIZE_BITS) - 1);
    key >>= SIZE_BITS;
    new.lifetime = (lifetime_class)(key & ((1u << LIFETIME_BITS) - 1));
    key >>= LIFETIME_BITS;
    new.source = (memtrace_source)(key & ((1u << SOURCE_BITS) - 1));
    const who *is = &g->whos.all.items[key >> SOURCE_BITS];
    new.thread = is->thread;
    new.scope = is->scope;
    return new;
}

static int compare_rows(const void *a, const void *b) {
    const keyed_row *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Mostly there is one row, or the rows are sorted already. */
static bool order_rows(grouping *g, const uint32_t *rows, size_t n) {
    bool ordered = true;
    vec_clear(&g->rows);
    for (size_t i = 0; i < n; i++) {
        const keyed_row next = {.key = key_of(g, rows[i]), .row = rows[i]};
        ordered &= i == 0 || g->rows.items[i - 1].key <= next.key;
        if (!vec_push(&g->rows, next))
            return false;
    }
    if (!ordered)
        qsort(g->rows.items, n, sizeof *g->rows.items, compare_rows);
    return true;
}

static bool take_groups(const grouping *g, bool (*take)(void *context, const classes_group *g),
                        void *context) {
    const block_table *b = &g->profile->table;
    bool ok = true;
    for (size_t i = 0, n = g->rows.count; ok && i < n;) {
        const keyed_row *first = &g->rows.items[i];
        classes_group new = group_of(g, first);
        for (; i < n && g->rows.items[i].key == first->key; i++) {
            const uint32_t row = g->rows.items[i].row;
            new.samples += blocks_samples(b, row);
            estimate_blocks_add_chance(&new.blocks,
                                       estimate_chance(&g->chances, blocks_length(b, row) + 1));
        }
        ok = take(context, &new);
    }
    return ok;
}

bool classes_query(const profile *p, const uint8_t *kept,
                   bool (*take)(void *context, const classes_group *g), void *context) {
    grouping g = {.profile = p, .whos = {.blocks = &p->table}};
    estimate_chances_init(&g.chances, p->info.sample_rate);
    bool ok = p->table.count == 0 || (find_whos(&g.whos, kept) && sort_rows(p, kept, &g.sorted));
    for (size_t stack = 0, at = 0; ok && g.sorted.ends && stack < p->tree.n_stacks; stack++) {
        const size_t end = g.sorted.ends[stack];
        ok = order_rows(&g, g.sorted.rows + at, end - at) && take_groups(&g, take, context);
        at = end;
    }
    whos_free(&g.whos);
    free(g.sorted.ends);
    free(g.sorted.rows);
    vec_free(&g.rows);
    return ok;
}
