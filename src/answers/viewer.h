/* viewer.h: what all requests share: the traces, each as it was last read, and the cache of
 * results.
 *
 * A reading is immutable once it is published, and stays until its last user releases it. A trace
 * that grows can thus be read on while requests use the reading before. */
#ifndef ANSWERS_VIEWER_H
#define ANSWERS_VIEWER_H

#include <pthread.h>
#include <stdatomic.h>

#include "answers/cache.h"
#include "profile/profile.h"
#include "render/figures.h"

enum { VIEWER_OPENED = 8 }; /* traces that may be opened while the server runs */

/* How much of a trace a reading contains. */
typedef enum reading_state {
    READING_BEGUN,   /* the beginning, while the rest is being read; no table of blocks */
    READING_PARTIAL, /* all of it, but the table of blocks is still being made */
    READING_GROWING, /* all that was there; the trace may grow */
    READING_WHOLE,
} reading_state;

/* A trace as far as it was read. */
typedef struct reading {
    profile profile;
    uint64_t generation; /* version of the trace that clients see, from 1 */
    uint64_t serial;     /* number of the reading; grows also if only the blocks were added */
    reading_state state;
    memtrace_warning *warnings;
    size_t n_warnings;
    blocks_most peak;     /* 0 without blocks */
    blocks_spread spread; /* at rate 1: bounds of the peak, as the order of events is not fully
                             known; 0 without blocks */
    figure_cache figures;
    atomic_uint users;
} reading;

typedef struct viewer_trace {
    const char *path, *name;
    bool is_dropped;         /* owns both names and the file, which was uploaded */
    _Atomic uint64_t size;   /* bytes of the file when it was last checked; 0: unknown */
    _Atomic double progress; /* fraction of the file that was read, in READING_BEGUN */
    pthread_mutex_t lock;    /* guards all below */
    pthread_cond_t changed;
    reading *now; /* NULL: nothing has been read yet */
    bool failed;  /* there will be no table of blocks */
    bool ending;  /* waiting threads give up */
} viewer_trace;

typedef struct viewer {
    viewer_trace *traces;
    _Atomic size_t n_traces; /* opened traces are added at the end */
    size_t most_traces;
    cache *cache;
    const char *version;
    long pid;                  /* process id of the server; 0: there is none */
    const char *sources;       /* folder of source files with relative names */
    bool live;                 /* the traces are being followed */
    pthread_mutex_t listening; /* guards these two; see viewer_listen */
    void (*published)(void *context, size_t trace);
    void *listener;
    /* Starts to read trace `trace`, whose path and name are set, and returns once a part is
     * published. Returns false, with one line in `why`, on failure. Called by one thread at a time.
     * NULL: no traces can be opened. */
    bool (*open)(void *context, size_t trace, char *why, size_t size);
    void *open_context;
    const struct download *downloads; /* see download.h; NULL: none */
    atomic_bool waiting; /* a request is waiting for what is allocated in the next seconds */
} viewer;

/* Returns false when there is no memory. `paths` must outlive the viewer. */
bool viewer_init(viewer *v, char *const *paths, size_t n);
void viewer_free(viewer *v); /* no reading may be in use */

/* Opens another trace from a file of upload.h, and takes the file over even if it fails. Returns
 * false, with one line in `why`, on failure. Called by one thread at a time. */
bool viewer_open(viewer *v, char *path, const char *name, size_t *trace, char *why, size_t size);

/* Makes a profile the newest reading of a trace, unless it lacks the blocks that the current
 * reading has. Takes the profile over even if it fails, which happens only for lack of memory.
 * Copies the warnings. */
bool viewer_publish(viewer *v, size_t trace, profile *p, const memtrace_warning *warnings,
                    size_t n_warnings, reading_state state);

/* Has `published` called after each publication, from the thread that published, and now for each
 * trace; NULL: no more. Afterwards the function that was set before is neither called nor
 * running. */
void viewer_listen(viewer *v, void (*published)(void *context, size_t trace), void *context);

/* Tells those who wait for blocks that reading failed. */
void viewer_fail(viewer *v, size_t trace);

/* Returns whether reading has failed since the last reading was published. */
bool viewer_has_failed(viewer *v, size_t trace);

/* Whether a reading has the table of blocks. */
static inline bool reading_has_blocks(const reading *r) {
    return r->state >= READING_GROWING;
}

/* Whether the peak is in the microsecond `moment`, a question about which is answered for the peak
 * itself, not for the end of that microsecond. */
static inline bool reading_peaks_at(const reading *r, uint64_t moment) {
    return reading_has_blocks(r) && r->peak.samples > 0 && moment == r->peak.at.time;
}

/* Ends all waiting for blocks, now and later. */
void viewer_end(viewer *v);

/* Returns the newest reading, in use by the caller; NULL if there is none yet. With `blocks`, waits
 * for a reading that has them; NULL if there will be none. */
reading *viewer_take(viewer *v, size_t trace, bool blocks);
void reading_release(reading *r); /* NULL is allowed */

/* Like figure_of, but cached. */
static inline figure reading_figure(reading *r, uint64_t samples) {
    return figure_of_cached(&r->figures, &r->profile, samples);
}

#endif
