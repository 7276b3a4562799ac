/* control.h: what the command line asks of a recorder inside a running process, by calling the one
 * function that the recorder exports for it (see attach/remote.h). */
#ifndef BASE_CONTROL_H
#define BASE_CONTROL_H

#include <stdint.h>

#define CONTROL_FUNCTION "allotrace_control"
#define CONTROL_VERSION  1

/* X(identifier, name on the command line, meaning) */
#define CONTROL_ACTIONS(X)                                                                         \
    X(BEGIN, "begin", "start a recording in a process that was not started with one")              \
    X(END, "end", "end the recording for good")                                                    \
    X(START, "start", "go on sampling allocations")                                                \
    X(STOP, "stop", "stop sampling allocations; what was sampled is still followed")               \
    X(MARK, "mark", "put a named mark into the trace")                                             \
    X(FLUSH, "flush", "write to the file all there is")                                            \
    X(STATUS, "status", "say whether it is being recorded, and where to")

enum control_action {
#define CONTROL_ACTION(id, name, meaning) CONTROL_##id,
    CONTROL_ACTIONS(CONTROL_ACTION)
#undef CONTROL_ACTION
        N_CONTROL_ACTIONS
};

/* The mark of STOP in the trace. */
#define CONTROL_MARK_STOPPED "sampling stopped"

enum control_outcome {
    CONTROL_DONE,
    CONTROL_REFUSED, /* `reply` says why */
    CONTROL_IDLE,    /* nothing is recorded in this process */
    CONTROL_UNKNOWN, /* another version, or no such action */
};

enum { CONTROL_TEXT = 8192, CONTROL_REPLY = 4352 };

typedef struct control {
    uint32_t version, action;
    uint32_t outcome;
    uint32_t stopped;          /* after any action: is sampling stopped? */
    char text[CONTROL_TEXT];   /* BEGIN: settings, each NAME=VALUE and a NUL, then a NUL. MARK: its
                                  name */
    char reply[CONTROL_REPLY]; /* the trace's path, or why it was refused */
    int32_t error;             /* of the system, why it was refused; 0: it is none of these */
} control;

#endif
