/* shared.c: sums under a lock. */
#include "push/shared.h"

#include <stdio.h>
#include <string.h>

bool shared_begin(push_shared *s, uint64_t recorded_at) {
    *s = (push_shared){.symbolizer =
                           symbolizer_new(&(symbolize_options){.recorded_at = recorded_at})};
    pthread_mutex_init(&s->names_lock, NULL);
    pthread_mutex_init(&s->lock, NULL);
    return s->symbolizer;
}

void shared_end(push_shared *s) {
    symbolizer_free(s->symbolizer);
    pthread_mutex_destroy(&s->names_lock);
    pthread_mutex_destroy(&s->lock);
}

bool shared_tells_first(push_shared *s, size_t i) {
    pthread_mutex_lock(&s->lock);
    const bool first = !s->accounts[i].told;
    s->accounts[i].told = true;
    pthread_mutex_unlock(&s->lock);
    return first;
}

void shared_add(push_shared *s, size_t i, const target *t, const char *lacks) {
    pthread_mutex_lock(&s->lock);
    shared_account *a = &s->accounts[i];
    snprintf(a->url, sizeof a->url, "%s", t->url);
    a->n_processes++;
    a->n_taken += t->n_taken;
    a->n_refused += t->n_refused;
    a->n_lacking += lacks || t->owed;
    if (lacks)
        snprintf(a->reason, sizeof a->reason, "%s", lacks);
    else if (t->owed || t->n_refused)
        snprintf(a->reason, sizeof a->reason, "%s", t->reason);
    pthread_mutex_unlock(&s->lock);
}
