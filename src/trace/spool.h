/* spool.h: stores packets that are written to a file in another order than they are made.
 *
 * The packets are in an unnamed temporary file, so that a trace need not fit into memory; their
 * index is in memory. Single-threaded. */
#ifndef TRACE_SPOOL_H
#define TRACE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "trace/compressor.h"

typedef struct spooled {
    uint64_t begin; /* the packet's begin time */
    uint64_t offset;
    uint32_t size;
} spooled;

typedef struct spool {
    int fd;
    uint64_t size;
    VEC(spooled) packets;
} spool;

/* These return 0 or an errno. Each opened spool must be closed. */
int spool_open(spool *s);
int spool_add(spool *s, uint64_t begin, const void *packet, size_t size);

/* Writes all packets sorted by begin time. Packets with equal times keep their order. */
int spool_write(spool *s, compressor *to);

void spool_close(spool *s);

#endif
