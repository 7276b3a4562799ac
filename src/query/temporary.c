/* temporary.c: walks the table from the last place to the first, and remembers for each call stack
 * where its next allocation is. */
#include "query/temporary.h"

#include <stdlib.h>

#include "base/large.h"

/* Whether the block was dead at the allocation at that place; BLOCKS_NOWHERE: there is none. */
static bool is_dead_at(const block_table *b, size_t row, uint32_t place) {
    const uint64_t died = blocks_died(b, row);
    return died != BLOCKS_NEVER && died - blocks_born(b, row) < TEMPORARY_LIFE &&
           (place == BLOCKS_NOWHERE || b->after[row] <= place);
}

/* `rows` is by place; NULL: rows are in the order of places. */
static void mark_rows(const profile *p, const uint32_t *rows, uint32_t *next, uint8_t *marks) {
    const block_table *b = &p->table;
    for (size_t place = b->count; place-- > 0;) {
        const size_t row = rows ? rows[place] : place;
        uint32_t *known = &next[cct_stack(&p->tree, b->node[row])];
        marks[row] = is_dead_at(b, row, *known);
        *known = (uint32_t)place;
    }
}

/* An index may claim any places, so they are checked. */
static uint32_t *order_rows(const block_table *b) {
    uint32_t *rows = calloc(b->count + 1, sizeof *rows);
    for (size_t i = 0; rows && i < b->count; i++)
        if (b->place[i] < b->count)
            rows[b->place[i]] = (uint32_t)i;
    return rows;
}

uint8_t *temporary_rows(const profile *p) {
    const block_table *b = &p->table;
    uint8_t *marks = calloc(b->count + 1, 1);
    uint32_t *next = large_none(p->tree.n_stacks + 1);
    uint32_t *rows = b->place ? order_rows(b) : NULL;
    const bool ok = marks && next && (rows || !b->place);
    if (ok)
        mark_rows(p, rows, next, marks);
    else
        free(marks);
    free(next);
    free(rows);
    return ok ? marks : NULL;
}
