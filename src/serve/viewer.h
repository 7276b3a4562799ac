/* viewer.h: what all requests share: the traces that are shown, each as it was last read, and the
 * cache of answers to questions about them.
 *
 * A reading is immutable once it was published, and stays until its last user has released it: a
 * trace that grows is read on beside those who look at it. */
#ifndef SERVE_VIEWER_H
#define SERVE_VIEWER_H

#include <pthread.h>
#include <stdatomic.h>

#include "profile/profile.h"
#include "render/figures.h"
#include "serve/cache.h"

enum { VIEWER_OPENED = 8 }; /* traces that may be opened while it runs */

/* How much of a trace stands in a reading. */
typedef enum reading_state {
    READING_BEGUN,   /* its beginning, while the rest is being read; without the table of blocks */
    READING_PARTIAL, /* all of it, but without the table of blocks, which is still being made */
    READING_GROWING, /* as much as there was; it may be read on */
    READING_WHOLE,
} reading_state;

/* A trace as far as it was read. */
typedef struct reading {
    profile profile;
    uint64_t generation; /* of its trace, from 1: what clients know of */
    uint64_t serial;     /* the same, but different also where the trace is the same */
    reading_state state;
    memtrace_warning *warnings;
    size_t n_warnings;
    blocks_most peak;     /* 0 without blocks, as the next one */
    blocks_spread spread; /* of it, as far as the order of events is known, at rate 1 */
    figure_cache figures;
    atomic_uint users;
} reading;

typedef struct viewer_trace {
    const char *path, *name;
    bool is_dropped;         /* both are its own, and the file is an upload's */
    _Atomic uint64_t size;   /* bytes of the file as it was last looked at; 0: unknown */
    _Atomic double progress; /* while READING_BEGUN: the share of the file that was read */
    pthread_mutex_t lock;    /* guards what follows */
    pthread_cond_t changed;
    reading *now; /* NULL: nothing could be read yet */
    bool failed;  /* the table of blocks will not come */
    bool ending;  /* nobody waits any more */
} viewer_trace;

typedef struct viewer {
    viewer_trace *traces;
    _Atomic size_t n_traces; /* those that were opened come last */
    size_t most_traces;
    cache *cache;
    const char *version;
    long pid;            /* of the server; 0: there is none */
    const char *sources; /* the folder of relative source files */
    bool live;           /* traces are followed */
    /* Called after each publication, from the thread that published; may be NULL. */
    void (*published)(void *context, size_t trace);
    void *context;
    /* Reads another one, whose path and name are there already, until something of it is published;
     * false, with one line in `why`. One at a time. NULL: there will be no other. */
    bool (*open)(void *context, size_t trace, char *why, size_t size);
    void *open_context;
    const struct download *downloads; /* see download.h; NULL: none */
    atomic_bool waiting;              /* somebody has what is allocated in the next seconds */
} viewer;

/* False when there is no memory. `paths` must outlive the viewer. */
bool viewer_init(viewer *v, char *const *paths, size_t n);
void viewer_free(viewer *v); /* no reading may be in use */

/* Opens another trace: a file of upload.h's, which is the viewer's from now on, also on failure:
 * then false, with one line in `why`. One at a time. */
bool viewer_open(viewer *v, char *path, const char *name, size_t *trace, char *why, size_t size);

/* Shows what was read of a trace from now on, unless that has no blocks and what is shown has;
 * takes the profile over, also when it fails, for want of memory. Warnings are copied. */
bool viewer_publish(viewer *v, size_t trace, profile *p, const memtrace_warning *warnings,
                    size_t n_warnings, reading_state state);

/* Reading on failed: those who wait for blocks are told. */
void viewer_fail(viewer *v, size_t trace);

/* Whether a reading has the table of blocks. */
static inline bool reading_has_blocks(const reading *r) {
    return r->state >= READING_GROWING;
}

/* Nobody waits for anything any more. */
void viewer_end(viewer *v);

/* The newest reading, in use by the caller; NULL: there is none yet. With `blocks`, waits for one
 * that has them; NULL: there will be none. */
reading *viewer_take(viewer *v, size_t trace, bool blocks);
void reading_release(reading *r); /* NULL is allowed */

/* As figure_of, but remembered. */
static inline figure reading_figure(reading *r, uint64_t samples) {
    return figure_of_cached(&r->figures, &r->profile, samples);
}

#endif
