/* advise_stacks.h: what rules of advice see of stacks: which function of the program a stack's
 * blocks belong to, and what is known of the names on it. */
#ifndef ANALYSE_ADVISE_STACKS_H
#define ANALYSE_ADVISE_STACKS_H

#include "analyse/advise_rules.h"
#include "analyse/query.h"

/* Blocks with one stack, one kind of source, and one size if they are small: one place can make
 * blocks of several sizes for several reasons. */
typedef struct advise_stack {
    cost cost;
    uint32_t owner;      /* number of the program's function */
    uint32_t place;      /* location in it; LENS_NOWHERE: no backtrace */
    uint32_t site;       /* location where the blocks are allocated */
    advise_names within; /* of the library's functions from the site to the owner */
    advise_names at_owner, caller;
    advise_names type; /* also of the wrapper of malloc, if there is one */
    unsigned shape;
    advise_family family;
    const char *type_name;
    uint64_t min_words, max_words;
    size_t first_row, n_rows; /* in `rows` */
} advise_stack;

typedef struct advise_stacks {
    VEC(advise_stack) items; /* by owner */
    uint32_t *rows;          /* of the table, by stack */
    uint32_t n_owners;
} advise_stacks;

/* False when there is no memory. */
bool advise_stacks_build(const query_result *q, advise_stacks *s);
void advise_stacks_free(advise_stacks *s);

#endif
