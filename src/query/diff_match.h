/* diff_match.h: which site of one side is which of the other. Names that are equal on both sides
 * are; within a function whose lines moved, lines are matched by how far they moved together and
 * by their order; a function whose file was renamed is recognised by its name. */
#ifndef QUERY_DIFF_MATCH_H
#define QUERY_DIFF_MATCH_H

#include "query/diff.h"

/* A site of one side, with the samples of each of its runs. */
typedef struct match_row {
    diff_name name;
    uint32_t counts; /* index of its first run's samples in `counts` */
} match_row;

/* Legal when zeroed. */
typedef struct match_rows {
    VEC(match_row) rows; /* by type, function, file, line */
    VEC(uint64_t) counts;
    VEC(cost) costs; /* the same as `counts`, whole */
} match_rows;

#define MATCH_NONE UINT32_MAX

/* Indices of rows; one of them may be MATCH_NONE. */
typedef struct match_pair {
    uint32_t before, after;
} match_pair;

typedef VEC(match_pair) match_pairs;

/* Gathers the sites of all runs of a side; false when there is no memory. */
bool match_gather(const hotspots *runs, size_t n_runs, match_rows *result);

/* Every row of both sides once; false when there is no memory. */
bool match_sides(const match_rows *before, const match_rows *after, match_pairs *pairs);

void match_free(match_rows *m);

#endif
