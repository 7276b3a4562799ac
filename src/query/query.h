/* query.h: answers a question about a profile as far as all reports share it: which blocks, by
 * which measure, with which functions hidden. Reports arrange the costs that result.
 *
 * Problem. Every report can be restricted to some blocks (a filter), can use one of several
 * measures (allocated, live at the end or at the peak, byte-seconds, numbers of blocks), and can
 * hide functions. Every number is an estimate, and its error must be shown.
 *
 * Solution. A filter (filter.h) marks rows of the table in one scan. The marked rows are summed up
 * by the measure into a cost per stack (cost.h), or the totals of the tree are used if they
 * suffice. A lens (lens.h) tells which frame of a stack is looked at. Everything specific to one
 * report starts from these: sites, callers, growth, lifetimes, differences. An estimate with its
 * interval is made from a cost at the very end (estimate.h, figure.h).
 *
 * Alternatives. A filter that makes a smaller profile would be simpler, but would cost a copy per
 * question, and the viewer asks ten at once. Intervals do not add up, so samples are summed up
 * rather than estimates.
 *
 * Invariants. A query is a pure function of the profile and the question: it prints nothing, keeps
 * nothing, and threads may run queries at the same time. A number has one definition, whichever
 * report shows it. The costs of parts add up to the whole, whatever is hidden. */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include "profile/blocks_spread.h"
#include "query/cost.h"
#include "query/lens.h"

/* All zeros asks for all that was allocated, with wrappers skipped. */
typedef struct query_spec {
    const filter *filter; /* NULL: all blocks */
    measure measure;
    uint64_t moment; /* for MEASURE_LIVE: microseconds, or QUERY_END */
    bool at_peak;    /* for MEASURE_LIVE: at the peak instead of `moment` */
    bool show_wrappers;
    /* Which locations are seen, if the caller has a lens already. NULL: made from `show_wrappers`
     * and from what the filter hides. */
    const lens *lens;
    bool keep_rows;  /* the report scans the table itself: keep which rows are selected */
    bool finds_peak; /* … and uses the peak of those rows, or anything else that needs the order of
                        events */
    bool keep_counted; /* … and keep only those rows that the measure counts */
    bool alone; /* the result is not compared with another one, which would need more of it */
} query_spec;

#define QUERY_END UINT64_MAX /* the end of the trace */

typedef struct query_result {
    const profile *profile;
    measure measure;
    blocks_moment moment; /* at which MEASURE_LIVE and MEASURE_PEAK count */
    filter_bounds may;    /* of the blocks that the filter keeps, seen or missed */
    bool is_of_all;       /* the filter keeps every block */
    lens lens;
    cost_list costs;
    cost total;
    /* Bounds of the total's samples, if all blocks are recorded but the order of events of several
     * domains is uncertain. Otherwise, or if it is not asked for, both are equal. */
    blocks_spread spread;
    selection selection; /* n_of is 0 if the table was not needed; has rows only with `keep_rows` */
} query_result;

/* Whether profile_read must keep the blocks for this question. */
bool query_needs_blocks(const query_spec *spec);

/* Returns the columns of the table that the question reads, a set of BLOCKS_HAS. With `keep_rows`,
 * these are all that the report may read. */
unsigned query_columns(const query_spec *spec);

/* Fills `*q`, which need not be initialized; false when there is no memory. The result refers to
 * the profile, but not to the filter. */
bool query_run(query_result *q, const profile *p, const query_spec *spec);

void query_free(query_result *q);

#endif
