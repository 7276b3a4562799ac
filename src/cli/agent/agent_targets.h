/* agent_targets.h: the processes that the agent records. For each, a child process of the agent
 * runs `attach --keep` with the rights of the process's user. A failure affects only its own
 * process: it is reported, and recording is tried again, with growing pauses, while the process
 * lives. */
#ifndef CLI_AGENT_AGENT_TARGETS_H
#define CLI_AGENT_AGENT_TARGETS_H

#include <limits.h>
#include <poll.h>

#include "cli/agent/agent_config.h"
#include "cli/agent/agent_find.h"

/* X(identifier, name) */
#define TARGET_STATES(X)                                                                           \
    X(STARTING, "starting")   /* `attach` is starting */                                           \
    X(RECORDING, "recording") /* according to `attach` */                                          \
    X(ENDING, "ending")       /* it was asked to end, or the process is gone */                    \
    X(FAILED, "failed")       /* will be tried again */                                            \
    X(DETACHED, "detached")   /* somebody ended the recording: it stays off */

typedef enum target_state {
#define TARGET_STATE_ID(id, name) TARGET_##id,
    TARGET_STATES(TARGET_STATE_ID)
#undef TARGET_STATE_ID
        N_TARGET_STATES
} target_state;

extern const char *const target_state_names[N_TARGET_STATES];

enum { TARGET_LINE = 1024 };

typedef struct target_process {
    found_process process;
    target_state state;
    bool is_there;         /* it existed at the last scan */
    pid_t child;           /* child process that runs `attach`; 0: none */
    int said;              /* pipe with the child's messages; -1: closed */
    uint64_t since, retry; /* `since`: when the state began; `retry`: when to try again: us,
                              monotonic */
    unsigned n_failures;   /* consecutive failures */
    char folder[PATH_MAX];
    char line[TARGET_LINE]; /* the incomplete line from the child */
    size_t n_line;
    char problem[TARGET_LINE]; /* the last error or warning */
} target_process;

typedef VEC(struct pollfd) pollfds;

typedef struct targets {
    const agent_config *config;
    VEC(target_process) items;
    uint64_t n_started, n_failed, n_ended; /* numbers of recordings since the start */
    uint64_t n_left_out;                   /* processes beyond the limit, at the last scan */
} targets;

/* Scans for processes, and starts to record new ones. Returns false if there is no memory. */
bool targets_scan(targets *t);

/* targets_poll appends the descriptors to wait for. targets_hear then handles messages of children.
 * targets_poll returns false if there is no memory. */
bool targets_poll(const targets *t, pollfds *polled);
void targets_hear(targets *t);

/* Handles children that have ended. */
void targets_reap(targets *t);

/* targets_end asks all recordings to end. targets_n_active returns how many have not ended yet. */
void targets_end(targets *t);
size_t targets_n_active(const targets *t);

void targets_free(targets *t);

#endif
