/* viewer.c: a reading has a count of users and is replaced under the trace's lock. Waiting for
 * blocks means waiting for the next reading. The capacity of the cache follows from the size of the
 * traces. */
#include "answers/viewer.h"

#include <stdio.h>
#include <string.h>

#include "answers/upload.h"
#include "base/path.h"

/* The capacity of the cache. A small trace needs less, as its results are quickly computed
 * again. */
enum { CACHE_TIMES = 2 /* the size of the traces */ };
#define CACHE_LEAST ((size_t)48 << 20)
#define CACHE_MOST  ((size_t)512 << 20)

static void limit_cache(viewer *v) {
    size_t sum = 0;
    for (size_t i = 0; i < v->n_traces; i++) {
        const uint64_t size = v->traces[i].size; /* 0: unknown */
        sum += size == 0 || size > CACHE_MOST ? CACHE_MOST : (size_t)size * CACHE_TIMES;
    }
    cache_limit(v->cache, sum < CACHE_LEAST ? CACHE_LEAST : sum > CACHE_MOST ? CACHE_MOST : sum);
}

static void forget_dropped(viewer_trace *t) {
    if (t->is_dropped) {
        upload_remove((char *)(uintptr_t)t->path);
        free((char *)(uintptr_t)t->name);
    }
    t->is_dropped = false;
    t->path = t->name = NULL;
}

bool viewer_init(viewer *v, char *const *paths, size_t n) {
    *v = (viewer){.traces = calloc(n + VIEWER_OPENED, sizeof *v->traces),
                  .cache = cache_new(CACHE_MOST)};
    pthread_mutex_init(&v->listening, NULL);
    if (!v->traces || !v->cache) {
        viewer_free(v);
        return false;
    }
    v->n_traces = n;
    v->most_traces = n + VIEWER_OPENED;
    for (size_t i = 0; i < n; i++) {
        v->traces[i].path = paths[i];
        v->traces[i].name = path_base(paths[i]);
    }
    for (size_t i = 0; i < v->most_traces; i++) {
        pthread_mutex_init(&v->traces[i].lock, NULL);
        pthread_cond_init(&v->traces[i].changed, NULL);
    }
    return true;
}

void viewer_free(viewer *v) {
    cache_free(v->cache);
    for (size_t i = 0; v->traces && i < v->most_traces; i++) {
        reading_release(v->traces[i].now);
        forget_dropped(&v->traces[i]);
        pthread_mutex_destroy(&v->traces[i].lock);
        pthread_cond_destroy(&v->traces[i].changed);
    }
    free(v->traces);
    pthread_mutex_destroy(&v->listening);
    *v = (viewer){0};
}

bool viewer_open(viewer *v, char *path, const char *name, size_t *trace, char *why, size_t size) {
    const size_t next = *trace = v->n_traces;
    if (next == v->most_traces) {
        snprintf(why, size, "no more than %d traces can be opened from here", VIEWER_OPENED);
        upload_remove(path);
        return false;
    }
    viewer_trace *t = &v->traces[next];
    t->path = path;
    t->name = strdup(name);
    t->is_dropped = true;
    if (t->name && v->open(v->open_context, next, why, size)) {
        v->n_traces = next + 1;
        return true;
    }
    reading_release(t->now);
    t->now = NULL;
    t->failed = false;
    forget_dropped(t);
    return false;
}

/* ---- readings ---------------------------------------------------------------------------- */

void reading_release(reading *r) {
    if (!r || atomic_fetch_sub(&r->users, 1) > 1)
        return;
    profile_free(&r->profile);
    free(r->warnings);
    free(r);
}

static bool find_peak(reading *r) {
    const profile *p = &r->profile;
    if (!reading_has_blocks(r))
        return true;
    if (!blocks_peak(&p->table, &r->peak))
        return false;
    r->spread = (blocks_spread){.low = r->peak.samples, .high = r->peak.samples};
    return p->info.sample_rate < 1 || blocks_spread_of_most(&p->table, NULL, &r->peak, &r->spread);
}

static reading *reading_new(profile *p, const memtrace_warning *warnings, size_t n,
                            reading_state state) {
    reading *r = calloc(1, sizeof *r);
    if (!r) {
        profile_free(p);
        return NULL;
    }
    r->profile = *p;
    *p = (profile){0};
    r->state = state;
    atomic_init(&r->users, 1);
    r->warnings = malloc((n + 1) * sizeof *r->warnings);
    if (!r->warnings || !find_peak(r)) {
        reading_release(r);
        return NULL;
    }
    if (n)
        memcpy(r->warnings, warnings, n * sizeof *warnings);
    r->n_warnings = n;
    return r;
}

/* Figures computed for the old reading hold for the new one, if the kind of sample is the same. */
static void take_figures(reading *r, reading *old) {
    const memtrace_info *a = &r->profile.info, *b = old ? &old->profile.info : NULL;
    if (!old || a->sample_rate != b->sample_rate || a->word_size != b->word_size)
        return;
    for (size_t i = 0; i < FIGURES_KEPT; i++) {
        double high = atomic_load_explicit(&old->figures.high[i], memory_order_acquire);
        atomic_init(&r->figures.high[i], high);
        atomic_init(&r->figures.low[i],
                    high > 0 ? atomic_load_explicit(&old->figures.low[i], memory_order_relaxed)
                             : 0);
    }
}

/* The lock must be held. The generation stays the same if the new reading only adds the blocks. */
static void number_reading(reading *r, const reading *old) {
    r->serial = old ? old->serial + 1 : 1;
    bool same = old && old->state == READING_PARTIAL && r->state == READING_WHOLE;
    r->generation = old ? old->generation + !same : 1;
}

static void tell_listener(viewer *v, size_t trace) {
    pthread_mutex_lock(&v->listening);
    if (v->published)
        v->published(v->listener, trace);
    pthread_mutex_unlock(&v->listening);
}

bool viewer_publish(viewer *v, size_t trace, profile *p, const memtrace_warning *warnings,
                    size_t n_warnings, reading_state state) {
    viewer_trace *t = &v->traces[trace];
    reading *r = reading_new(p, warnings, n_warnings, state);
    if (!r)
        return false;
    pthread_mutex_lock(&t->lock);
    reading *old = t->now;
    bool late = old && reading_has_blocks(old) && !reading_has_blocks(r);
    if (!late) {
        number_reading(r, old);
        take_figures(r, old);
        t->now = r;
        t->failed = false;
        pthread_cond_broadcast(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    if (late) {
        reading_release(r);
        return true;
    }
    if (old) {
        char prefix[24];
        snprintf(prefix, sizeof prefix, "%zu ", trace);
        cache_forget(v->cache, prefix);
    }
    reading_release(old);
    limit_cache(v);
    tell_listener(v, trace);
    return true;
}

void viewer_listen(viewer *v, void (*published)(void *context, size_t trace), void *context) {
    pthread_mutex_lock(&v->listening);
    v->published = published;
    v->listener = context;
    pthread_mutex_unlock(&v->listening);
    for (size_t i = 0; i < v->n_traces; i++)
        tell_listener(v, i);
}

void viewer_fail(viewer *v, size_t trace) {
    viewer_trace *t = &v->traces[trace];
    pthread_mutex_lock(&t->lock);
    t->failed = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

bool viewer_has_failed(viewer *v, size_t trace) {
    viewer_trace *t = &v->traces[trace];
    pthread_mutex_lock(&t->lock);
    const bool failed = t->failed;
    pthread_mutex_unlock(&t->lock);
    return failed;
}

void viewer_end(viewer *v) {
    for (size_t i = 0; i < v->n_traces; i++) {
        viewer_trace *t = &v->traces[i];
        pthread_mutex_lock(&t->lock);
        t->ending = true;
        pthread_cond_broadcast(&t->changed);
        pthread_mutex_unlock(&t->lock);
    }
}

static bool is_enough(const reading *r, bool blocks) {
    return r && (!blocks || reading_has_blocks(r));
}

reading *viewer_take(viewer *v, size_t trace, bool blocks) {
    viewer_trace *t = &v->traces[trace];
    pthread_mutex_lock(&t->lock);
    while (blocks && !is_enough(t->now, blocks) && !t->failed && !t->ending)
        pthread_cond_wait(&t->changed, &t->lock);
    reading *r = is_enough(t->now, blocks) ? t->now : NULL;
    if (r)
        atomic_fetch_add(&r->users, 1);
    pthread_mutex_unlock(&t->lock);
    return r;
}
