/* agent_targets.h: the processes that the agent has recorded: for each a process of ours that runs
 * `attach --keep`, with the rights of the user whose it is. What goes wrong with one is its own
 * affair: it is said, and tried again, with growing pauses, while the process lives. */
#ifndef CLI_AGENT_AGENT_TARGETS_H
#define CLI_AGENT_AGENT_TARGETS_H

#include <limits.h>
#include <poll.h>

#include "cli/agent/agent_config.h"
#include "cli/agent/agent_find.h"

/* X(identifier, name) */
#define TARGET_STATES(X)                                                                           \
    X(STARTING, "starting")   /* `attach` is at work */                                            \
    X(RECORDING, "recording") /* as `attach` says */                                               \
    X(ENDING, "ending")       /* it was asked to end, or the process has ended */                  \
    X(FAILED, "failed")       /* is tried again later */                                           \
    X(DETACHED, "detached")   /* somebody has ended the recording: it is not begun again */

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
    bool is_there;         /* it was, at the last look */
    pid_t child;           /* of ours; 0: there is none */
    int said;              /* what the child says on standard error; -1: nothing more */
    uint64_t since, retry; /* when the state began, and it is tried again: us, monotonic */
    unsigned n_failures;   /* in a row */
    char folder[PATH_MAX];
    char line[TARGET_LINE]; /* that the child is saying */
    size_t n_line;
    char problem[TARGET_LINE]; /* the last error or warning */
} target_process;

typedef VEC(struct pollfd) pollfds;

typedef struct targets {
    const agent_config *config;
    VEC(target_process) items;
    uint64_t n_started, n_failed, n_ended; /* recordings, in all */
    uint64_t n_left_out;                   /* processes beyond the limit, at the last look */
} targets;

/* Looks for processes, and begins what is to be begun. False when there is no memory. */
bool targets_scan(targets *t);

/* Appends what is to be waited for; then hears what children have said. */
bool targets_poll(const targets *t, pollfds *polled);
void targets_hear(targets *t);

/* Looks after children that have ended. */
void targets_reap(targets *t);

/* Has all recordings end; how many have not yet. */
void targets_end(targets *t);
size_t targets_n_active(const targets *t);

void targets_free(targets *t);

#endif
