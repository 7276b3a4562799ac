/* advise_rules.h: the knowledge about reasons for allocations, as data: when a rule applies, why
 * the program allocates there, and what to do.
 *
 * A rule first looks at the blocks of one stack: at the functions on it, and the kind and size of
 * the blocks. Then it looks at all such blocks of one function together: their lifetimes and
 * numbers of sizes. The first rule that applies is the answer, so special rules come before general
 * ones. */
#ifndef ADVICE_ADVISE_RULES_H
#define ADVICE_ADVISE_RULES_H

#include <stddef.h>

#include "query/name_sets.h"

/* Kinds of programs that allocate. */
typedef enum advise_family {
    ADVISE_OCAML,  /* in a heap, without type */
    ADVISE_NATIVE, /* outside of heaps */
    ADVISE_GUEST,  /* in a heap, with type: languages whose virtual machines record themselves */
} advise_family;

typedef enum advise_certainty { ADVISE_GUESS, ADVISE_LIKELY, ADVISE_DEFINITE } advise_certainty;
extern const char *const advise_certainties[];

/* Further conditions on a stack; bits. */
#define ADVISE_BARE      1u /* the function allocates itself, not through the library */
#define ADVISE_ANONYMOUS 2u /* the function has no name */
#define ADVISE_CREATED   4u /* no possible caller is on the stack: it is being created */

/* A zero means: any. Shares are percentages of the samples. */
typedef struct advise_rule {
    const char *name;
    advise_family family;

    /* Conditions on a stack. Names are sets, of which one must match. */
    name_sets within; /* of a library function between the site and the program's function */
    name_sets owner;  /* of the program's function */
    name_sets caller; /* of its caller */
    name_sets type;
    unsigned shape;
    uint64_t min_words, max_words; /* of each block, without header */

    /* Conditions on all such blocks of a function. */
    unsigned min_sizes;  /* number of distinct sizes */
    uint64_t min_blocks; /* estimated, in all */
    double min_young;    /* share that died before promotion, of those promoted or dead */
    double min_brief;    /* share freed within ADVISE_BRIEF */
    double max_brief;    /* at most that share */
    double min_one_size; /* share of the commonest size */
    double min_promoted;
    double min_grown;   /* share that grew into another block */
    double max_alive;   /* share that is never freed; 0: any */
    double max_largest; /* share of a single block in the measure: it cannot replace itself */

    bool spreads; /* also reported when many functions match that are each too small */
    advise_certainty certainty;
    double most;       /* share of the bytes that can be saved at most */
    bool by_growth;    /* `most` follows from the growth: all but the last of a block's sizes */
    bool by_promotion; /* promotions can be saved, not bytes */
    bool by_calls;     /* calls of the allocator can be saved, not bytes */

    const char *title, *why, *what_to_do;
    const char *evidence; /* why the rule is believed to apply */
    const char *filter;   /* narrows what the function allocates to these blocks; may be NULL */
} advise_rule;

/* False: the rule only tells what the place is; another trace may tell more. */
static inline bool advise_rule_gains(const advise_rule *r) {
    return r->most > 0 || r->by_growth || r->by_promotion || r->by_calls;
}

#define ADVISE_BRIEF 1000 /* microseconds */

extern const advise_rule advise_rules[];
extern const size_t advise_n_rules;

#endif
