/* temporary.c: walks the rows of each domain from the last to the first, and remembers for each
 * call stack which row is its next allocation. */
#include "query/temporary.h"

#include <stdlib.h>

#include "base/large.h"

enum { DOMAINS = UINT16_MAX + 1 };

static bool is_dead_at(const block_table *b, size_t row, uint32_t place) {
    const uint64_t died = blocks_died(b, row);
    return died != BLOCKS_NEVER && died - blocks_born(b, row) < TEMPORARY_LIFE &&
           b->after[row] <= place;
}

/* A next row of another domain is what an earlier walk left. BLOCKS_NOWHERE is at or after all
 * places. */
static uint32_t place_of_next(const block_table *b, size_t row, uint32_t next) {
    return next != BLOCKS_NOWHERE && b->domain[next] == b->domain[row] ? blocks_place(b, next)
                                                                       : BLOCKS_NOWHERE;
}

/* `rows` is by domain; NULL: all rows are of one. */
static void mark_rows(const profile *p, const uint32_t *rows, uint32_t *next, uint8_t *marks) {
    const block_table *b = &p->table;
    for (size_t i = b->count; i-- > 0;) {
        const size_t row = rows ? rows[i] : i;
        uint32_t *known = &next[cct_stack(&p->tree, b->node[row])];
        marks[row] = is_dead_at(b, row, place_of_next(b, row, *known));
        *known = (uint32_t)row;
    }
}

/* Returns the rows sorted by domain; those of one domain stay in their order. */
static uint32_t *order_rows(const block_table *b) {
    uint32_t *rows = calloc(b->count + 1, sizeof *rows);
    uint32_t *first = calloc(DOMAINS + 1, sizeof *first);
    for (size_t i = 0; rows && first && i < b->count; i++)
        first[b->domain[i] + 1]++;
    for (size_t d = 0; first && d < DOMAINS; d++)
        first[d + 1] += first[d];
    for (size_t i = 0; rows && first && i < b->count; i++)
        rows[first[b->domain[i]]++] = (uint32_t)i;
    if (!first) {
        free(rows);
        rows = NULL;
    }
    free(first);
    return rows;
}

static bool has_domains(const block_table *b) {
    size_t same = 0;
    while (same < b->count && b->domain[same] == b->domain[0])
        same++;
    return same < b->count;
}

uint8_t *temporary_rows(const profile *p) {
    const block_table *b = &p->table;
    uint8_t *marks = calloc(b->count + 1, 1);
    uint32_t *next = large_none(p->tree.n_stacks + 1);
    const bool several = has_domains(b);
    uint32_t *rows = several ? order_rows(b) : NULL;
    const bool ok = marks && next && (rows || !several);
    if (ok)
        mark_rows(p, rows, next, marks);
    else
        free(marks);
    free(next);
    free(rows);
    return ok ? marks : NULL;
}
