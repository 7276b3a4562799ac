/* handover.h: how a recorder asks `allotrace run` to follow a program that cannot load one, since
 * it is static, or has a heap that is read from outside, before that program begins.
 *
 * Whoever is about to exec it connects to a socket of `run`'s, whose name is in the environment
 * (an abstract one: no file is left behind), and sends a handover_request. The answer is a
 * handover_answer. After HANDOVER_FOLLOWS the thread is traced up to its exec, or up to the process
 * that it is about to spawn; then the socket is closed, or, if there was no exec, a byte is sent
 * and awaited: it is traced no more. */
#ifndef CONTRACT_HANDOVER_H
#define CONTRACT_HANDOVER_H

#include <stdint.h>

#define HANDOVER_VERSION 1

enum {
    HANDOVER_MOST_MS = 1000, /* that an exec waits for each answer; after that, nobody records it */
    HANDOVER_NAME = 40,      /* bytes of the socket's name, with the 0 at its end, at most */
};

struct handover_request {
    uint32_t version;
    uint32_t spawns;         /* the thread starts a process for it, rather than becoming it */
    int64_t process, thread; /* as it calls itself */
};

enum handover_kind {
    HANDOVER_REFUSED, /* it goes on as if nobody had been asked */
    HANDOVER_PERMIT,  /* the kernel wants it to permit `tracer` (PR_SET_PTRACER), and then a byte */
    HANDOVER_FOLLOWS
};

struct handover_answer {
    uint32_t kind; /* of enum handover_kind */
    int32_t tracer;
};

#endif
