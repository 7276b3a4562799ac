/* signals.h: sets of signals that commands wait for or block. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <signal.h>

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

#endif
