/* entered.h: the request and the answer of the only call that `run` makes to a recorder that it has
 * put into a statically linked program, before the program's first instruction (attach/enter.h). */
#ifndef CONTRACT_ENTERED_H
#define CONTRACT_ENTERED_H

#include <stdint.h>

#define ENTERED_VERSION 2

typedef struct entered {
    uint32_t version;
    uint32_t is_recorded;              /* the answer */
    uint64_t stack;                    /* where the kernel has put arguments and environment */
    uint64_t bias, headers, n_headers; /* those of the program */
    uint64_t own;                      /* load address of the recorder */
    char text[256];                    /* what is recorded, or why nothing is; continues a name */
} entered;

#endif
