/* budget.h: is what a site allocated within what was expected, or allowed? Judged on the interval
 * of the estimate: what sampling leaves open is undecided. Pure queries on a profile. */
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

/* What a rule is about, and its limits. */
typedef struct budget_rule {
    const char *name; /* as shown; NULL: the site's */
    /* `total`; FILE:LINE, the file as its path ends; or a function. After `under:`, all that is
     * allocated while it is on the stack. */
    const char *site;
    const char *filter; /* as written; NULL: all blocks */
    measure measure;    /* which of them count; goes with `unit`, see budget_fits */
    double amount;      /* in `unit`: the most that is allowed, or what is expected */
    budget_unit unit;
    double within; /* > 1: the factor by which the truth may differ; 0: `amount` is a maximum */
} budget_rule;

typedef enum budget_verdict { BUDGET_PASS, BUDGET_FAIL, BUDGET_UNDECIDED } budget_verdict;

typedef struct budget_result {
    estimate actual; /* in the rule's unit */
    uint64_t samples;
    budget_verdict verdict;
    double deciding_rate; /* of BUDGET_UNDECIDED: at which a verdict is likely; 0: at none, since a
                             part of the trace is missing, or … */
    bool is_of_order; /* … the order of what threads did would decide, which is not known, or … */
    bool is_unknown; /* … nothing in the trace has the site's name: it would pass for ever */
} budget_result;

/* Sampled blocks with one stack. */
typedef struct budget_entry {
    uint32_t node;
    bool external;
    uint64_t samples;
    estimate_blocks blocks;
    cost life; /* times seconds of life: of MEASURE_BYTESECONDS alone */
} budget_entry;

/* The sampled blocks that rules with one filter and measure are about. Legal when zeroed. */
typedef struct budget_tally {
    VEC(budget_entry) entries;
    map64 index;       /* node, external → entry */
    filter_bounds may; /* what blocks are like that the filter keeps, seen or missed */
    uint8_t *kept;     /* by row, the filter's, where the order of events leaves the peak open; else
                          NULL */
    blocks_moment at;  /* the peak */
} budget_tally;

/* Counts a block; false when there is no memory. */
bool budget_count(budget_tally *t, double rate, uint32_t node, const memtrace_event *event);

/* Counts the rows of the profile's table of which `kept` is not 0 and which the measure counts, and
 * leaves those in `kept`; the same. Live is what lives at the end. */
bool budget_count_rows(budget_tally *t, const profile *p, measure m, uint8_t *kept);
void budget_tally_free(budget_tally *t);

/* Judges a rule; false when there is no memory. */
bool budget_judge(const lens *l, const budget_tally *t, const budget_rule *rule,
                  budget_result *result);

/* Whether anything in the trace, sampled or on the way there, is what a rule's site names. */
bool budget_knows(const profile *p, const char *site);

/* A site without `under:`. */
const char *budget_site_name(const char *site);

/* Whether a site stands for all that is allocated while it is on the stack. */
bool budget_is_under(const char *site);

/* What a maximum must be for the trace to pass it with a tenth to spare, and for most traces of the
 * same program at the same rate to pass it, too. */
double budget_maximum(const budget_result *actual);

/* Whether an amount in this unit can be by this measure: numbers of blocks of any but byte-seconds,
 * which have a unit of their own. */
bool budget_fits(measure m, budget_unit unit);

/* What an amount in this unit is of, if nothing else is said. */
measure budget_measure_of(budget_unit unit);

/* `12MB`, `1.5 KB`, `300 words`, `50000 blocks`, `512` (bytes), `3 MB*s`; false if it is none of
 * these. */
bool budget_parse_amount(const char *text, double *amount, budget_unit *unit);

#endif
