/* advise.h: for the functions that allocate most: why they do, what one can do about it, and what
 * that can gain at most.
 *
 * Problem. A list of the places that allocate most leaves the reader with the question what to do
 * there. The answer is mostly one of some dozens (a buffer that grows by copying, a string that is
 * built piece by piece, boxed numbers), which somebody who has seen them before tells from the
 * stack, the sizes and how long the blocks live.
 *
 * Way. What the library of the language allocates is counted at the function of the program that
 * called it, its *owner* (advise_stacks.h). The stacks of an owner are shown to a table of rules
 * (advise_rules.h) in their order. A rule looks at a stack first, and then at the blocks of all
 * stacks that fit it together (advise_blocks.h, advise_growth.h); the first one that applies takes
 * them. What remains has no advice.
 *
 * Why not otherwise. Scores that many signs add to cannot be explained to the reader, or mended
 * when they are wrong; a row can. Advice by allocation site would blame the library's own code.
 *
 * What must hold. None is better than a wrong one: each rule is tested on a program in which it
 * applies and on one in which it must not. A gain is an upper limit, and never counts a block
 * twice. Names of functions and files that rules know stand in one list (query/advise_names.h).
 *
 * A pure query on costs and on the table of blocks. */
#ifndef ADVICE_ADVISE_H
#define ADVICE_ADVISE_H

#include "advice/advise_blocks.h"
#include "advice/advise_growth.h"
#include "advice/advise_rules.h"
#include "advice/advise_stacks.h"
#include "base/arena.h"
#include "query/query.h"

#define ADVISE_WORTH   10 /* percent of the total: what gains less is not worth the work */
#define ADVISE_SAMPLES 8  /* fewer are too few to advise on */

/* A function and what it allocates in one way. */
typedef struct advise_place {
    const profile_location
        *location; /* its line is that which allocates most; NULL: no backtrace */
    cost cost;
} advise_place;

typedef struct advice {
    const advise_rule *rule; /* NULL: none applies */
    advise_family family;
    cost cost;

    /* Largest first, in the result's `places`: the lines of one function, or, if it `spreads`, the
     * functions that have it, each of which is too small by itself. */
    uint32_t first_place, n_places;
    bool spreads;

    const profile_location *allocator; /* of the library, where most was allocated; NULL: none */
    const char *type;                  /* of most; NULL: not recorded */
    advise_blocks blocks;
    advise_growth growth; /* if the rule is about that */

    advise_certainty certainty; /* the rule's, or less where it judges by the lives of few blocks */
    bool few;                   /* below ADVISE_SAMPLES: nothing is known but the place */
    double gain;                /* of `cost`, at most */
    bool worth;                 /* that is at least ADVISE_WORTH of the total */
    const char *filter;         /* what keeps these blocks, and few others */
} advice;

typedef struct advise {
    VEC(advice) items; /* largest first */
    VEC(advise_place) places;
    advise_place largest; /* of all functions */
    uint64_t n_owners;    /* functions that allocate at all */
    arena strings;
} advise;

/* Fills `*result`, which need not be initialised, with advice on all that is at least `min_share`
 * percent of the total. The query must count what was allocated, and keep rows. False when there is
 * no memory. The result refers to the profile. */
bool advise_query(const query_result *q, double min_share, advise *result);

/* The same, until nobody waits for it any more: then false. */
bool advise_query_for(const advise_asker *asker, const query_result *q, double min_share,
                      advise *result);

void advise_free(advise *a);

#endif
