/* shared.h: what the sessions of one run's processes have in common: who finds names, and what
 * became of each receiver in all. */
#ifndef PUSH_SHARED_H
#define PUSH_SHARED_H

#include <pthread.h>
#include <stdbool.h>

#include "push/push.h"
#include "push/target.h"
#include "symbolize/symbolize.h"

/* Of one receiver, over the processes whose sessions are over. */
typedef struct shared_account {
    char url[TARGET_URL_MAX]; /* empty: none is over */
    uint64_t n_processes, n_taken, n_refused;
    uint64_t n_lacking;         /* processes of which it lacks something, other than it refused */
    char reason[TARGET_REASON]; /* why, or why it refused something */
    bool told;                  /* the user knows of a failure */
} shared_account;

typedef struct push_shared {
    pthread_mutex_t names_lock; /* of the symbolizer */
    symbolizer *symbolizer;
    pthread_mutex_t lock; /* of the accounts */
    shared_account accounts[PUSH_TARGETS_MAX];
} push_shared;

/* False when there is no memory. `recorded_at`: of the first of them, us since the epoch. */
bool shared_begin(push_shared *s, uint64_t recorded_at);
void shared_end(push_shared *s);

/* Whether nobody has told a failure of receiver `i` yet. */
bool shared_tells_first(push_shared *s, size_t i);

/* What became of a receiver in one session; `lacks`: why it has not got all, or NULL. */
void shared_add(push_shared *s, size_t i, const target *t, const char *lacks);

#endif
