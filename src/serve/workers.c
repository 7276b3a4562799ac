/* workers.c: jobs are in one queue. A job starts a new thread if no idle thread is left for it.
 * Threads run until the server stops. */
#include "serve/workers.h"

#include <pthread.h>
#include <stdlib.h>

struct workers {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t wake;
    job *first, **last;
    pthread_t threads[WORKERS_MAX];
    unsigned n, idle, waiting; /* threads, idle threads, queued jobs */
    bool stopping;
};

workers *workers_new(void) {
    workers *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->last = &w->first;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    return w;
}

/* The lock must be held. Returns NULL when the thread must stop. */
static job *next_job(workers *w) {
    w->idle++;
    while (!w->first && !w->stopping)
        pthread_cond_wait(&w->wake, &w->lock);
    w->idle--;
    job *j = w->first;
    if (!j)
        return NULL;
    w->first = j->next;
    w->waiting--;
    if (!w->first)
        w->last = &w->first;
    return j;
}

static void *work(void *context) {
    workers *w = context;
    pthread_mutex_lock(&w->lock);
    for (job *j; (j = next_job(w));) {
        pthread_mutex_unlock(&w->lock);
        j->run(j);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

bool workers_submit(workers *w, job *j) {
    pthread_mutex_lock(&w->lock);
    if (w->idle <= w->waiting && w->n < WORKERS_MAX &&
        pthread_create(&w->threads[w->n], NULL, work, w) == 0)
        w->n++;
    bool ok = w->n > 0;
    if (ok) {
        j->next = NULL;
        *w->last = j;
        w->last = &j->next;
        w->waiting++;
        pthread_cond_signal(&w->wake);
    }
    pthread_mutex_unlock(&w->lock);
    return ok;
}

void workers_free(workers *w) {
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->lock);
    for (unsigned i = 0; i < w->n; i++)
        pthread_join(w->threads[i], NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
