/* budget.h: whether what a site allocated is within what was expected or allowed. The interval of
 * the estimate decides; what sampling leaves open is undecided. Pure queries on a profile. */
#ifndef QUERY_BUDGET_H
#define QUERY_BUDGET_H

#include "query/cost.h"
#include "query/lens.h"

typedef enum budget_unit {
    BUDGET_BYTES,
    BUDGET_WORDS,
    BUDGET_BLOCKS,
    BUDGET_BYTESECONDS,
} budget_unit;

/* A rule: what it is about, and its limits. */
typedef struct budget_rule {
    const char *name; /* as shown; NULL: the name of the site */
    /* `total`; FILE:LINE, where FILE is the end of a path; or a function. After `under:`, all that
     * is allocated while that is on the stack. */
    const char *site;
    const char *filter; /* in the filter language; NULL: all blocks */
    measure measure;    /* which blocks count; must fit `unit`, see budget_fits */
    double amount;      /* in `unit`: the maximum, or what is expected */
    budget_unit unit;
    double within; /* > 1: the factor by which the truth may differ; 0: `amount` is a maximum */
} budget_rule;

typedef enum budget_verdict { BUDGET_PASS, BUDGET_FAIL, BUDGET_UNDECIDED } budget_verdict;

typedef struct budget_result {
    estimate actual; /* in the rule's unit */
    uint64_t samples;
    budget_verdict verdict;
    /* For BUDGET_UNDECIDED: the rate at which a verdict is likely; 0: no rate decides, because part
     * of the trace is missing, or … */
    double deciding_rate;
    bool is_of_order; /* … because it depends on the order of events of several threads, or … */
    bool is_unnamed;  /* … because the site may be a place without a name or line, or … */
    bool is_renamed; /* … because the site may have another name in the trace, which the caller of
                        budget_judge decides */
    bool is_unknown; /* nothing in the trace has the site's name: is it spelt so? */
} budget_result;

/* Sampled blocks with one stack. */
typedef struct budget_entry {
    uint32_t node;
    bool external;
    uint64_t samples;
    estimate_blocks blocks;
    cost life; /* sum of the cost of life; only by MEASURE_BYTESECONDS */
} budget_entry;

/* The sampled blocks that all rules with one filter and measure are about. Legal when zeroed. */
typedef struct budget_tally {
    VEC(budget_entry) entries;
    map64 index;       /* node << 1 | external → entry */
    filter_bounds may; /* of the blocks that the filter keeps, seen or missed */
    /* By row: what the filter keeps, if the peak depends on the order of events; else NULL. */
    uint8_t *kept;
    blocks_moment at; /* the peak */
} budget_tally;

/* Counts a block; false when there is no memory. */
bool budget_count(budget_tally *t, double rate, uint32_t node, const memtrace_event *event);

/* Counts the rows of the profile's table for which `kept` is not 0 and that the measure counts, and
 * clears the others in `kept`; false when there is no memory. MEASURE_LIVE counts what is live at
 * the end. */
bool budget_count_rows(budget_tally *t, const profile *p, measure m, uint8_t *kept);
void budget_tally_free(budget_tally *t);

/* Judges a rule; false when there is no memory. */
bool budget_judge(const lens *l, const budget_tally *t, const budget_rule *rule,
                  budget_result *result);

/* Whether the rule's site names anything in the trace, at any place of a stack. */
bool budget_knows(const profile *p, const char *site);

/* Whether a site is FILE:LINE. */
bool budget_is_line(const char *site);

/* Whether the trace has the file of such a site. */
bool budget_knows_file(const profile *p, const char *site);

/* Returns a site without `under:`. */
const char *budget_site_name(const char *site);

/* Whether a site stands for all that is allocated while it is on the stack. */
bool budget_is_under(const char *site);

/* Returns a maximum that the trace passes with a tenth to spare, and that most traces of the same
 * program at the same rate pass. */
double budget_maximum(const budget_result *actual);

/* Whether an amount in this unit fits the measure. Numbers of blocks fit any measure except
 * byte-seconds, which has a unit of its own. */
bool budget_fits(measure m, budget_unit unit);

/* Returns the default measure for an amount in this unit. */
measure budget_measure_of(budget_unit unit);

/* Parses `12MB`, `1.5 KB`, `300 words`, `50000 blocks`, `512` (bytes) or `3 MB*s`; false if it is
 * none of these. */
bool budget_parse_amount(const char *text, double *amount, budget_unit *unit);

#endif
