/* leaks.h: what stays in memory: for each site, how much is live at the end, whether that grows and
 * how fast, and how sure this is. A pure query on the table of blocks; docs/leaks.md derives it. */
#ifndef QUERY_LEAKS_H
#define QUERY_LEAKS_H

#include "query/cost.h"
#include "query/sites.h"

/* The classes of sites, those that grow most surely first; X(name, text, meaning) */
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
    LEAKS_PERIODS = 32, /* of births; they count as independent of each other */
    LEAKS_POINTS = 24,
    LEAKS_RATE_US = 10000000, /* see leaks_tells_amounts */
    LEAKS_TELLING = 24, /* live samples with which a growing site is called so nine of ten times */
};

typedef struct leaks_site {
    const profile_location *place; /* NULL: without backtrace, or the total */
    const char *remark; /* what is known of such blocks, whatever the data say; NULL: nothing */
    leaks_class class;
    cost cost; /* live at the end of the window; by MEASURE_BYTESECONDS, what that held so far */
    uint64_t startup; /* samples of the cost in blocks born before the window */
    uint64_t at_exit; /* samples of the cost in blocks freed after the window */
    estimate live;    /* the cost in the unit of the measure */
    /* What is live at the end of the window minus what is live at its beginning, in that unit; in
     * bytes by MEASURE_BYTESECONDS. */
    estimate grown;
    estimate slope;         /* bytes or blocks per second, of what was live in the window */
    uint64_t slope_samples; /* of blocks that came or went in the window */
    double late;            /* the slope of the window's later half; without interval */
    double p; /* chance of so clear a growth if there is none, or an upper limit of it */
    double q; /* false discovery rate among all sites, from `p` */
    /* Live at equal steps from the start to the end of the window: samples, or blocks by
     * MEASURE_BLOCKS. */
    double line[LEAKS_POINTS];
} leaks_site;

/* When growth stops counting, in microseconds: at the end of the trace, or before the program began
 * to clean up. */
typedef struct leaks_window {
    uint64_t to;
    bool cleaned_up;
    bool kept_all; /* hardly anything was freed up to `to` */
} leaks_window;

typedef struct leaks_spec {
    const leaks_window *window; /* NULL: found by leaks_find_window */
    const uint8_t *kept;        /* by row of the table; NULL: all */
    bool by_function;           /* sites are functions with all their lines; else single lines */
    double warm_up;             /* the share of the time, 0 … 1, that is start-up */
    filter_bounds may;          /* of the blocks that were kept, seen or missed */
    /* MEASURE_BLOCKS: the number of blocks grows; else bytes. By MEASURE_BYTESECONDS, what is left
     * counts by how long it has been live. */
    measure measure;
} leaks_spec;

typedef struct leaks {
    /* Microseconds. The window in which growth counts: from the end of the start-up to the end of
     * the trace, or to the moment before the program began to clean up. */
    uint64_t from, to;
    bool cleaned_up, kept_all;
    filter_bounds may; /* as in the question */
    measure measure;   /* of all costs: MEASURE_ALLOCATED, MEASURE_BLOCKS or MEASURE_BYTESECONDS */
    leaks_site total;
    double telling_rate; /* at which the largest unclear site would be judged; 0: there is none */
    /* Sorted by class; growing sites then by p, where values below 0.001 are equal; then by what is
     * live. */
    VEC(leaks_site) sites;
} leaks;

/* Finds the window, which depends only on the profile. False when there is no memory. */
bool leaks_find_window(const profile *p, leaks_window *w);

/* Fills `*result`, which need not be initialized; false when there is no memory. The result refers
 * to the profile. */
bool leaks_query(const lens *l, const leaks_spec *spec, leaks *result);

void leaks_free(leaks *l);

/* Returns whether to show growth as amounts, not as rates: in a window of seconds, a rate says less
 * than what grew, and where nothing grows or shrinks by a byte or block a second, it would read as
 * 0. */
bool leaks_tells_amounts(const leaks *l);

/* ---- parts, for tests -------------------------------------------------------------------- */

/* Returns a remark on memory that the C library keeps for itself: streams and their buffers. NULL:
 * nothing is known. */
const char *leaks_remark(const char *function);

/* Returns the chance that the sum of `n` numbers is as large as it is, if each could as well have
 * the other sign: Chernoff's bound. */
double leaks_chance(const double *y, size_t n);

/* Returns what a block that is live from `born` to `died` adds to the slope, per second, of a line
 * fitted to what is live from `from` to `to`; times in microseconds. */
double leaks_weight(uint64_t born, uint64_t died, uint64_t from, uint64_t to);

#endif
