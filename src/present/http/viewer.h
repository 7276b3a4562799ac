/* viewer.h: what all requests share: the traces that are shown, each as it was last read, and the
 * cache of answers to questions about them.
 *
 * A reading is immutable once it was published, and stays until its last user has released it: a
 * trace that grows is read on beside those who look at it. */
#ifndef PRESENT_HTTP_VIEWER_H
#define PRESENT_HTTP_VIEWER_H

#include <pthread.h>
#include <stdatomic.h>

#include "analyse/profile.h"
#include "present/figures.h"
#include "present/http/cache.h"

/* The interval of so many samples takes some microseconds to compute, and pictures have thousands,
 * most with few samples. */
#define FIGURES_KEPT 4096

typedef struct figure_memo {
    _Atomic double low[FIGURES_KEPT], high[FIGURES_KEPT]; /* 0 in `high`: not computed yet */
} figure_memo;

/* A trace as far as it was read. */
typedef struct reading {
    profile profile;
    uint64_t generation; /* of its trace, from 1 */
    bool growing;        /* it may be read on */
    memtrace_warning *warnings;
    size_t n_warnings;
    uint64_t peak_time, peak_samples;
    figure_memo figures;
    atomic_uint users;
} reading;

typedef struct viewer_trace {
    const char *path, *name;
    pthread_mutex_t lock; /* guards `now` */
    reading *now;         /* NULL: nothing could be read yet */
} viewer_trace;

typedef struct viewer {
    viewer_trace *traces;
    size_t n_traces;
    cache *cache;
    const char *version;
    const char *sources; /* the folder of relative source files */
    bool live;           /* traces are followed */
    /* Called after each publication, from the thread that published; may be NULL. */
    void (*published)(void *context, size_t trace);
    void *context;
} viewer;

/* False when there is no memory. `paths` must outlive the viewer. */
bool viewer_init(viewer *v, char *const *paths, size_t n);
void viewer_free(viewer *v); /* no reading may be in use */

/* Shows what was read of a trace from now on; takes the profile over, also when it fails, for want
 * of memory. Warnings are copied. */
bool viewer_publish(viewer *v, size_t trace, profile *p, const memtrace_warning *warnings,
                    size_t n_warnings, bool growing);

/* The newest reading, in use by the caller; NULL: there is none yet. */
reading *viewer_take(viewer *v, size_t trace);
void reading_release(reading *r); /* NULL is allowed */

/* As figure_of, but remembered. */
figure reading_figure(reading *r, uint64_t samples);

#endif
