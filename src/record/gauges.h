/* gauges.h: what the system sees of the process, as quantities that stand in the trace beside what
 * is live. Owns a descriptor of the kernel's account of the process; writes nothing itself. */
#ifndef RECORD_GAUGES_H
#define RECORD_GAUGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/lock.h"

/* X(identifier, name in the trace, which field of /proc/self/statm, or one less another)
 *
 * rss: what it has in memory. anonymous: of that, what is not pages of files, which is memory that
 * was allocated and written to, stacks included. heap: all private memory that it may write to,
 * whether it ever was written to or not; the stacks of threads count with their full size. */
#define GAUGES(X)                                                                                  \
    X(RSS, "rss", 1, -1)                                                                           \
    X(ANONYMOUS, "anonymous", 1, 2)                                                                \
    X(HEAP, "heap", 5, -1)

enum gauge {
#define GAUGE_ENUM(id, ...) GAUGE_##id,
    GAUGES(GAUGE_ENUM)
#undef GAUGE_ENUM
        N_GAUGES
};

extern const char *const gauge_names[N_GAUGES] __attribute__((visibility("hidden")));

typedef struct gauges {
    lock lock; /* guards all that follows */
    int fd;
    bool open;    /* to be read; opened again if the program has closed it */
    dev_t device; /* with `inode`: which file is ours */
    ino_t inode;
} gauges;

void gauges_open(gauges *g);

/* Bytes by gauge; false if they cannot be had just now. Any thread may call; waits for nobody. */
bool gauges_read(gauges *g, uint64_t bytes[N_GAUGES]);

/* The end of reading. Closes the descriptor if it is still ours; async-signal-safe, takes no lock.
 */
void gauges_close(gauges *g);

/* The same where nobody looks at the gauges again, which stay as they are. */
void gauges_drop(const gauges *g);

#endif
