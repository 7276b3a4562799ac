/* handover.h: how a recorder asks `allotrace run` to follow a program, before that program begins.
 * This is for a program that cannot load a recorder because it is static, or whose heap is read
 * from outside.
 * The thread that is about to exec the program connects to a socket of `run` and sends a
 * handover_request. The name of the socket is in the environment; it is an abstract name, so no
 * file is left behind. `run` replies with a handover_answer. After HANDOVER_FOLLOWS, the thread is
 * traced up to its exec, or up to the process that it is about to spawn. Then the socket is closed.
 * If there was no exec, the thread sends a byte and waits for one; then it is no longer traced. */
#ifndef CONTRACT_HANDOVER_H
#define CONTRACT_HANDOVER_H

#include <stdint.h>

#define HANDOVER_VERSION 1

enum {
    HANDOVER_MOST_MS = 1000, /* wait of an exec for each answer; after it, nobody records */
    HANDOVER_NAME = 40,      /* most bytes of the socket's name, with its NUL */
};

struct handover_request {
    uint32_t version;
    uint32_t spawns;         /* the thread starts a process for it, rather than becoming it */
    int64_t process, thread; /* ids as the process itself sees them */
};

enum handover_kind {
    HANDOVER_REFUSED, /* the program begins unrecorded */
    HANDOVER_PERMIT,  /* first permit `tracer` (PR_SET_PTRACER), then send a byte */
    HANDOVER_FOLLOWS
};

struct handover_answer {
    uint32_t kind; /* an enum handover_kind */
    int32_t tracer;
};

#endif
