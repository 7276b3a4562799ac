/* sink.h: the file of a recording, inside a program that does not know about it. Owns the
 * descriptor, and guarantees that only whole packets are written, and never into a file of the
 * program's.
 * The program may close all descriptors and open its own data under our number. So each write first
 * checks that the descriptor is still our file, and reopens the file if not. A lock on the open
 * file (OFD) tells other processes that the file is being recorded. The kernel releases it when the
 * process ends, even if it is killed. After a write error, the file ends with its last whole
 * packet. */
#ifndef RECORD_SINK_H
#define RECORD_SINK_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/lock.h"

typedef struct sink {
    lock lock;    /* guards all fields below, and orders the writes */
    int fd;       /* -1: closed */
    int error;    /* errno of the write that failed; 0: none has */
    dev_t device; /* with `inode`: identity of our file */
    ino_t inode;
    bool regular;   /* otherwise a pipe or device: no lock, truncation or reopening */
    uint64_t size;  /* bytes written, whole packets only */
    uint64_t space; /* most bytes that the file may take on disk; 0: no limit. Set after opening.
                     * EDQUOT: it takes more, because nobody frees the parts already read */
    char path[PATH_MAX];
} sink;

/* Returns whether writing ended because the file has reached its space limit. */
static inline bool sink_outgrew(const sink *s) {
    return s->space && s->error == EDQUOT;
}

#define SINK_OUTGREW                                                                               \
    "the program records faster than segments are cut; use a lower rate or a larger maximum size"

/* Opens the file, empty. Returns 0 or an errno; EWOULDBLOCK: another process is recording to it. A
 * trace that `pid`, this process, has written there before is renamed (contract/trace_name.h);
 * EBUSY: one of its children has kept that trace open for long. With `by_process`, the name
 * contains the process id. Another process that records there then has the same id in another
 * namespace, and our file gets the name of an earlier trace. */
int sink_open(sink *s, const char *path, uint64_t pid, bool by_process);

/* Writes whole packets. Returns 0 or an errno; after the first error, always the same one. Any
 * thread may call; not a cancellation point; SIGXFSZ and SIGPIPE do not reach the program. */
int sink_write(sink *s, const void *packets, size_t size);

/* Writes `hole` zero bytes followed by the `size` bytes, `times` times, to a regular file that
 * nobody else is writing to yet. Returns 0 or an errno as above. */
int sink_write_spread(sink *s, const void *bytes, size_t size, size_t hole, size_t times);

/* Overwrites bytes of a regular file that were written before, also after a failure of sink_write.
 * Returns 0 or an errno as above; ESPIPE: not a regular file. */
int sink_amend(sink *s, uint64_t offset, const void *bytes, size_t size);

/* Tells other processes that the file is no longer being recorded. Async-signal-safe, takes no
 * lock. */
void sink_unlock(sink *s);

/* Closes the file for good: writes fail from now on. It stays open if a thread does not finish
 * writing. */
void sink_retire(sink *s);

/* Closes the descriptor if it is still ours; async-signal-safe, takes no lock. */
void sink_close(sink *s);

/* Closes the descriptor like sink_close, but leaves *s unchanged, because nobody uses the sink
 * again. */
void sink_drop(const sink *s);

#endif
