/* classes.c: a hash map leads from (stack, heap, size, lifetime) to its sum, in one pass over the
 * table. */
#include "query/classes.h"

#include "query/groups.h"

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

static classes_group group_of(const profile *p, size_t row, const char *thread) {
    const block_table *b = &p->table;
    return (classes_group){.node = b->node[row],
                           .source = (memtrace_source)b->source[row],
                           .thread = thread,
                           .size = size_class(blocks_length(b, row) * (p->info.word_size / 8)),
                           .lifetime = lifetime_class_of(blocks_born(b, row), blocks_died(b, row))};
}

enum { SIZE_BITS = 7, LIFETIME_BITS = 3, SOURCE_BITS = 2, THREAD_BITS = 20, CLASSES_BITS = 32 };

static uint64_t key_of(const classes_group *g, uint32_t thread) {
    _Static_assert(SIZE_BITS + LIFETIME_BITS + SOURCE_BITS + THREAD_BITS == CLASSES_BITS, "all");
    uint64_t key = (uint64_t)g->node << THREAD_BITS | thread;
    key = key << SOURCE_BITS | (uint64_t)g->source;
    key = key << LIFETIME_BITS | (uint64_t)g->lifetime;
    return key << SIZE_BITS | g->size;
}

/* That is told: threads without a name are one, as are those beyond what a key has room for. */
static uint32_t thread_of(const groups *threads, size_t row, const char **name) {
    const uint32_t at = threads->of_row[row];
    *name = at + 1 < UINT32_C(1) << THREAD_BITS ? threads->items.items[at].name : NULL;
    return *name ? at + 1 : 0;
}

static bool add_row(const profile *p, size_t row, const groups *threads, map64 *index,
                    classes_list *list) {
    const char *name;
    const uint32_t thread = thread_of(threads, row, &name);
    const classes_group new = group_of(p, row, name);
    uint32_t *at = map64_put(index, key_of(&new, thread));
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
    groups threads;
    *list = (classes_list){0};
    bool ok = groups_find_spans(p, kept, GROUPS_BY_THREAD, &threads);
    for (size_t i = 0; ok && i < p->table.count; i++)
        ok = (kept && !kept[i]) || add_row(p, i, &threads, &index, list);
    groups_free(&threads);
    map64_free(&index);
    if (!ok)
        vec_free(list);
    return ok;
}
