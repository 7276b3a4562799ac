/* shared.h: what the sessions of one run share: the symbolizer, and the results of each receiver
 * over all processes. */
#ifndef PUSH_SHARED_H
#define PUSH_SHARED_H

#include <pthread.h>
#include <stdbool.h>

#include "push/push.h"
#include "push/target.h"
#include "symbolize/symbolize.h"

/* The results of one receiver, over the sessions that are over. */
typedef struct shared_account {
    char url[TARGET_URL_MAX]; /* empty: no session is over */
    uint64_t n_processes, n_taken, n_refused;
    uint64_t n_lacking; /* processes of which the receiver lacks data that it did not refuse */
    char reason[TARGET_REASON]; /* why it lacks or refused data */
    bool told;                  /* the user was told of a failure */
} shared_account;

typedef struct push_shared {
    pthread_mutex_t names_lock; /* guards the symbolizer */
    symbolizer *symbolizer;
    pthread_mutex_t lock; /* guards the accounts */
    shared_account accounts[PUSH_TARGETS_MAX];
} push_shared;

/* Returns false when there is no memory. `recorded_at` is the start of the first process, in
 * microseconds since the epoch. */
bool shared_begin(push_shared *s, uint64_t recorded_at);
void shared_end(push_shared *s);

/* Returns true for the first caller only, which then reports the failure of receiver `i`. */
bool shared_tells_first(push_shared *s, size_t i);

/* Adds the result of one session to receiver `i`. `lacks` says why the receiver lacks data; NULL:
 * it does not. */
void shared_add(push_shared *s, size_t i, const target *t, const char *lacks);

#endif
