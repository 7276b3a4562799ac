/* diff.h: what changed between two programs, or two versions of one: the totals and the sites. A
 * pure query on the results of query.h, one or several per side, all of one measure. */
#ifndef QUERY_DIFF_H
#define QUERY_DIFF_H

#include "query/compare.h"
#include "query/hotspots.h"

#define DIFF_NORMALISATIONS(X)                                                                     \
    X(NONE, "none")                                                                                \
    X(TOTAL, "total") /* shares of all that a run allocates; totals stay bytes */                  \
    X(TIME, "time")   /* bytes per second */

typedef enum diff_normalise {
#define DIFF_NORMALISATION_NAME(name, text) DIFF_BY_##name,
    DIFF_NORMALISATIONS(DIFF_NORMALISATION_NAME)
#undef DIFF_NORMALISATION_NAME
} diff_normalise;

extern const char *const diff_normalisations[]; /* by diff_normalise; NULL at the end */

typedef struct diff_options {
    hotspots_by by;
    diff_normalise normalise;
    double per_before, per_after; /* amounts are divided by these; 0: they are not */
} diff_options;

/* The name of a site on one side; both NULL: it has no backtrace or type. */
typedef struct diff_name {
    const profile_location *place;
    const char *type;
} diff_name;

typedef struct diff_site {
    diff_name before, after;
    size_t index;             /* in the order of names; makes the order of sites deterministic */
    bool in_before, in_after; /* the site has samples there, and its name is valid */
    comparison c;
    double q;            /* NaN if undecided */
    bool sure;           /* q <= COMPARE_FALSE_DISCOVERIES */
    estimate went, came; /* only with diff_moments */
    double sure_change;  /* the limit of the change's interval that is closer to 0; 0 if not sure */
} diff_site;

/* Returns the name of a site: after if it exists there, else before. */
static inline const diff_name *diff_name_of(const diff_site *s) {
    return s->in_after ? &s->after : &s->before;
}

typedef struct diff {
    diff_options options;
    measure measure; /* of all results */
    comparison total;
    bool total_sure; /* p <= 5% */
    /* If not, p and q are NaN, and nothing is sure (diff_is_decided). Only the total may be: where
     * the peaks differ whichever way threads take turns. */
    bool decided;
    VEC(diff_site) sites; /* sure ones first, by falling sure change; then by change */
    size_t n_sure;
} diff;

/* Whether the samples can decide. They cannot if a trace lacks something (profile_is_partial).
 * Amounts that depend on how long a run takes, or on how its threads interleave, differ from run to
 * run, so one run per side is not enough for these. */
bool diff_is_decided(const diff_options *options, const query_result *const *before,
                     size_t n_before, const query_result *const *after, size_t n_after);

/* Fills `*result`, which need not be initialized; false when there is no memory. The result refers
 * to the profiles. */
bool diff_query(const query_result *const *before, size_t n_before,
                const query_result *const *after, size_t n_after, const diff_options *options,
                diff *result);

/* Two moments of one run: what is live at each, what went (live only at the first) and what came
 * (live only at the second). Blocks that are live at both are the same, so only the disjoint `went`
 * and `came` make the change uncertain. */
typedef struct diff_moments_of {
    const query_result *before, *after; /* live at that moment */
    const query_result *went, *came;
} diff_moments_of;

bool diff_moments(const diff_moments_of *of, const diff_options *options, diff *result);

/* Compares one amount on each side, like compare_change. */
comparison diff_costs(const query_result *before, const cost *b, const query_result *after,
                      const cost *a);

/* Sorts sure changes first, by their sure size. */
void diff_sort(diff *d);

void diff_free(diff *d);

/* Whether any of the runs is partial. What a trace lacks cannot be compared; two moments of one
 * trace, however, are both within what it has. */
bool diff_any_is_partial(const query_result *const *runs, size_t n);

#endif
