/* signals.h: sets of signals that commands wait for or block, and threads that get none. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static inline sigset_t signals_only(int sig) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, sig);
    return only;
}

/* The signals by which the user or the system asks a command to end. */
static inline sigset_t signals_of_end(void) {
    sigset_t ends = signals_only(SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    return ends;
}

/* Whether the user has pressed Ctrl-C while SIGINT was blocked. */
static inline bool signals_interrupted(void *unused) {
    sigset_t pending;
    (void)unused;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGINT) == 1;
}

/* Starts a thread with all signals blocked, since other threads handle them. Returns 0 or an
 * errno. */
static inline int signals_start_thread(pthread_t *thread, void *(*run)(void *), void *context) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

#endif
