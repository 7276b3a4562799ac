/* gauges.h: the system's view of the process's memory, as quantities in the trace beside live
 * memory. Owns a descriptor of the kernel's counters. Writes nothing itself. */
#ifndef RECORD_GAUGES_H
#define RECORD_GAUGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/lock.h"

/* X(identifier, name in the trace, a field of /proc/self/statm, a field to subtract or -1)
 * rss: memory of the process that is resident. anonymous: the part of it that is not file pages;
 * this is memory that was allocated and written to, including stacks. heap: all private writable
 * memory, whether it was ever written to or not; stacks of threads count with their full size. */
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
    lock lock; /* guards all fields below */
    int fd;
    bool open;    /* may be read; the file is reopened if the program has closed it */
    dev_t device; /* with `inode`: identity of our file */
    ino_t inode;
} gauges;

void gauges_open(gauges *g);

/* Reads the gauges, in bytes. Returns false if that is impossible right now. Any thread may call
 * this; it never waits. */
bool gauges_read(gauges *g, uint64_t bytes[N_GAUGES]);

/* Ends reading. Closes the descriptor if it is still ours. Async-signal-safe, takes no lock. */
void gauges_close(gauges *g);

/* Closes the descriptor like gauges_close, but leaves *g unchanged, because nobody reads the gauges
 * again. */
void gauges_drop(const gauges *g);

#endif
