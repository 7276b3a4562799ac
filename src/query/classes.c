/* classes.c: a hash map leads from (stack, heap, size, lifetime) to its sum, in one pass over the
 * table. */
#include "query/classes.h"

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

static classes_group group_of(const profile *p, size_t row) {
    const block_table *b = &p->table;
    return (classes_group){.node = b->node[row],
                           .source = (memtrace_source)b->source[row],
                           .size = size_class(blocks_length(b, row) * (p->info.word_size / 8)),
                           .lifetime = lifetime_class_of(blocks_born(b, row), blocks_died(b, row))};
}

static uint64_t key_of(const classes_group *g) {
    return (uint64_t)g->node << 32 | (uint64_t)g->source << 16 | g->size << 8 |
           (uint64_t)g->lifetime;
}

bool classes_query(const profile *p, const uint8_t *kept, classes_list *list) {
    map64 index = {0};
    bool ok = true;
    *list = (classes_list){0};
    for (size_t i = 0; ok && i < p->table.count; i++) {
        if (kept && !kept[i])
            continue;
        const classes_group group = group_of(p, i);
        uint32_t *at = map64_put(&index, key_of(&group));
        if (at && *at == MAP64_NONE) {
            *at = (uint32_t)list->count;
            ok = vec_push(list, group);
        }
        ok = ok && at;
        if (!ok)
            break;
        classes_group *g = &list->items[*at];
        g->samples += blocks_samples(&p->table, i);
        estimate_blocks_add(&g->blocks, blocks_length(&p->table, i) + 1, p->info.sample_rate);
    }
    map64_free(&index);
    if (!ok)
        vec_free(list);
    return ok;
}
