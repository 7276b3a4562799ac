/* spool.h: packets on their way to a file, to be written in another order than they are made.
 *
 * Packets lie in an unnamed temporary file, so that a trace need not fit memory; their index does.
 * Single-threaded. */
#ifndef TRACE_SPOOL_H
#define TRACE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "trace/compressor.h"

typedef struct spooled {
    uint64_t begin; /* the packet's first time */
    uint64_t offset;
    uint32_t size;
} spooled;

typedef struct spool {
    int fd;
    uint64_t size;
    VEC(spooled) packets;
} spool;

/* These return 0 or an errno. spool_close is for a spool that was opened, used up or not. */
int spool_open(spool *s);
int spool_add(spool *s, uint64_t begin, const void *packet, size_t size);

/* Writes all packets by their begin times; those of equal times as they were added. */
int spool_write(spool *s, compressor *to);

void spool_close(spool *s);

#endif
