/* advise_stacks.h: what rules of advice see of stacks: to which function of the program a stack's
 * blocks belong, and what is known of the names on it. */
#ifndef ADVICE_ADVISE_STACKS_H
#define ADVICE_ADVISE_STACKS_H

#include "advice/advise_blocks.h"
#include "advice/advise_rules.h"
#include "query/query.h"

/* A set of blocks that no rule can distinguish by their stacks or sizes. There are few such sets,
 * however many stacks there are. Small sizes have sets of their own, because one place can allocate
 * blocks of several sizes for several reasons. */
typedef struct advise_stack {
    cost cost;
    uint32_t owner;   /* number of the program's function */
    uint32_t place;   /* location in the owner; LENS_NOWHERE: no backtrace */
    uint32_t site;    /* location where the blocks are allocated */
    name_sets within; /* of the library's functions from the site to the owner */
    name_sets at_owner, caller;
    name_sets type; /* also of the wrapper of malloc, if any */
    unsigned shape;
    advise_family family;
    const char *type_name;
    uint64_t min_words, max_words;
    double heaviest; /* weight of the heaviest block */
    uint32_t number; /* among all stacks, in the order of their first blocks */
    advise_sums sums;
    advise_size size;          /* size of the first block */
    size_t first_more, n_more; /* other sizes, in `more` */
    size_t n_rows;
} advise_stack;

/* Rows by stack, for code that looks at single blocks. */
typedef struct advise_rows {
    uint32_t *rows;
    size_t *first; /* by number of the stack: index into `rows` */
} advise_rows;

#define ADVISE_NO_STACK UINT32_MAX

typedef struct advise_stacks {
    VEC(advise_stack) items; /* sorted by owner */
    advise_size *more;       /* by stack */
    /* By row of the table: number of the stack; ADVISE_NO_STACK: not selected. */
    uint32_t *stack_of;
    advise_rows rows; /* made when first used */
    uint32_t n_owners;
} advise_stacks;

/* The caller that waits for the result. If it stops waiting, the query ends as if there were no
 * memory. */
typedef struct advise_asker {
    bool (*has_gone)(void *context); /* NULL: never */
    void *context;
} advise_asker;

/* Asks now and then; for loops. */
static inline bool advise_is_unwanted(const advise_asker *a, size_t step) {
    enum { ASK_AFTER = 1 << 14 /* steps */ };
    return a->has_gone && step % ASK_AFTER == 0 && a->has_gone(a->context);
}

/* False when there is no memory. */
bool advise_stacks_build(const query_result *q, const advise_asker *asker, advise_stacks *s);

/* Returns the rows of a stack, `n_rows` of them, in the order of the table; NULL when there is no
 * memory. */
const uint32_t *advise_stacks_rows(advise_stacks *s, size_t n_table, const advise_stack *stack);

void advise_stacks_free(advise_stacks *s);

#endif
