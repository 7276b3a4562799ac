/* control.h: the requests of the command line to a recorder inside a running process. It makes them
 * by calling the one function that the recorder exports for this (see attach/remote.h). */
#ifndef CONTRACT_CONTROL_H
#define CONTRACT_CONTROL_H

#include <stdint.h>

#define CONTROL_FUNCTION "allotrace_control"
#define CONTROL_VERSION  7

/* The requests of `allotrace ctl`: X(identifier, name, what follows the name), with `between`
 * between two of them. After STOP, blocks that were sampled before are still followed. */
#define CONTROL_ORDERS(X, between)                                                                 \
    X(START, "start", "")                                                                          \
    between X(STOP, "stop", "") between X(MARK, "mark", " NAME") between X(FLUSH, "flush", "")     \
        between                                                                                    \
        X(STATUS, "status", "")

#define CONTROL_ORDER_NAME(id, name, behind) name
#define CONTROL_ORDER_NAMES(between)         CONTROL_ORDERS(CONTROL_ORDER_NAME, between)

enum control_action {
    CONTROL_BEGIN, /* begin a recording in a process that was started without one */
    CONTROL_END,   /* end the recording for good */
#define CONTROL_ACTION(id, name, behind) CONTROL_##id,
    CONTROL_ORDERS(CONTROL_ACTION, )
#undef CONTROL_ACTION
};

/* Why BEGIN is refused if a recording has already begun. */
#define CONTROL_REPLY_RECORDED "it is already being recorded"

/* The mark that STOP leaves in the trace. */
#define CONTROL_MARK_STOPPED "sampling stopped"

enum control_outcome {
    CONTROL_DONE,
    CONTROL_REFUSED, /* `reply` says why */
    CONTROL_IDLE,    /* nothing is recorded in this process */
    CONTROL_UNKNOWN, /* another version, or an unknown action */
};

enum { CONTROL_TEXT = 8192, CONTROL_REPLY = 4352, CONTROL_LINKED = 256 };

/* Code of the program that must be replaced while it is recorded. Threads may be running that code,
 * so whoever requests the recording replaces it while all threads are stopped. Data that records
 * the change may be replaced in the same way. */
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
    uint32_t stopped;     /* after any action: sampling is stopped */
    uint32_t may_not_ask; /* BEGIN: a seccomp filter forbids what seccomp_harms_asking checks */
    uint32_t is_paced;    /* BEGIN: the rate is to follow the recording's cost (pace.h) */
    uint64_t pace;        /* then the address of its struct pace; 0: the rate is fixed */
    uint32_t n_codes;     /* BEGIN: codes to replace; END: codes to restore */
    uint32_t n_linked;    /* how many of these, the last ones, are of an allocator in the program */
    control_code codes[CONTROL_CODES];
    char linked[CONTROL_LINKED];   /* BEGIN: what is recorded of that allocator, or why it is not,
                                    * continuing the program's name; "": there is none. END: why code
                                    * was not restored; "": it was */
    char declined[CONTROL_LINKED]; /* BEGIN: why a runtime's objects are not recorded, continuing
                                    * the program's name; "": they are, or there are none */
    char text[CONTROL_TEXT];       /* BEGIN: settings, each NAME=VALUE NUL, then a NUL. MARK: its
                                    * name */
    char reply[CONTROL_REPLY];     /* the trace's path, or why the request was refused */
    int32_t error;                 /* errno for which it was refused; 0: no system error */
} control;

#endif
