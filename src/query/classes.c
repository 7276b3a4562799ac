/* classes.c: a hash map leads from (stack, who, heap, size, lifetime) to its sum, in one pass over
 * the table. Who is a thread's name and a scope: few pairs of many, so that a pair has a number. */
#include "query/classes.h"

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

enum { SIZE_BITS = 7, LIFETIME_BITS = 3, SOURCE_BITS = 2, WHO_BITS = 20, CLASSES_BITS = 32 };

/* What threads and scopes are called is interned: equal names are the same pointer. */
typedef struct who {
    const char *thread, *scope; /* NULL: without a name */
} who;

typedef struct whos {
    const block_table *blocks;
    span_cursor of_thread, of_scope;
    map64 names;   /* to their numbers */
    map64 numbers; /* by the numbers of the two names */
    who last;      /* rows beside each other are mostly of the same */
    uint32_t last_number;
} whos;

/* From 1 on; 0: without a name. False when there is no memory. */
static bool name_number(whos *w, const char *name, uint64_t *number) {
    uint32_t n;
    *number = 0;
    if (name && !map64_number(&w->names, (uintptr_t)name, &n))
        return false;
    *number = name ? n + UINT64_C(1) : 0;
    return true;
}

/* The same of a pair that is not the last one's. */
static bool learn_who(whos *w, const who *is) {
    uint64_t thread, scope;
    uint32_t n;
    if (!name_number(w, is->thread, &thread) || !name_number(w, is->scope, &scope) ||
        !map64_number(&w->numbers, thread << 32 | scope, &n))
        return false;
    w->last = *is;
    w->last_number = is->thread || is->scope ? n + 1 : 0;
    return true;
}

/* Of the row. Those beyond what a key has room for are told as those without names. */
static bool find_who(whos *w, size_t row, who *is, uint32_t *number) {
    *is = (who){spans_text(w->blocks, SPAN_THREAD, row, &w->of_thread),
                spans_text(w->blocks, SPAN_SCOPE, row, &w->of_scope)};
    if ((is->thread != w->last.thread || is->scope != w->last.scope) && !learn_who(w, is))
        return false;
    *number = w->last_number;
    if (*number >> WHO_BITS) {
        *is = (who){0};
        *number = 0;
    }
    return true;
}

/* ---- groups ------------------------------------------------------------------------------ */

static classes_group group_of(const profile *p, size_t row, const who *is) {
    const block_table *b = &p->table;
    return (classes_group){.node = b->node[row],
                           .source = (memtrace_source)b->source[row],
                           .thread = is->thread,
                           .scope = is->scope,
                           .size = size_class(blocks_length(b, row) * (p->info.word_size / 8)),
                           .lifetime = lifetime_class_of(blocks_born(b, row), blocks_died(b, row))};
}

static uint64_t key_of(const classes_group *g, uint32_t number) {
    _Static_assert(SIZE_BITS + LIFETIME_BITS + SOURCE_BITS + WHO_BITS == CLASSES_BITS, "all");
    uint64_t key = (uint64_t)g->node << WHO_BITS | number;
    key = key << SOURCE_BITS | (uint64_t)g->source;
    key = key << LIFETIME_BITS | (uint64_t)g->lifetime;
    return key << SIZE_BITS | g->size;
}

static bool add_row(const profile *p, size_t row, whos *w, map64 *index, classes_list *list) {
    who is;
    uint32_t number;
    if (!find_who(w, row, &is, &number))
        return false;
    const classes_group new = group_of(p, row, &is);
    uint32_t *at = map64_put(index, key_of(&new, number));
    if (!at)
        return false;
    if (*at == MAP64_NONE) {
        *at = (uint32_t)list->count;
        if (!vec_push(list, new))
            return false;
    }
    classes_group *g = &list->items[*at];
    g->samples += blocks_samples(&p->table, row);
    estimate_blocks_add(&g->blocks, blocks_length(&p->table, row) + 1, p->info.sample_rate);
    return true;
}

bool classes_query(const profile *p, const uint8_t *kept, classes_list *list) {
    map64 index = {0};
    whos w = {.blocks = &p->table};
    bool ok = true;
    *list = (classes_list){0};
    for (size_t i = 0; ok && i < p->table.count; i++)
        ok = (kept && !kept[i]) || add_row(p, i, &w, &index, list);
    map64_free(&w.names);
    map64_free(&w.numbers);
    map64_free(&index);
    if (!ok)
        vec_free(list);
    return ok;
}
