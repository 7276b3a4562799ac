/* control.h: what the command line asks of a recorder inside a running process, by calling the one
 * function that the recorder exports for it (see attach/remote.h). */
#ifndef CONTRACT_CONTROL_H
#define CONTRACT_CONTROL_H

#include <stdint.h>

#define CONTROL_FUNCTION "allotrace_control"
#define CONTROL_VERSION  7

/* What `allotrace ctl` asks for: X(identifier, name, what follows the name), with `between` between
 * two of them. STOP: blocks that were sampled are still followed. */
#define CONTROL_ORDERS(X, between)                                                                 \
    X(START, "start", "")                                                                          \
    between X(STOP, "stop", "") between X(MARK, "mark", " NAME") between X(FLUSH, "flush", "")     \
        between                                                                                    \
        X(STATUS, "status", "")

#define CONTROL_ORDER_NAME(id, name, behind) name
#define CONTROL_ORDER_NAMES(between)         CONTROL_ORDERS(CONTROL_ORDER_NAME, between)

enum control_action {
    CONTROL_BEGIN, /* a recording in a process that was not started with one */
    CONTROL_END,   /* the recording for good */
#define CONTROL_ACTION(id, name, behind) CONTROL_##id,
    CONTROL_ORDERS(CONTROL_ACTION, )
#undef CONTROL_ACTION
};

/* Why BEGIN is refused where one has begun. */
#define CONTROL_REPLY_RECORDED "it is already being recorded"

/* The mark of STOP in the trace. */
#define CONTROL_MARK_STOPPED "sampling stopped"

enum control_outcome {
    CONTROL_DONE,
    CONTROL_REFUSED, /* `reply` says why */
    CONTROL_IDLE,    /* nothing is recorded in this process */
    CONTROL_UNKNOWN, /* another version, or no such action */
};

enum { CONTROL_TEXT = 8192, CONTROL_REPLY = 4352, CONTROL_LINKED = 256 };

/* Code of the program that is to be other code while it is recorded. Threads may be running it, so
 * that whoever asks for the recording changes it, while all of them stand still. With it may change
 * data that says so. */
enum {
    CONTROL_CODE = 8, /* bytes, at most */
    CONTROL_RUNTIME_CODES = 16,
    CONTROL_LINKED_CODES = 192,
    CONTROL_CODES = CONTROL_RUNTIME_CODES + CONTROL_LINKED_CODES
};
typedef struct control_code {
    uint64_t at;
    uint32_t size;
    unsigned char before[CONTROL_CODE], after[CONTROL_CODE];
} control_code;

typedef struct control {
    uint32_t version, action;
    uint32_t outcome;
    uint32_t stopped;     /* after any action: is sampling stopped? */
    uint32_t is_nameless; /* BEGIN: a seccomp filter forbids to ask what threads are called */
    uint32_t is_paced;    /* BEGIN: the rate is to follow what it costs (pace.h) */
    uint64_t pace;        /* then the address of that; 0: the rate stays as it is */
    uint32_t n_codes;     /* BEGIN: to be changed; END: to be changed back */
    uint32_t n_linked;    /* of these, the last ones: of an allocator linked into the program */
    control_code codes[CONTROL_CODES];
    char linked[CONTROL_LINKED]; /* BEGIN: what is recorded of that one, or why it is not, in words
                                    that go on from the program's name; "": there is none.
                                    END: why code was not changed back; "": it was */
    char declined[CONTROL_LINKED]; /* BEGIN: why a runtime's objects are not recorded, in words that
                                      go on from the program's name; "": they are, or there are none
                                    */
    char text[CONTROL_TEXT];   /* BEGIN: settings, each NAME=VALUE and a NUL, then a NUL. MARK: its
                                  name */
    char reply[CONTROL_REPLY]; /* the trace's path, or why it was refused */
    int32_t error;             /* of the system, why it was refused; 0: it is none of these */
} control;

#endif
