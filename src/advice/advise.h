/* advise.h: for the functions that allocate most: why they allocate, what to do about it, and how
 * much that can gain at most.
 *
 * Problem. A list of the places that allocate most leaves the reader with the question of what to
 * do there. The answer is mostly one of a few dozen: a buffer that grows by copying, a string that
 * is built piece by piece, boxed numbers. Somebody who has seen these before recognizes them by the
 * stack, the sizes, and how long the blocks live.
 *
 * Solution. What a language's library allocates is attributed to the function of the program that
 * called it, its *owner* (advise_stacks.h). The stacks of an owner are matched against a table of
 * rules (advise_rules.h), in the order of the table. A rule first looks at each stack, then at the
 * blocks of all matching stacks together (advise_blocks.h, advise_growth.h). The first rule that
 * applies takes these stacks. What remains has no advice.
 *
 * Alternatives. A score to which many signs contribute cannot be explained to the reader, nor
 * corrected when it is wrong; a row of a table can. Advice by allocation site would blame the
 * library's code.
 *
 * Invariants. No advice is better than wrong advice: each rule is tested on a program in which it
 * applies and on one in which it must not. A gain is an upper limit, and never counts a block
 * twice. The names of functions and files that rules know are in one list (query/name_sets.h).
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

#define ADVISE_WORTH   10 /* percent of the total: smaller gains are not worth the work */
#define ADVISE_SAMPLES 8  /* fewer are too few for advice */

/* A function, and what it allocates in one way. */
typedef struct advise_place {
    /* Has the line that allocates most; NULL: no backtrace. */
    const profile_location *location;
    cost cost;
} advise_place;

typedef struct advice {
    const advise_rule *rule; /* NULL: no rule applies */
    advise_family family;
    cost cost;

    /* In the result's `places`, largest first: the lines of one function or, if it `spreads`, the
     * functions to which the rule applies and which are too small by themselves. */
    uint32_t first_place, n_places;
    bool spreads;

    const profile_location *allocator; /* of the library, where most was allocated; NULL: none */
    const char *type;                  /* of most of the cost; NULL: not recorded */
    advise_blocks blocks;
    advise_growth growth; /* if the rule needs it */

    advise_certainty certainty; /* the rule's, or less if lifetimes of few blocks decide */
    bool few;                   /* below ADVISE_SAMPLES: only the place is known */
    double gain;                /* upper limit, as a share of `cost` */
    bool worth;                 /* the gain is at least ADVISE_WORTH of the total */
    const char *filter;         /* keeps these blocks, and few others */
} advice;

typedef struct advice_list {
    VEC(advice) items; /* largest first */
    VEC(advise_place) places;
    advise_place largest; /* of all functions */
    uint64_t n_owners;    /* functions that allocate anything */
    arena strings;
} advice_list;

/* Fills `*result`, which need not be initialized, with advice on everything that is at least
 * `min_share` percent of the total. The query must have a measure of whole blocks, and keep the
 * rows that it counts. False when there is no memory. The result refers to the profile. */
bool advise_query(const query_result *q, double min_share, advice_list *result);

/* The same, but also ends with false when nobody waits for the result any more. */
bool advise_query_for(const advise_asker *asker, const query_result *q, double min_share,
                      advice_list *result);

void advise_free(advice_list *a);

#endif
