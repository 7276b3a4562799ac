/* memprof_host.h: shared by the tests of the engine: a host whose memory can be made to fail, a
 * tracker that records its callbacks, and the test of a distribution. */
#ifndef MEMPROF_HOST_H
#define MEMPROF_HOST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allotrace/memprof.h"
#include "unit.h"

/* An assertion for inner loops: Check's own assertions write to a file each time. */
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("%s", #condition);                                                        \
    } while (0)

/* ---- memory -------------------------------------------------------------------------------- */

typedef struct test_memory {
    long live;    /* bytes in use */
    long calls;   /* requests for memory */
    long fail_at; /* this request fails, and all later ones if `fail_on`; 0: none */
    bool fail_on;
} test_memory;

static inline void *test_reallocate(void *context, void *old, size_t old_size, size_t size) {
    test_memory *m = context;
    if (size) {
        long call = __atomic_add_fetch(&m->calls, 1, __ATOMIC_RELAXED);
        if (m->fail_at && (call == m->fail_at || (m->fail_on && call > m->fail_at)))
            return NULL;
    }
    __atomic_add_fetch(&m->live, (long)size - (long)old_size, __ATOMIC_RELAXED);
    if (!size) {
        free(old);
        return NULL;
    }
    char *p = realloc(old, size);
    if (p && size > old_size)
        memset(p + old_size, 0xA5, size - old_size); /* fresh memory need not be zeroed */
    return p;
}

/* ---- a record of callbacks ---------------------------------------------------------------- */

typedef struct test_event {
    char kind; /* a: alloc_minor, A: alloc_major, p: promote, d: dealloc_minor, D: dealloc_major */
    uintptr_t id; /* metadata: 1, 2, 3 … in order of allocation; promotion keeps it */
    memprof_allocation info;
} test_event;

typedef struct test_diary {
    test_event events[4096];
    size_t n;
    uintptr_t ids;
    bool refuse_alloc, refuse_promote;               /* return NULL */
    void (*inside)(void *context, memprof_thread *); /* called in every callback */
    void *inside_context;
} test_diary;

static inline void diary_note(test_diary *d, memprof_thread *thread, char kind, uintptr_t id,
                              const memprof_allocation *info) {
    if (d->n < sizeof d->events / sizeof *d->events)
        d->events[d->n++] =
            (test_event){.kind = kind, .id = id, .info = info ? *info : (memprof_allocation){0}};
    if (d->inside)
        d->inside(d->inside_context, thread);
}

static inline void *diary_alloc(test_diary *d, memprof_thread *t, char kind,
                                const memprof_allocation *info) {
    uintptr_t id = ++d->ids;
    diary_note(d, t, kind, id, info);
    return d->refuse_alloc ? NULL : (void *)id;
}

static inline void *diary_alloc_minor(void *c, memprof_thread *t, const memprof_allocation *info) {
    return diary_alloc(c, t, 'a', info);
}

static inline void *diary_alloc_major(void *c, memprof_thread *t, const memprof_allocation *info) {
    return diary_alloc(c, t, 'A', info);
}

static inline void *diary_promote(void *c, memprof_thread *t, void *metadata) {
    diary_note(c, t, 'p', (uintptr_t)metadata, NULL);
    return ((test_diary *)c)->refuse_promote ? NULL : metadata;
}

static inline void diary_dealloc_minor(void *c, memprof_thread *t, void *metadata) {
    diary_note(c, t, 'd', (uintptr_t)metadata, NULL);
}

static inline void diary_dealloc_major(void *c, memprof_thread *t, void *metadata) {
    diary_note(c, t, 'D', (uintptr_t)metadata, NULL);
}

static inline memprof_tracker diary_tracker(test_diary *d) {
    return (memprof_tracker){.context = d,
                             .alloc_minor = diary_alloc_minor,
                             .alloc_major = diary_alloc_major,
                             .promote = diary_promote,
                             .dealloc_minor = diary_dealloc_minor,
                             .dealloc_major = diary_dealloc_major};
}

/* Returns the recorded events in a static buffer: "A1 A2 D1". */
static inline const char *diary_text(const test_diary *d) {
    static char text[65536];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < d->n && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, i ? " %c%lu" : "%c%lu",
                                 d->events[i].kind, (unsigned long)d->events[i].id);
    return text;
}

/* ---- distributions -----------------------------------------------------------------------------
 */

/* Returns the logarithm of the probability of k successes in n trials. The terms are huge, so it
 * computes with long double. */
static inline double log_binomial_pmf(double n, double p, double k) {
    long double m = n, j = k;
    return (double)(lgammal(m + 1) - lgammal(j + 1) - lgammal(m - j + 1) + j * logl(p) +
                    (m - j) * log1pl(-p));
}

/* Returns by how many standard deviations a chi-square statistic exceeds its expectation (Wilson
 * and Hilferty): standard normal if the hypothesis holds. */
static inline double chi_square_z(double statistic, double freedom) {
    double v = 2 / (9 * freedom);
    return (cbrt(statistic / freedom) - (1 - v)) / sqrt(v);
}

/* Returns that number for counts of k = 0 … n_counts - 1 in `total` draws, against the binomial
 * distribution. The last count is of n_counts - 1 or more. Neighboring classes are joined until 10
 * draws are expected in each. */
static inline double binomial_z(const uint64_t *counts, size_t n_counts, double total, double n,
                                double p) {
    double statistic = 0, seen = 0, expected = 0, left = total, freedom = -1;
    for (size_t k = 0; k < n_counts; k++) {
        double e = k + 1 < n_counts ? (k <= n ? total * exp(log_binomial_pmf(n, p, (double)k)) : 0)
                                    : left - expected;
        seen += (double)counts[k];
        expected += e;
        if (expected >= 10 && left - expected >= 10) {
            statistic += (seen - expected) * (seen - expected) / expected;
            left -= expected;
            seen = expected = 0;
            freedom++;
        }
    }
    expected = left; /* the rest is one class */
    statistic += (seen - expected) * (seen - expected) / expected;
    freedom++;
    return chi_square_z(statistic, freedom);
}

#endif
