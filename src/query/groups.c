/* groups.c: threads and classes of lifetimes have small numbers, and an array leads from these to
 * their groups; sites are found through the lens (sites.h). */
#include "query/groups.h"

#include <string.h>

#include "base/large.h"
#include "profile/spans.h"

const char *const groups_by_names[] = {
#define GROUPS_BY_TEXT(name, text) text,
    GROUPS_BY(GROUPS_BY_TEXT)
#undef GROUPS_BY_TEXT
        NULL};

enum { SHORTEST = 1000 /* µs */, NUMBERS = UINT16_MAX + 1 /* of threads, and of classes */ };

uint64_t groups_life(uint32_t class) {
    uint64_t least = SHORTEST;
    if (class == 0)
        return 0;
    if (class >= GROUPS_NEVER_FREED)
        return UINT64_MAX;
    while (class -- > 1)
        least *= 10;
    return least;
}

static uint32_t class_of(const block_table *b, size_t row) {
    const uint64_t died = blocks_died(b, row);
    if (died == BLOCKS_NEVER)
        return GROUPS_NEVER_FREED;
    const uint64_t life = died - blocks_born(b, row);
    uint32_t class = 0;
    while (class + 1 < GROUPS_NEVER_FREED && life >= groups_life(class + 1))
        class ++;
    return class;
}

/* Returns, by span, the first span with its name, so that threads of the same name are one group.
 * NULL when there is no memory. */
static uint32_t *alike(const block_table *b) {
    uint32_t *first = malloc((b->spans.count + 1) * sizeof *first);
    map64 known = {0};
    for (size_t i = 0; first && i < b->spans.count; i++) {
        uint32_t *at = map64_put(&known, (uintptr_t)b->spans.items[i].text);
        if (!at) {
            free(first);
            first = NULL;
            break;
        }
        *at = *at == MAP64_NONE ? (uint32_t)i : *at;
        first[i] = *at;
    }
    map64_free(&known);
    return first;
}

/* Numbers what rows are grouped by. */
typedef struct numbering {
    const block_table *blocks;
    bool by_life;
    span_kind kind; /* unless by_life */
    uint32_t *alike;
    span_cursor at;
} numbering;

/* Returns the number of a row's group. Numbers of names come after those of threads without a name.
 * All rows without a scope are one group, and likewise for other kinds. */
static uint32_t number_of(numbering *n, size_t row) {
    if (n->by_life)
        return class_of(n->blocks, row);
    const uint32_t span = spans_at(n->blocks, n->kind, row, &n->at);
    if (span == SPAN_NONE || !*n->blocks->spans.items[span].text)
        return n->kind == SPAN_THREAD ? n->blocks->domain[row] : 0;
    return NUMBERS + n->alike[span];
}

static group group_of(const numbering *n, uint32_t number) {
    return number < NUMBERS ? (group){.number = number}
                            : (group){.name = n->blocks->spans.items[number - NUMBERS].text};
}

static bool number_rows(numbering *n, const uint8_t *kept, uint32_t *known, groups *g) {
    for (size_t i = 0; i < n->blocks->count; i++) {
        g->of_row[i] = SITES_NONE;
        if (kept && !kept[i])
            continue;
        const uint32_t number = number_of(n, i);
        if (known[number] == SITES_NONE) {
            known[number] = (uint32_t)g->items.count;
            if (!vec_push(&g->items, group_of(n, number)))
                return false;
        }
        g->of_row[i] = known[number];
    }
    return true;
}

static bool find_numbers(const profile *p, const uint8_t *kept, numbering n, groups *g) {
    const block_table *b = &p->table;
    const size_t n_numbers = NUMBERS + b->spans.count;
    n.blocks = b;
    n.alike = alike(b);
    uint32_t *known = large_none(n_numbers); /* SITES_NONE */
    g->of_row = malloc((b->count + 1) * sizeof *g->of_row);
    const bool ok = known && g->of_row && n.alike && number_rows(&n, kept, known, g);
    free(known);
    free(n.alike);
    return ok;
}

static bool find_places(const lens *l, const uint8_t *kept, groups_by by, groups *g) {
    sites s;
    if (!sites_find(l, kept, by == GROUPS_BY_FUNCTION, &s))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < s.places.count; i++)
        ok = vec_push(&g->items, (group){.place = s.places.items[i]});
    g->of_row = s.of_row;
    s.of_row = NULL;
    sites_free(&s);
    return ok;
}

static span_kind kind_of(groups_by by) {
    return by == GROUPS_BY_SCOPE   ? SPAN_SCOPE
           : by == GROUPS_BY_TRACE ? SPAN_TRACE_ID
           : by == GROUPS_BY_SPAN  ? SPAN_SPAN_ID
                                   : SPAN_THREAD;
}

bool groups_find(const lens *l, const uint8_t *kept, groups_by by, groups *g) {
    *g = (groups){0};
    const bool ok =
        by == GROUPS_BY_LINE || by == GROUPS_BY_FUNCTION
            ? find_places(l, kept, by, g)
            : find_numbers(l->profile, kept,
                           (numbering){.by_life = by == GROUPS_BY_LIFE, .kind = kind_of(by)}, g);
    if (!ok)
        groups_free(g);
    return ok;
}

bool groups_find_spans(const profile *p, const uint8_t *kept, span_kind kind, groups *g) {
    *g = (groups){0};
    const bool ok = find_numbers(p, kept, (numbering){.kind = kind}, g);
    if (!ok)
        groups_free(g);
    return ok;
}

void groups_free(groups *g) {
    vec_free(&g->items);
    free(g->of_row);
    *g = (groups){0};
}

int groups_compare(const group *a, const group *b) {
    if (a->name && b->name)
        return strcmp(a->name, b->name);
    if (!a->name != !b->name)
        return a->name ? -1 : 1;
    return a->number != b->number ? (a->number < b->number ? -1 : 1)
                                  : sites_compare_places(a->place, b->place);
}
