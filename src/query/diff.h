/* diff.h: what changed between two programs, or two versions of one: their totals, and their sites.
 * A pure query on answers (query.h), one or several a side, which have one measure. */
#ifndef QUERY_DIFF_H
#define QUERY_DIFF_H

#include "query/compare.h"
#include "query/hotspots.h"

#define DIFF_NORMALISATIONS(X)                                                                     \
    X(NONE, "none")                                                                                \
    X(TOTAL, "total") /* shares of what a run allocates in all; the totals stay bytes */           \
    X(TIME, "time")   /* bytes a second */

typedef enum diff_normalise {
#define DIFF_NORMALISATION_NAME(name, text) DIFF_BY_##name,
    DIFF_NORMALISATIONS(DIFF_NORMALISATION_NAME)
#undef DIFF_NORMALISATION_NAME
} diff_normalise;

extern const char
    *const diff_normalisations[]; /* their names, by diff_normalise; NULL at the end */

typedef struct diff_options {
    hotspots_by by;
    diff_normalise normalise;
    double per_before, per_after; /* amounts are divided by it; 0: they are not */
} diff_options;

/* What a site is called on one side; both NULL: it has no backtrace or type. */
typedef struct diff_name {
    const profile_location *place;
    const char *type;
} diff_name;

typedef struct diff_site {
    diff_name before, after;
    size_t index;             /* by name: makes the order the same always */
    bool in_before, in_after; /* it has samples there, and the name is valid */
    comparison c;
    double q;            /* NaN if nothing is decided */
    bool sure;           /* q <= COMPARE_FALSE_DISCOVERIES */
    estimate went, came; /* of two moments alone (diff_moments) */
    double sure_change;  /* the end of the change's interval next to 0; 0 if not sure */
} diff_site;

typedef struct diff {
    diff_options options;
    measure measure; /* of all answers */
    comparison total;
    bool total_sure;      /* p <= 5% */
    bool decided;         /* if not, p and q are NaN, and nothing is sure (diff_is_decided) */
    VEC(diff_site) sites; /* the sure ones first, by falling sure change; then by change */
    size_t n_sure;
} diff;

/* Whether samples can tell: never where a trace lacks something (profile_is_partial). Amounts
 * that depend on how long a run takes, or on how its threads take turns, differ from run to run, of
 * which one run a side says nothing. `before` and `after` are any of the runs. */
bool diff_is_decided(const diff_options *options, const query_result *before, size_t n_before,
                     const query_result *after, size_t n_after);

/* Fills `*result`, which need not be initialised; false when there is no memory. The result refers
 * to the profiles. */
bool diff_query(const query_result *const *before, size_t n_before,
                const query_result *const *after, size_t n_after, const diff_options *options,
                diff *result);

/* Two moments of one run: what is live at each, and what changed: went is what was live at the
 * first alone, came what is at the second alone. What is live at both is the same blocks, so that
 * only these two, which have none in common, make the change unsure. */
typedef struct diff_moments_of {
    const query_result *before, *after; /* live then */
    const query_result *went, *came;
} diff_moments_of;

bool diff_moments(const diff_moments_of *of, const diff_options *options, diff *result);

/* One amount on each side, as compare_change says. */
comparison diff_costs(const query_result *before, const cost *b, const query_result *after,
                      const cost *a);

/* The sure changes first, by how large they surely are. */
void diff_sort(diff *d);

void diff_free(diff *d);

/* What a trace lacks, nobody can compare; two moments of one are both within what it has. */
bool diff_any_is_partial(const query_result *const *runs, size_t n);

#endif
