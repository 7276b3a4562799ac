/* advise_rules.h: what is known about reasons for allocations, as data: when a rule applies, why
 * the program allocates there, and what to do.
 *
 * A rule looks at the blocks with one stack first: at who is on it, what the blocks are, and how
 * large. Then at all such blocks of one function together: how long they lived, how many sizes they
 * have. The first rule that applies is the answer, so that special ones stand before general ones.
 */
#ifndef ADVICE_ADVISE_RULES_H
#define ADVICE_ADVISE_RULES_H

#include <stddef.h>

#include "query/advise_names.h"

/* What kind of program allocates. */
typedef enum advise_family {
    ADVISE_OCAML,  /* in a heap, without type */
    ADVISE_NATIVE, /* outside of heaps */
    ADVISE_GUEST,  /* in a heap, with type: languages whose virtual machines record themselves */
} advise_family;

typedef enum advise_certainty { ADVISE_GUESS, ADVISE_LIKELY, ADVISE_DEFINITE } advise_certainty;
extern const char *const advise_certainties[];

/* What else a stack must be like; bits. */
#define ADVISE_BARE      1u /* the function allocates itself, not through the library */
#define ADVISE_ANONYMOUS 2u /* it has no name */
#define ADVISE_CREATED   4u /* nobody who could call it is on the stack: it is being made */

/* Zero means: does not matter. Shares are in percent of the samples. */
typedef struct advise_rule {
    const char *name;
    advise_family family;

    /* Of a stack. The names are sets of which one must be met. */
    advise_names within; /* by a library function, from the site out to the program's function */
    advise_names owner;  /* by the program's function */
    advise_names caller; /* by who called that */
    advise_names type;
    unsigned shape;
    uint64_t min_words, max_words; /* of each block, without header */

    /* Of all blocks that a function so allocates. */
    unsigned min_sizes;  /* different ones */
    uint64_t min_blocks; /* estimated, in all */
    double min_young; /* share that dies before it is promoted, of those of which that is known */
    double min_brief; /* share freed within ADVISE_BRIEF */
    double max_brief; /* or less */
    double min_one_size; /* share of the commonest size */
    double min_promoted;
    double min_grown;   /* share that grew into another one */
    double max_alive;   /* share that is never freed; 0: does not matter */
    double max_largest; /* share of one block in what is measured: it cannot take its own place */

    bool spreads; /* also reported when many functions have it that are small each */
    advise_certainty certainty;
    double most;       /* of the bytes, what can go at most */
    bool by_growth;    /* `most` is what all but the last of a block's sizes amount to */
    bool by_promotion; /* it is not bytes that can go, but their promotion */
    bool by_calls;     /* … but calls of the allocator */

    const char *title, *why, *what_to_do;
    const char *evidence; /* that it is so */
    const char *filter; /* narrows what is allocated below the function down to this; may be NULL */
} advise_rule;

/* False: it only says what the place is; another trace may say more. */
static inline bool advise_rule_gains(const advise_rule *r) {
    return r->most > 0 || r->by_growth || r->by_promotion || r->by_calls;
}

#define ADVISE_BRIEF 1000 /* microseconds */

extern const advise_rule advise_rules[];
extern const size_t advise_n_rules;

#endif
