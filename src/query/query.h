/* query.h: a question about a profile, answered as far as all reports share it: which blocks, by
 * which measure, seen how. Reports arrange its costs.
 *
 * Problem. Every report can be asked of some blocks only (a filter), by several measures
 * (allocated, live at the end or at the peak, byte-seconds, numbers of blocks), with functions left
 * out of sight; and each number is an estimate whose error must be told.
 *
 * Way. A filter (filter.h) becomes a mark a row of the table, in one scan; what the marked rows
 * amount to by the measure is a cost a stack (cost.h), from the totals of the tree where these
 * suffice. A lens (lens.h) says which frame of a stack is looked at. What is special to one report
 * starts from these: sites, callers, growth, lifetimes, differences. An estimate with its interval
 * is made of a cost at the very end (estimate.h, figure.h).
 *
 * Why not otherwise. A filter that makes a smaller profile would be simpler to think of, and costs
 * a copy a question; the viewer asks ten at once. Sums of estimates have intervals that are too
 * wide or too narrow: sums are of samples.
 *
 * What must hold. A query is a pure function of profile and question: it prints nothing, keeps
 * nothing, and threads may ask at once. A number has one definition, whichever report shows it.
 * Costs add up: of parts to the whole, whatever is hidden. */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include "profile/blocks_spread.h"
#include "query/cost.h"
#include "query/lens.h"

/* Zeroed: all that was allocated, wrappers skipped. */
typedef struct query_spec {
    const filter *filter; /* NULL: all blocks */
    measure measure;
    uint64_t moment; /* for MEASURE_LIVE: microseconds; QUERY_END too */
    bool at_peak;    /* for MEASURE_LIVE: at the peak instead */
    bool show_wrappers;
    const lens *lens; /* what is seen of the profile, where somebody knows it already; NULL: found
                         by `show_wrappers` and what the filter hides */
    bool keep_rows;   /* the report scans the table of blocks itself: keep which are selected */
    bool finds_peak;  /* … and looks for the peak of rows, for what was live then, or for whatever
                         else the order of events says */
    bool keep_counted; /* … and of these, those that the measure counts */
    bool alone;        /* nobody compares the result with another one, for which more is kept */
} query_spec;

#define QUERY_END UINT64_MAX /* the end of the trace */

typedef struct query_result {
    const profile *profile;
    measure measure;
    blocks_moment moment; /* at which MEASURE_LIVE and MEASURE_PEAK count */
    filter_bounds may;    /* what blocks are like that the filter keeps, seen or missed */
    lens lens;
    cost_list costs;
    cost total;
    blocks_spread spread; /* of the total's samples, where each block is known, but not the order of
                             events of several domains; equal where it is, or not asked for */
    selection selection;  /* n_of is 0 if no table was needed; its rows only with `keep_rows` */
} query_result;

/* Whether profile_read must keep the blocks for it. */
bool query_needs_blocks(const query_spec *spec);

/* The columns of the table that it looks at: a set of BLOCKS_HAS. All if it keeps rows, for others
 * to look at. */
unsigned query_columns(const query_spec *spec);

/* Fills `*q`, which need not be initialised; false when there is no memory. It refers to the
 * profile, and to the filter no longer. */
bool query_run(query_result *q, const profile *p, const query_spec *spec);

void query_free(query_result *q);

#endif
