/* entered.h: what `run` tells a recorder that it has put into a statically linked program, at the
 * one call that it makes of it there, before the program's first instruction (attach/enter.h), and
 * what that answers. */
#ifndef CONTRACT_ENTERED_H
#define CONTRACT_ENTERED_H

#include <stdint.h>

#define ENTERED_VERSION 1

typedef struct entered {
    uint32_t version;
    uint32_t is_recorded;              /* the answer */
    uint64_t stack;                    /* where the kernel has put arguments and environment */
    uint64_t clock;                    /* the kernel's clock_gettime; 0: it takes a system call */
    uint64_t bias, headers, n_headers; /* of the program */
    uint64_t own;                      /* where the recorder begins */
    char text[256]; /* what is recorded, or why nothing is: goes on from a name */
} entered;

#endif
