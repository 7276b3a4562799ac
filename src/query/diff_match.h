/* diff_match.h: finds which site of one side is which site of the other. Sites with equal names
 * match. If the lines of a function moved, they are matched by their common shift and by their
 * order. A function whose file was renamed is matched by its name. */
#ifndef QUERY_DIFF_MATCH_H
#define QUERY_DIFF_MATCH_H

#include "query/diff.h"

/* A site of one side, with the samples of all its runs. */
typedef struct match_row {
    diff_name name;
    uint32_t counts; /* index of its first run's samples in `counts` */
} match_row;

/* Legal when zeroed. */
typedef struct match_rows {
    VEC(match_row) rows; /* sorted by type, function, file, line */
    VEC(uint64_t) counts;
    VEC(cost) costs; /* parallel to `counts`: the whole costs */
} match_rows;

#define MATCH_NONE UINT32_MAX

/* Indices of rows; one of the two may be MATCH_NONE. */
typedef struct match_pair {
    uint32_t before, after;
} match_pair;

typedef VEC(match_pair) match_pairs;

/* Gathers the sites of all runs of a side; false when there is no memory. */
bool match_gather(const hotspots *runs, size_t n_runs, match_rows *result);

/* Lists every row of both sides once; false when there is no memory. */
bool match_sides(const match_rows *before, const match_rows *after, match_pairs *pairs);

void match_free(match_rows *m);

#endif
