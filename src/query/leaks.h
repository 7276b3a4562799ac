/* leaks.h: what stays: of each site, how much is live at the end, whether that grows and how fast,
 * and how sure this is. A pure query on the table of blocks; docs/leaks.md derives it. */
#ifndef QUERY_LEAKS_H
#define QUERY_LEAKS_H

#include "query/cost.h"
#include "query/sites.h"

/* By how surely they grow, the surest first; X(name, text, what it means) */
#define LEAKS_CLASSES(X)                                                                           \
    X(GROWING, "growing", "live memory keeps growing, with blocks from many different times")      \
    X(STEPS, "in steps", "live memory grew, but only a few times, or no longer")                   \
    X(UNCLEAR, "unclear", "too few samples to tell")                                               \
    X(BOUNDED, "bounded", "steady: growth, if any, is at most half of what is live")               \
    X(STARTUP, "start-up", "most was allocated at startup")                                        \
    X(EXIT, "freed at exit", "most was freed when the program cleaned up, not before")

typedef enum leaks_class {
#define LEAKS_CLASS_NAME(name, text, meaning) LEAKS_##name,
    LEAKS_CLASSES(LEAKS_CLASS_NAME)
#undef LEAKS_CLASS_NAME
        LEAKS_N_CLASSES
} leaks_class;

typedef struct leaks_class_info {
    const char *name, *meaning;
} leaks_class_info;

extern const leaks_class_info leaks_class_infos[LEAKS_N_CLASSES];

enum {
    LEAKS_PERIODS = 32, /* of births, that count as independent of each other */
    LEAKS_POINTS = 24,
    LEAKS_RATE_US = 10000000, /* of growth in shorter windows, amounts are told, not rates */
    LEAKS_TELLING = 24, /* live samples of a site that grows: nine of ten times it is called so */
};

typedef struct leaks_site {
    const profile_location *place; /* NULL: without backtrace; of the total, too */
    const char *remark; /* what is known of such blocks whatever the data say; NULL: nothing */
    leaks_class class;
    cost cost;              /* live at the end of the window, by the measure: held until then */
    uint64_t startup;       /* of these samples, those of blocks born before the window */
    uint64_t at_exit;       /* of these samples, those of blocks freed after the window */
    estimate live;          /* the same in the unit of the measure */
    estimate grown;         /* live at the end of the window, less at its beginning; that unit, by
                               MEASURE_BYTESECONDS bytes */
    estimate slope;         /* bytes or blocks a second, of what was live in the window */
    uint64_t slope_samples; /* of blocks that came or went in it */
    double late;            /* the slope of its later half; without interval */
    double p;               /* the chance of as clear a growth if there is none; at most that */
    double q;               /* the same among so many sites: a false discovery rate */
    /* Live at equal steps from the start to the window's end: samples; by number, blocks. */
    double line[LEAKS_POINTS];
} leaks_site;

/* When growth ends to count, in microseconds: at the end of the trace, or before the program began
 * to clean up. */
typedef struct leaks_window {
    uint64_t to;
    bool cleaned_up;
    bool kept_all; /* until then, hardly any of what the program had allocated was freed */
} leaks_window;

typedef struct leaks_spec {
    const leaks_window *window; /* NULL: it is looked for */
    const uint8_t *kept;        /* by row of the table; NULL: all */
    bool by_function;           /* sites are functions with all their lines; else lines */
    double warm_up;             /* the share of the time, 0 … 1, that is start-up */
    filter_bounds may;          /* what blocks are like that were kept, seen or missed */
    measure measure; /* MEASURE_BLOCKS: what grows is the number of blocks; else bytes. By
                        MEASURE_BYTESECONDS, what is left counts by how long it has been */
} leaks_spec;

typedef struct leaks {
    /* Microseconds. The window in which growth counts: from the end of the start-up to the end of
     * the trace, or to the moment before the program began to clean up. */
    uint64_t from, to;
    bool cleaned_up, kept_all;
    filter_bounds may; /* of the question */
    measure measure;   /* of all costs: MEASURE_ALLOCATED, MEASURE_BLOCKS or MEASURE_BYTESECONDS */
    leaks_site total;
    double telling_rate; /* would do for the largest of the unclear sites; 0: there is none */
    VEC(leaks_site)
    sites; /* by class; those that grow by p as far as that is 0.001 or more, all by what is live */
} leaks;

/* It depends on the profile alone. False when there is no memory. */
bool leaks_find_window(const profile *p, leaks_window *w);

/* Fills `*result`, which need not be initialised; false when there is no memory. It refers to the
 * profile. */
bool leaks_query(const lens *l, const leaks_spec *spec, leaks *result);

void leaks_free(leaks *l);

/* ---- parts, for tests -------------------------------------------------------------------- */

/* What the C library keeps of its own: streams and their buffers. NULL: nothing is known. */
const char *leaks_remark(const char *function);

/* The chance that the sum of `n` numbers is as large as it is, if each might as well have the other
 * sign: Chernoff's limit. */
double leaks_chance(const double *y, size_t n);

/* What a block that is live from `born` to `died` adds to the slope, each second, of a line fitted
 * to what is live from `from` to `to`; times in microseconds. */
double leaks_weight(uint64_t born, uint64_t died, uint64_t from, uint64_t to);

#endif
